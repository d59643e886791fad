"""A web server of this machine that serves pages and documents as a test tells it to."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass(frozen=True)
class Answer:
    """One answer: its body, its type, its status, and where it leads."""

    body: bytes = b""
    mime: str = "text/html; charset=utf-8"
    status: int = 200
    location: str = ""


@dataclass
class WebPages:
    """Serves answers by their paths, and notes the requests."""

    answers: Mapping[str, Answer]
    asked: list[str] = field(default_factory=list)
    heads: list[Mapping[str, str]] = field(default_factory=list)
    port: int = 0

    def url(self, path: str) -> str:
        """The address of a path."""
        return f"http://localhost:{self.port}{path}"

    @property
    def settings(self) -> dict[str, object]:
        """The settings with which this server may be reached."""
        return {"kernel.http.allowed_hosts": [f"localhost:{self.port}"]}

    @contextmanager
    def serving(self) -> Iterator[WebPages]:
        """Serve, for the time of a `with`."""
        pages = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                pages.asked.append(self.path)
                pages.heads.append(dict(self.headers))
                answer = pages.answers.get(self.path, Answer(b"gone", status=404))
                self.send_response(answer.status)
                self.send_header("Content-Type", answer.mime)
                self.send_header("Content-Length", str(len(answer.body)))
                if answer.location:
                    self.send_header("Location", answer.location)
                self.end_headers()
                self.wfile.write(answer.body)

            def log_message(self, *_said: object) -> None:
                """Say nothing."""

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = server.server_port
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        try:
            yield self
        finally:
            server.shutdown()
            server.server_close()
            thread.join()
