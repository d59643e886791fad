"""A client over HTTP that reads a large answer slowly costs nobody else anything."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from paid_work import paid_zoo
from server_process import HttpServerProcess
from test_serve_floods import INITIALIZE
from test_serve_http import ACCEPT, LIST, OWNER
from vr_kernel.files import Artifacts

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not Path("/proc").is_dir(), reason="memory is read from /proc"),
]
SIZE = 20_000_000
PIECE = 4096
PIECES = 20
COPIES = 10
"""As bytes, as text, in its envelope, as JSON, and on its way; some twice while one is made."""


def memory_of(pid: int) -> int:
    """Resident bytes of a process."""
    pages = int(Path(f"/proc/{pid}/statm").read_text("ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


@pytest.fixture
def server(tmp_path: Path) -> Iterator[tuple[str, int, str]]:
    """The address of a server, its process, and the address of a large artifact."""
    environ = paid_zoo(tmp_path).environment(VR_HTTP_TOKENS=OWNER)
    folder = Path(environ["VR_STATE_DIR"]) / "artifacts"
    kept = Artifacts(folder).add(b"a line of text\n" * (SIZE // 15), "text/plain")
    with HttpServerProcess(environ, tmp_path) as server:
        yield server.url, server.process.pid, kept.uri


def ask(message: dict[str, object], url: str, session: str) -> bytes:
    """A request as it goes over the wire."""
    body = json.dumps(message).encode()
    lines = [
        "POST /mcp HTTP/1.1",
        f"Host: {urlsplit(url).netloc}",
        f"Accept: {ACCEPT['Accept']}",
        "Content-Type: application/json",
        f"Authorization: Bearer {OWNER}",
        f"Mcp-Session-Id: {session}",
        f"Content-Length: {len(body)}",
        "",
        "",
    ]
    return "\r\n".join(lines).encode() + body


def test_who_reads_slowly_holds_nobody_up(server: tuple[str, int, str]) -> None:
    import httpx2

    url, pid, uri = server
    read = {"jsonrpc": "2.0", "id": 77, "method": "resources/read", "params": {"uri": uri}}
    headers = {**ACCEPT, "Authorization": f"Bearer {OWNER}"}
    with httpx2.Client(headers=headers) as other:
        session = other.post(url, json=INITIALIZE).headers["mcp-session-id"]
        other.headers["mcp-session-id"] = session

        def answered() -> bool:
            return b"paid_once" in other.post(url, json=LIST, timeout=5).content

        assert answered()
        before = memory_of(pid)
        with socket.socket() as slow:
            slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, PIECE)
            slow.settimeout(30)
            slow.connect(("127.0.0.1", urlsplit(url).port))
            slow.sendall(ask(read, url, session))
            received = 0
            for _ in range(PIECES):
                received += len(slow.recv(PIECE))
                assert answered()
            assert received > PIECE, "the answer has not begun"
            assert received < SIZE / 10, "the other one was not answered meanwhile"
            print(f"{(memory_of(pid) - before) / SIZE:.1f} times the answer")  # noqa: T201
            assert memory_of(pid) - before < COPIES * SIZE
