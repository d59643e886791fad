"""The text of a page as Markdown, by a plain walk through its elements."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

HEADINGS = {f"h{level}": level for level in range(1, 7)}
BLOCKS = frozenset({
    "p", "div", "section", "article", "main", "td", "th", "li", "dt", "dd", "blockquote",
    "figcaption", "address", "summary", "caption", "label", "legend", "option", "button",
})  # fmt: skip
"""Elements whose own words stand by themselves."""
LEFT_OUT = [
    "script", "style", "noscript", "template", "svg", "math", "iframe", "object", "nav", "head",
    "form select",
]  # fmt: skip
TITLE_CHARS = 300


@dataclass(frozen=True, slots=True)
class PageText:
    """The text of a page.

    Attributes:
        title: as the page names itself.
        text: in Markdown: headings, paragraphs, items of lists, rows of tables, code.
        headings: how many there are.
        scripts: how many scripts it has.
        asks_password: True when it has a field for a password.
    """

    title: str
    text: str
    headings: int
    scripts: int
    asks_password: bool


def read_page(markup: str) -> PageText:
    """Read the text of a page."""
    from selectolax.lexbor import LexborHTMLParser

    page = LexborHTMLParser(markup)
    title = _title(page)
    scripts = len(page.css("script"))
    password = page.css_first("input[type=password]") is not None
    for node in page.css(", ".join(LEFT_OUT)):
        node.decompose()
    lines = list(_lines(page))
    headings = sum(line.startswith("#") for line in lines)
    return PageText(title, "\n\n".join(lines), headings, scripts, password)


def _title(page: Any) -> str:
    named = page.css_first("meta[property='og:title']")
    told = (named.attributes.get("content") or "") if named is not None else ""
    for each in ("title", "h1"):
        node = page.css_first(each)
        if not told and node is not None:
            told = node.text(deep=True, separator=" ")
    return " ".join(told.split())[:TITLE_CHARS]


def _lines(page: Any) -> Iterator[str]:
    """The blocks of a page, in order."""
    root = page.body if page.body is not None else page.root
    if root is None:
        return
    buffer: list[str] = []
    for node in root.traverse(include_text=True):
        tag = node.tag
        if tag == "-text":
            if not _is_within(node, ("pre", "tr", *HEADINGS)):
                buffer.append(node.text_content or "")
            continue
        if tag in HEADINGS or tag in ("pre", "tr", "br", "hr") or tag in BLOCKS:
            yield from _paragraph(buffer)
            buffer = ["- "] if tag == "li" else []
        if tag in HEADINGS:
            words = " ".join(node.text(deep=True, separator=" ").split())
            yield from [f"{'#' * HEADINGS[tag]} {words}"] if words else []
        elif tag == "pre":
            yield f"```\n{node.text(deep=True).strip(chr(10))}\n```"
        elif tag == "tr":
            yield from _row(node)
    yield from _paragraph(buffer)


def _paragraph(buffer: list[str]) -> Iterator[str]:
    words = " ".join("".join(buffer).split())
    if words.strip("- "):
        yield words.lstrip("#")


def _row(node: Any) -> Iterator[str]:
    cells = [
        " ".join(cell.text(deep=True, separator=" ").split()).replace("|", "\\|")
        for cell in node.iter()
        if cell.tag in ("td", "th")
    ]
    if any(cells):
        yield f"| {' | '.join(cells)} |"


def _is_within(node: Any, tags: tuple[str, ...]) -> bool:
    """True for a text whose words are told by an element around it."""
    parent, steps = node.parent, 0
    while parent is not None and steps < 12:  # noqa: PLR2004 - deeper ones are told twice at worst
        if parent.tag in tags:
            return True
        parent, steps = parent.parent, steps + 1
    return False
