"""A service of papers on this machine that answers as Semantic Scholar does."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import unquote, urlsplit

PAPER = "/graph/v1/paper"


def paper(number: int, title: str, **more: Any) -> dict[str, Any]:
    """A paper as the service describes it."""
    found = f"{number:040x}"
    return {
        "paperId": found,
        "url": f"https://www.semanticscholar.org/paper/{found}",
        "title": title,
        "abstract": "",
        "venue": "",
        "year": 2020,
        "citationCount": 0,
        "openAccessPdf": None,
        "authors": [],
        "externalIds": {},
        "publicationDate": None,
        **more,
    }


@contextmanager
def papers_at(pages: Mapping[str, Any]) -> Iterator[str]:
    """The address of a service with these answers, by their path behind `PAPER`."""

    class Answers(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path = unquote(urlsplit(self.path).path).removeprefix(PAPER)
            body = json.dumps(pages.get(path, {"error": "Paper not found"})).encode()
            self.send_response(200 if path in pages else 404)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args: object) -> None:
            """Keep quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
