"""Places of documents in views: links with pages, quotes with the result of their check."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from vr_kernel.views import Block, Cell, Claim, Claims, Facts, Link, Quote, Table, shown_host

from vr_plugin_content.results.analysis import KeyPoint
from vr_plugin_content.results.document import OutlineItem
from vr_plugin_content.sources.source import PASTED, is_address

KINDS = {
    "application/pdf": "PDF",
    "text/html": "page of the web",
    "text/markdown": "Markdown",
    "text/csv": "table",
    "text/plain": "text",
    "inode/directory": "folder",
    "application/epub+zip": "e-book",
    "application/x-ipynb+json": "notebook",
    "message/rfc822": "e-mail",
    "application/mbox": "mailbox",
}
"""Media types in words; others are said by their last part."""
INDENT = "\u2003"


def name_of(source: str) -> str:
    """Return the name of a source: its file, its host, or that it is a text."""
    if source == PASTED:
        return "Text"
    return shown_host(source) if is_address(source) else Path(source).name


def kind_words(mime: str) -> str:
    """Return a media type in words."""
    if mime in KINDS:
        return KINDS[mime]
    if mime.startswith("image/"):
        return "picture"
    last = mime.rpartition("/")[2].rpartition(".")[2]
    return last.removeprefix("x-").replace("-", " ") if last else ""


def points(title: str, items: Sequence[KeyPoint], *, detail: bool = False) -> list[Block]:
    """Key points with their quotes, places and marks; nothing without them."""
    claims = [Claim(point.text, quotes=_quotes(point)) for point in items]
    return [Claims(claims, title=title, detail=detail)] if claims else []


def _quotes(point: KeyPoint) -> list[Quote]:
    place = Link(point.link, point.place)
    if not (point.quote or point.place):
        return []
    note = f"The model said {point.original_place}." if point.original_place else ""
    mark = point.status if point.quote else ""
    return [Quote(point.quote, place, mark, note)]


def outline(items: Sequence[OutlineItem], link: str = "", *, detail: bool = True) -> list[Block]:
    """The headings of a document with their places; nothing without them."""
    rows: list[list[Cell]] = []
    for item in items:
        address = f"{link}#page={item.page}" if link and item.page else link
        words = f"p. {item.page}" if item.page else item.place
        indent = INDENT * (item.level - 1)
        rows.append([f"{indent}{item.title}", Link(address, words)])
    return [Table(["Heading", "Place"], rows, title="Outline", detail=detail)] if rows else []


def facts(rows: Sequence[tuple[str, Cell]], title: str = "") -> list[Block]:
    """Names with their values; those without a value are left out."""
    told = [(name, value) for name, value in rows if value not in (None, "")]
    return [Facts(told, title=title)] if told else []


def counted(count: int, noun: str) -> str:
    """A number of things in words."""
    return f"{count:,} {noun}{'s' * (count != 1)}"


def address_of(source: str) -> str:
    """Return what opens a source; empty for a text."""
    if source == PASTED or is_address(source):
        return "" if source == PASTED else source
    path = Path(source)
    return path.as_uri() if path.is_absolute() else ""
