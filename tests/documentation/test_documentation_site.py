"""The documentation site: built without a warning, whole, and quiet towards the network."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
import vr_kernel
import vr_testing
import yaml
from installation import REPOSITORY

DOCS = REPOSITORY / "docs"
PAGES = {page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md")}
LOADING = {"script", "img", "iframe", "source", "video", "audio", "embed"}
STYLED_FROM_AWAY = re.compile(r"(?:url\(|@import\s)[\"' ]*(?:https?:)?//")
LISTED = re.compile(r"^- \[[^\]]+\]\(<?([^)>]+)>?\)(?:: (.+))?$", re.MULTILINE)
MARKUP = re.compile(r"```|~~~|<!--|--8<--|^:::|\]\(|^\|[-|]+\|$", re.MULTILINE)
BUILD_S = 60
"""Most seconds that `make docs` takes, its tools installed or not."""
UNREACHABLE = ("error sending request", "Could not connect", "dns error", "Failed to fetch")


class Settings(yaml.SafeLoader):
    """`mkdocs.yml`, with the default of what comes from the environment."""


Settings.add_constructor("!ENV", lambda loader, node: loader.construct_sequence(node)[-1])


@dataclass
class Built(HTMLParser):
    """Contents of a built page: anchors, links, and files that a browser loads with it."""

    anchors: set[str] = field(default_factory=set)
    links: list[str] = field(default_factory=list)
    loads: list[str] = field(default_factory=list)
    prose: list[str] = field(default_factory=list)
    depth: int = 0

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        self.depth += tag in {"pre", "code", "script", "style"}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        elif tag == "link" and given.get("rel") not in {"canonical", "prev", "next"}:
            self.loads.append(given["href"])
        elif tag in LOADING and "src" in given:
            self.loads.append(given["src"])

    def handle_endtag(self, tag: str) -> None:
        self.depth -= tag in {"pre", "code", "script", "style"}

    def handle_data(self, data: str) -> None:
        if not self.depth:
            self.prose.append(data)


@pytest.fixture(scope="module")
def settings() -> dict[str, Any]:
    return yaml.load((REPOSITORY / "mkdocs.yml").read_text("utf-8"), Settings)


def test_every_page_is_in_the_navigation_once(settings: dict[str, Any]) -> None:
    listed = list(leaves(settings["nav"]))
    assert sorted(listed) == sorted(PAGES)


def test_every_page_but_the_decisions_is_described_in_a_line(settings: dict[str, Any]) -> None:
    (plugin,) = (p["llmstxt"] for p in settings["plugins"] if "llmstxt" in p)
    entries = [entry for part in plugin["sections"].values() for entry in part]
    described = {page for entry in entries if isinstance(entry, dict) for page in entry}
    decisions = {page for page in PAGES if page.startswith("decisions/")}
    assert described == PAGES - decisions - {"index.md"}


@pytest.mark.slow
@pytest.mark.timeout(BUILD_S + 300)
def test_the_site_is_whole() -> None:
    site = build()
    pages = {path.relative_to(site).as_posix(): read(path) for path in site.rglob("*.html")}
    assert pages.keys() == {page.removesuffix(".md") + ".html" for page in PAGES} | {"404.html"}
    del pages["404.html"]  # its links are absolute, as it is served for any address
    check_links(pages, site)
    check_quiet(pages, site)
    check_words(pages)
    check_names(pages, vr_kernel, "reference/kernel.html")
    check_names(pages, vr_testing, "reference/testing.html")
    check_search(pages, site)
    check_llms(site)


def build() -> Path:
    """The site as `make docs` builds it, leaving the environment of the tests alone."""
    if os.name == "nt" or not shutil.which("make"):
        pytest.skip("needs make")
    started = time.monotonic()
    done = subprocess.run(
        ["make", "-o", "setup", "docs"],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        timeout=BUILD_S + 240,
        check=False,
    )
    told = done.stdout + done.stderr
    if done.returncode and any(words in told for words in UNREACHABLE):
        pytest.skip(f"the dependency group docs cannot be installed: {told.strip()[-300:]}")
    assert done.returncode == 0, told
    assert "No issues found" in told
    assert "warning" not in told.lower()
    assert time.monotonic() - started < BUILD_S
    return REPOSITORY / "site"


def read(path: Path) -> Built:
    """A built page."""
    page = Built()
    page.feed(path.read_text("utf-8"))
    return page


def check_links(pages: dict[str, Built], site: Path) -> None:
    """Every link ends at a page, at an anchor of it, or at a file."""
    links = [(name, link) for name, page in pages.items() for link in page.links]
    assert len(links) > len(pages)
    assert not [(name, link) for name, link in links if not leads(link, name, pages, site)]


def check_quiet(pages: dict[str, Built], site: Path) -> None:
    """A page loads nothing from the network."""
    assert not {load for page in pages.values() for load in page.loads if urlsplit(load).netloc}
    styles = [path.read_text("utf-8") for path in site.rglob("*.css")]
    assert styles
    assert not [text for text in styles if STYLED_FROM_AWAY.search(text)]


def check_words(pages: dict[str, Built]) -> None:
    """No markup is left in what a reader reads."""
    texts = {name: "".join(page.prose) for name, page in pages.items()}
    assert not [(n, match[0]) for n, text in texts.items() for match in MARKUP.finditer(text)]


def check_names(pages: dict[str, Built], module: Any, page: str) -> None:
    """Every public name of a module has its place."""
    wanted = {f"{module.__name__}.{name}" for name in module.__all__}
    assert not wanted - pages[page].anchors


def check_search(pages: dict[str, Built], site: Path) -> None:
    """Every page is found."""
    items = json.loads((site / "search.json").read_text("utf-8"))["items"]
    assert {urlsplit(item["location"]).path for item in items} >= pages.keys()


def check_llms(site: Path) -> None:
    """`llms.txt` has title, summary and a line for each page; the other file has all of them."""
    text = (site / "llms.txt").read_text("utf-8")
    title, summary, *_ = (line for line in text.splitlines() if line)
    assert (title, summary[:2]) == ("# video-research", "> ")
    assert all(dict(LISTED.findall(text.partition("## Optional")[0])).values())
    listed = dict(LISTED.findall(text))
    assert listed.keys() == PAGES - {"index.md"}
    whole = (site / "llms-full.txt").read_text("utf-8")
    for page in listed:
        lines = (site / page).read_text("utf-8").splitlines()
        assert next(line for line in lines if line.startswith("# ")) in whole, page


def leaves(nav: Any) -> Iterator[str]:
    """The pages of a navigation, from top to bottom."""
    if isinstance(nav, str):
        yield nav
    for part in nav.values() if isinstance(nav, dict) else nav if isinstance(nav, list) else ():
        yield from leaves(part)


def leads(link: str, name: str, built: dict[str, Built], site: Path) -> bool:
    """Check if a link of a page ends at a page, at an anchor of it, or at a file."""
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return True
    target = os.path.normpath(Path(name).parent / unquote(parts.path)) if parts.path else name
    if target not in built:
        return (site / target).is_file() or (site / target / "index.html").is_file()
    anchor = unquote(parts.fragment)
    return not anchor or anchor == "__top" or anchor in built[target].anchors
