"""Checks of what is shown: nothing runs, nothing is fetched, nothing steers."""

from __future__ import annotations

import json
import re
from functools import cache
from html.parser import HTMLParser
from urllib.parse import urlsplit

from markdown_it import MarkdownIt
from markdown_it.token import Token
from vr_kernel.views import View, ViewRenderer, as_data, as_markdown, as_text, from_data

STEERS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
LEADS = re.compile(r"https?://|file:///|#[\w-]+\Z")
SHOWN = re.compile(r"data:image/(?:png|jpeg);base64,|file:///|[\w.~%-]+\Z")
ADDRESSES = {"href": LEADS, "src": SHOWN}
INERT = (
    "class dir id rel hidden type placeholder autocomplete tabindex role alt lang scope value max"
    " controls preload target open loading"
)


class Skeleton(HTMLParser):
    """The elements of a page, their ids and the names of their attributes; checks each address."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = " ".join(sorted(name for name, _ in attrs))
        self.elements.append(f"{tag} {dict(attrs).get('id', '')} {names}")
        assert tag not in {"script", "style", "iframe", "object", "embed", "form", "base", "link"}
        for name, value in attrs:
            if name in ADDRESSES:
                assert ADDRESSES[name].match(value or ""), (tag, name, value)
            else:
                assert name in INERT.split() or name.startswith(("data-", "aria-")), (tag, name)

    def handle_endtag(self, tag: str) -> None:
        self.elements.append(f"/{tag}")

    def handle_comment(self, data: str) -> None:
        raise AssertionError(data)

    def handle_decl(self, decl: str) -> None:
        raise AssertionError(decl)

    def unknown_decl(self, data: str) -> None:
        raise AssertionError(data)

    def handle_pi(self, data: str) -> None:
        raise AssertionError(data)


@cache
def markdown() -> MarkdownIt:
    """A parser of CommonMark with tables, that follows every link it sees."""
    parser = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    parser.validateLink = lambda _url: True  # type: ignore[method-assign]  # to see them all
    return parser


def harmless_tokens(shown: str, text: str) -> list[Token]:
    """The tokens of Markdown, in which nothing is fetched and every link leads into the web."""
    found = markdown().parse(shown)
    for token in (inner for each in found for inner in (each, *(each.children or ()))):
        assert token.type not in ("image", "html_block", "html_inline"), (text, token)
        if token.type == "link_open":
            link = str(token.attrs["href"])
            assert urlsplit(link).scheme in ("http", "https", "file"), (text, link)
    return found


async def check_everywhere(view: View, renderer: ViewRenderer, what: str) -> None:
    """Check all forms of a view."""
    harmless_tokens(as_markdown(view), what)
    assert not STEERS.search(as_text(view)), what
    data = json.dumps(as_data(view), ensure_ascii=False, allow_nan=False)
    assert from_data(json.loads(data.encode())) == view, what
    Skeleton(await renderer.fragment(view))
