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
        chunked: whether it says no size; an answer that breaks off then lacks its end alone.
        shift: by how many bytes it sends another part than the one that is asked for.
        gate: closed, it keeps every answer back; `begun` tells that one was asked for.
    """

    content: bytes
    cuts: list[int] = field(default_factory=list)
    ranges: bool = True
    stamps: list[str] = field(default_factory=lambda: ['"a"'])
    size: int | None = None
    mime: str = "video/mp4"
    chunked: bool = False
    shift: int = 0
    gate: threading.Event = field(default_factory=threading.Event)
    begun: threading.Event = field(default_factory=threading.Event)
    asked: list[str] = field(default_factory=list)
    port: int = 0

    def url(self, name: str = "talk.mkv") -> str:
        """The address of the video under a name."""
        return f"http://localhost:{self.port}/{name}"

    @property
    def allowed(self) -> dict[str, str]:
        """Return the settings with which this server may be reached."""
        return {"VR_KERNEL__HTTP__ALLOWED_HOSTS": f"localhost:{self.port}"}

    @contextmanager
    def serving(self) -> Iterator[WebVideos]:
        """Serve, for the time of a `with`."""
        self.gate.set()
        server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.port = server.server_port
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        try:
            yield self
        finally:
            self.gate.set()
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
                videos.begun.set()
                videos.gate.wait(20)
                first = int(wanted.removeprefix("bytes=").rstrip("-") or 0) if wanted else 0
                self._send(first if videos.ranges else 0)
                self.close_connection = True

            def _send(self, first: int) -> None:
                whole = len(videos.content)
                if first and first >= whole:
                    self.send_error(416)
                    return
                self._head(first, whole)
                cut = bool(videos.cuts)
                most = videos.cuts.pop(0) if cut else whole
                content = videos.content[first : first + most]
                if videos.chunked:
                    content = b"%x\r\n%b\r\n" % (len(content), content)
                    content += b"" if cut else b"0\r\n\r\n"
                self.wfile.write(content)

            def _head(self, first: int, whole: int) -> None:
                stated = videos.size if videos.size is not None else whole
                self.send_response(206 if first else 200)
                self.send_header("Content-Type", videos.mime)
                if videos.chunked:
                    self.send_header("Transfer-Encoding", "chunked")
                else:
                    self.send_header("Content-Length", str(stated - first))
                stamp = videos.stamps.pop(0) if len(videos.stamps) > 1 else videos.stamps[0]
                self.send_header("ETag", stamp)
                if first:
                    sent = first + videos.shift
                    self.send_header("Content-Range", f"bytes {sent}-{whole - 1}/{whole}")
                self.end_headers()

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002
                """Log nothing."""

        return Handler
