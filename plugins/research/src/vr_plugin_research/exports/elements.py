"""Views as headings, paragraphs and tables: what documents for paper are made of."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from vr_kernel import visible_line
from vr_kernel.views import (
    Action,
    Block,
    Cell,
    Claims,
    Facts,
    File,
    Item,
    Link,
    Matrix,
    Paragraph,
    Prose,
    Quote,
    Records,
    Steps,
    Table,
    View,
    link_words,
    paragraphs,
    quote_sign,
    quote_words,
    said,
    step_words,
)

from vr_plugin_research.exports.addresses import web_address

Style = Literal["", "strong", "emphasis", "code", "soft"]
Kind = Literal[
    "title", "about", "heading", "text", "bullet", "claim", "quote", "below", "code", "table"
]
SIGNS = {"supports": "+", "contradicts": "−", "not found": "✗"}  # noqa: RUF001 - a minus sign
"""Cells of a matrix, which has no room for words on paper."""
LEGEND = "+ supports, − contradicts, ✗ not found, ? unchecked"  # noqa: RUF001 - a minus sign
NO_BREAK = "\u00a0"
MOST_COLUMNS = 16
"""Columns of a matrix for which paper has room."""
TOO_WIDE = "These are too many sources for a table on paper; the formats html and md have it."
NOTES = "Notes"


@dataclass(frozen=True, slots=True)
class Run:
    """Words of one style, which may lead to an address."""

    text: str
    style: Style = ""
    link: str = ""


Words = tuple[Run, ...]


@dataclass(frozen=True, slots=True)
class Element:
    """A part of a document.

    Attributes:
        kind: of the part.
        words: of all kinds but tables.
        level: of a heading from 1; of a bullet or a quote how deep it lies, from 0.
        rows: of a table, the first one its head.
    """

    kind: Kind
    words: Words = ()
    level: int = 0
    rows: tuple[tuple[Words, ...], ...] = ()


def elements_of(view: View) -> Iterator[Element]:
    """The parts of a whole view, its details among them, in their order."""
    yield Element("title", (Run(visible_line(view.title)),))
    if view.about:
        yield Element("about", (Run(" · ".join(map(visible_line, view.about)), "soft"),))
    for block in view.blocks:
        parts = list(_parts(block))
        if parts and block.title:
            yield Element("heading", (Run(visible_line(block.title)),), 1)
        yield from parts
    if view.notes:
        yield Element("heading", (Run(NOTES),), 1)
        yield from (Element("bullet", (Run(visible_line(note)),)) for note in view.notes)


def _parts(block: Block) -> Iterable[Element]:
    return _PARTS[type(block).__name__](block)


def _prose(block: Prose) -> Iterator[Element]:
    for each in paragraphs(block.text):
        yield _paragraph(each)


def _paragraph(paragraph: Paragraph) -> Element:
    if paragraph.form == "code":
        return Element("code", (Run(paragraph.text, "code"),))
    words = tuple(
        Run(span.text.replace("\n", " "), _style(span.style), web_address(span.link))
        for span in paragraph.spans
    )
    if paragraph.form == "heading":
        return Element("heading", words, 2)
    if paragraph.form in ("bullet", "number"):
        number = (Run(f"{paragraph.mark} "),) if paragraph.form == "number" else ()
        return Element("bullet", (*number, *words), paragraph.level)
    return Element("quote" if paragraph.form == "quote" else "text", words)


def _style(style: str) -> Style:
    known: Mapping[str, Style] = {"strong": "strong", "emphasis": "emphasis", "code": "code"}
    return known.get(style, "")


def _claims(block: Claims) -> Iterator[Element]:
    for claim in block.items:
        tier = Run("  " + visible_line(claim.tier).replace(" ", NO_BREAK), "soft")
        yield Element("claim", (Run(visible_line(claim.text), "strong"), tier))
        yield from (_quote(each) for each in claim.quotes)
        yield from (_quote(each, "Against: ") for each in claim.against)


def _quote(quote: Quote, before: str = "") -> Element:
    words = [Run(before, "strong")] if before else []
    if quote.text:
        words.append(Run(f"“{visible_line(quote.text)}” "))
    if place := link_words(quote.place):
        words.append(Run(place, "", web_address(quote.place.address)))
    stands = quote.mark == "verified" and not quote.note
    told = f"{quote_sign(quote)} {'' if stands else visible_line(quote_words(quote))}".strip()
    return Element("quote", (*words, *([Run(f" · {told}", "soft")] if told else [])))


def _facts(block: Facts) -> Iterator[Element]:
    for name, value in block.rows:
        yield Element("bullet", (Run(f"{visible_line(name)}: ", "strong"), *_cell(value)))


def _table(block: Table) -> Iterator[Element]:
    head = tuple((Run(visible_line(name), "strong"),) for name in block.columns)
    rows = (tuple(_cell(cell) for cell in row) for row in block.rows)
    yield Element("table", rows=(head, *rows))


def _matrix(block: Matrix) -> Iterator[Element]:
    if len(block.sources) > MOST_COLUMNS:
        yield Element("text", (Run(TOO_WIDE, "soft"),))
        return
    head = ((Run("Claim", "strong"),), *(_cell(source) for source in block.sources))
    rows = [
        ((Run(visible_line(claim)),), *((Run(_sign(cell)),) for cell in cells))
        for claim, cells in zip(block.claims, block.cells, strict=False)
    ]
    yield Element("text", (Run(LEGEND, "soft"),))
    yield Element("table", rows=(head, *rows))


def _sign(cell: str) -> str:
    told = [each.removesuffix(" (unchecked)") for each in cell.split(", ") if each]
    unchecked = " ?" if "(unchecked)" in cell else ""
    return " ".join(SIGNS.get(each, each) for each in told) + unchecked


def _steps(block: Steps) -> Iterator[Element]:
    yield from (Element("bullet", (Run(visible_line(step_words(it))),)) for it in block.items)


def _records(block: Records) -> Iterator[Element]:
    for item in block.items:
        yield Element("claim", (Run(*_titled(item)),))
        facts = " · ".join(visible_line(said(fact)) for fact in item.facts)
        below = [visible_line(item.text), facts]
        yield from (Element("below", (Run(each, "soft"),)) for each in below if each)


def _titled(item: Item) -> tuple[str, Style, str]:
    return visible_line(item.title), "strong", web_address(item.place.address)


def _file(block: File) -> Iterator[Element]:
    link = web_address(block.link)
    yield Element("text", (Run(link or "in the artifacts folder", "", link),))


def _nothing(block: Action) -> Iterator[Element]:
    """Nothing: a tool cannot be called from paper."""
    del block
    yield from ()


def _cell(value: Cell) -> Words:
    if isinstance(value, Link):
        words = link_words(value)
        return (Run(words, "", web_address(value.address)),) if words else ()
    words = visible_line(said(value))
    return (Run(words, "", web_address(words)),) if words else ()


_PARTS: Mapping[str, Callable[[Any], Iterable[Element]]] = {
    "Prose": _prose,
    "Claims": _claims,
    "Facts": _facts,
    "Table": _table,
    "Matrix": _matrix,
    "Steps": _steps,
    "Records": _records,
    "File": _file,
    "Action": _nothing,
}


def texts_of(elements: Sequence[Element]) -> Iterator[str]:
    """All texts of a document."""
    for element in elements:
        yield from (run.text for run in element.words)
        yield from (run.text for row in element.rows for cell in row for run in cell)
