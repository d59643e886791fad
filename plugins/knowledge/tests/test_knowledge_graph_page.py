"""The page of a graph in a real browser: from the disk, without network, whatever it holds."""

from __future__ import annotations

import html
import re
import shutil
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from graph_samples import network_of
from vr_kernel import visible
from vr_plugin_knowledge.graph.identity import identify
from vr_plugin_knowledge.graph.page import as_page
from vr_plugin_knowledge.graph.traversal import rank, traverse

HOSTILE = [
    "<script>document.title='owned'</script>",
    "</script><script>document.title='owned'</script>",
    '"><img src="http://elsewhere.invalid/x.png" onerror="document.title=1">',
    "{{data}} ${document.title=1} `\u2028",
    "\x1b[31mred\x1b]0;owned\x07\x9b1m\u202e\U000e0041",
]
LINK = "https://example.org/watch?v=v1&t=12s"
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "google-chrome", "chrome"))), None)
in_a_browser = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed")


def page(title: str = "Knowledge graph") -> str:
    concepts: list[dict[str, Any]] = [
        {
            "concept_name": name,
            "description": f"About {name}",
            "sources": ["Notes/one", "Notes/two"],
            "quotes": [f"as {name} says", "a wrong way"],
            "links": [LINK, "javascript:document.title='owned'"],
        }
        for name in [*HOSTILE, "Fox", "Vole"]
    ]
    edges = [("Fox", "enables", "Vole"), *((name, "related_to", "Fox") for name in HOSTILE)]
    region = rank(traverse(network_of(edges, concepts), {identify("Fox"): 1.0}, depth=2))
    return as_page(region, title)


def test_texts_stand_in_the_page_as_data_only() -> None:
    text = page(HOSTILE[1])
    assert text == visible(text)
    assert '"red"' in text
    assert text.count("<script") == text.count("</script>") == 2
    assert "<img" not in text
    assert "default-src &#x27;none&#x27;" in text
    assert re.search(r"""(src|href)=["']?https?:""", text) is None


def test_the_same_graph_is_the_same_page() -> None:
    assert page() == page()


@pytest.mark.slow
@in_a_browser
def test_it_opens_from_the_disk_and_asks_nothing_of_the_network(tmp_path: Path) -> None:
    with counting_proxy() as (port, requests):
        shown = browse(tmp_path, page(), port, "--dump-dom", fragment="fox")
        assert requests == []
        browse(tmp_path, '<img src="http://elsewhere.invalid/x.png">', port, "--dump-dom")
        assert requests == ["http://elsewhere.invalid/x.png"]
    assert "<title>Knowledge graph</title>" in shown
    side = html.unescape(shown.partition("<aside")[2].partition("</aside>")[0])
    assert "<h2>Fox</h2>" in side
    assert "as Fox says" in side
    assert f'href="{LINK}"' in side
    assert "enables" in side
    assert 'href="javascript' not in side
    assert "7 concepts, 6 relationships" in shown


@pytest.mark.slow
@in_a_browser
def test_it_draws_something(tmp_path: Path) -> None:
    with counting_proxy() as (port, _):
        blank, drawn = tmp_path / "blank.png", tmp_path / "drawn.png"
        browse(tmp_path, "<p>", port, f"--screenshot={blank}")
        browse(tmp_path, page(), port, f"--screenshot={drawn}")
    assert drawn.read_bytes().startswith(b"\x89PNG")
    assert drawn.stat().st_size > 3 * blank.stat().st_size


def browse(folder: Path, text: str, port: int, task: str, fragment: str = "") -> str:
    """A page on the disk as a browser shows it, with every request sent to a proxy."""
    file = folder / "page.html"
    file.write_text(text, "utf-8")
    assert CHROMIUM
    command = [
        CHROMIUM, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-sync",
        "--disable-background-networking", "--disable-component-update", "--no-first-run",
        "--disable-default-apps", "--disable-extensions", f"--user-data-dir={folder / 'profile'}",
        f"--proxy-server=http://127.0.0.1:{port}", "--proxy-bypass-list=<-loopback>",
        "--window-size=1400,900", "--virtual-time-budget=3000", task, f"{file.as_uri()}#{fragment}",
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, timeout=90, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


@contextmanager
def counting_proxy() -> Iterator[tuple[int, list[str]]]:
    """A proxy that answers nothing, and the addresses that it was asked for."""
    asked: list[str] = []

    class Proxy(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            # A browser's own chatter is none of the page's.
            if not re.search(r"(google|gstatic|googleapis)\.com", self.path):
                asked.append(self.path)
            self.send_error(404)

        do_CONNECT = do_POST = do_HEAD = do_GET  # noqa: N815 - names of the library

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Proxy) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield server.server_address[1], asked
        finally:
            server.shutdown()
            thread.join()
