"""A web server of this machine that serves one video, and breaks off, changes or lies when told."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class WebVideos:
    """Serves `content` at every path.

    Args:
        cuts: after how many bytes each of the first answers breaks off.
        ranges: whether it can go on in the middle.
        stamps: the ETag of each answer in turn, the last one for the rest.
        size: what it says that the file has, when it is not the truth.
        mime: the type it names.
    """

    content: bytes
    cuts: list[int] = field(default_factory=list)
    ranges: bool = True
    stamps: list[str] = field(default_factory=lambda: ['"a"'])
    size: int | None = None
    mime: str = "video/mp4"
    asked: list[str] = field(default_factory=list)
    port: int = 0

    def url(self, name: str = "talk.mkv") -> str:
        """The address of the video under a name."""
        return f"http://localhost:{self.port}/{name}"

    @property
    def allowed(self) -> dict[str, str]:
        """What a user sets so that this server may be reached."""
        return {"VR_KERNEL__HTTP__ALLOWED_HOSTS": f"localhost:{self.port}"}

    @contextmanager
    def serving(self) -> Iterator[WebVideos]:
        """Serve, for the time of a `with`."""
        server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.port = server.server_port
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield self
        finally:
            server.shutdown()
            server.server_close()
            thread.join()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        videos = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                wanted = self.headers.get("Range", "")
                videos.asked.append(wanted)
                first = int(wanted.removeprefix("bytes=").rstrip("-") or 0) if wanted else 0
                first = first if videos.ranges else 0
                whole = len(videos.content)
                stated = videos.size if videos.size is not None else whole
                self.send_response(206 if first else 200)
                self.send_header("Content-Type", videos.mime)
                self.send_header("Content-Length", str(stated - first))
                stamp = videos.stamps.pop(0) if len(videos.stamps) > 1 else videos.stamps[0]
                self.send_header("ETag", stamp)
                if first:
                    self.send_header("Content-Range", f"bytes {first}-{whole - 1}/{whole}")
                self.end_headers()
                most = videos.cuts.pop(0) if videos.cuts else whole
                self.wfile.write(videos.content[first : first + most])
                self.close_connection = True

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002
                """Be quiet."""

        return Handler
