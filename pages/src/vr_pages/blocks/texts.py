"""Facts, prose, tables and code."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from vr_kernel.views import (
    Code,
    Facts,
    Paragraph,
    Prose,
    Quote,
    Span,
    Table,
    paragraphs,
    shown_host,
)

from vr_pages.drawing import Drawing, rest
from vr_pages.markup import GAP, NOTHING, Html, Pattern, element, joined

_FACT = Pattern(element("div", element("dt", GAP), element("dd", GAP, dir="auto")))
_LISTS = {"bullet": "ul", "number": "ol"}
_STYLES = {"strong": "strong", "emphasis": "em", "code": "code"}


def facts(block: Facts, drawing: Drawing) -> Html:
    """Names with their values."""
    rows = [(name, drawing.cell(value)) for name, value in block.rows]
    shown = _FACT.rows(row for row in rows if row[1])
    return element("dl", shown) if shown else NOTHING


def prose(block: Prose, drawing: Drawing) -> Html:
    """Paragraphs, and the quotes to which their references lead."""
    name = f"r{next(drawing.numbers)}" if block.references else ""
    read = paragraphs(block.text)
    told = {drawing.title.casefold(), block.title.casefold()}
    if read and read[0].form == "heading" and read[0].text.casefold() in told:
        del read[0]  # the heading that stands above it
    shown = _paragraphs(read, drawing, name, len(block.references))
    if not block.references:
        return shown
    return joined(shown, _references(block.references, drawing, name))


def _paragraphs(read: Sequence[Paragraph], drawing: Drawing, name: str, most: int) -> Html:
    """Lists and paragraphs; references up to `most` lead to ids that begin with `name`."""
    parts: list[Html] = []
    for form, group in groupby(read, lambda each: each.form):
        written = [(each, _spans(each.spans, drawing, name, most)) for each in group]
        if tag := _LISTS.get(form):
            parts.append(_list(tag, written))
        else:
            parts += [_paragraph(each, inside, drawing) for each, inside in written]
    return joined(*parts)


def _paragraph(paragraph: Paragraph, inside: Html, drawing: Drawing) -> Html:
    if paragraph.form == "code":
        return element("pre", element("code", paragraph.text), tabindex="0")
    if paragraph.form == "quote":
        return element("blockquote", inside, dir="auto")
    if paragraph.form == "heading":
        return drawing.heading(inside)
    return element("p", inside, dir="auto")


def _list(tag: str, items: Sequence[tuple[Paragraph, Html]]) -> Html:
    """Items of a list; those that lie deeper stand in, and those with numbers keep theirs."""
    shown = [
        element("li", inside, dir="auto", class_=_depth(item.level), value=_number(item))
        for item, inside in items
    ]
    return element(tag, *shown)


def _depth(level: int) -> str:
    return f"deep{min(level, 3)}" if level else ""


def _number(item: Paragraph) -> str:
    return item.mark.rstrip(".)") if item.form == "number" else ""


def _spans(spans: Sequence[Span], drawing: Drawing, name: str, most: int) -> Html:
    return joined(*(_span(span, drawing, name, most) for span in spans))


def _span(span: Span, drawing: Drawing, name: str, most: int) -> str:
    if span.style == "link":
        bare = span.text == span.link
        return drawing.link(shown_host(span.link) if bare else span.text, span.link)
    if span.style == "reference" and 1 <= span.number <= most:
        to = f"#{name}-{span.number}"
        return element("a", span.text, href=to, target="_self", class_="reference")
    tag = _STYLES.get(span.style)
    return element(tag, span.text) if tag else span.text


def _references(quotes: Sequence[Quote], drawing: Drawing, name: str) -> Html:
    items = (
        element("li", drawing.quote(quote), id=f"{name}-{number}")
        for number, quote in enumerate(quotes, 1)
    )
    return element("ol", *items, class_="references")


def table(block: Table, drawing: Drawing) -> Html:
    """Rows below their columns; what is too wide scrolls by itself."""
    if not block.rows:
        return NOTHING
    wide = max(len(block.columns), *map(len, block.rows))
    numeric = [_is_numeric(block.rows, column) for column in range(wide)]
    names = [*block.columns, *[""] * (wide - len(block.columns))]
    kinds = ["n" if each else "" for each in numeric]
    head = [
        element("th", name, scope="col", class_=kind)
        for name, kind in zip(names, kinds, strict=True)
    ]
    cells = [element("td", GAP, class_=kind, dir="" if kind else "auto") for kind in kinds]
    rows = Pattern(element("tr", *cells)).rows(_cells(block, drawing, wide))
    shown = element("table", element("thead", element("tr", *head)), element("tbody", rows))
    label = block.title or "Table"
    scrolled = element("div", shown, class_="wide", tabindex="0", role="region", aria_label=label)
    return joined(scrolled, rest(len(block.rows), block.total))


def _cells(block: Table, drawing: Drawing, wide: int) -> Iterator[Sequence[str]]:
    for row in block.rows:
        yield [*map(drawing.cell, row), *[""] * (wide - len(row))]


def _is_numeric(rows: Sequence[Sequence[object]], column: int) -> bool:
    values = [row[column] for row in rows if len(row) > column and row[column] is not None]
    return bool(values) and all(type(value) in (int, float) for value in values)


def code(block: Code, drawing: Drawing) -> Html:
    """Text as it is."""
    del drawing
    if not block.text:
        return NOTHING
    language = f"language-{block.language}" if block.language else ""
    return element("pre", element("code", block.text, class_=language), tabindex="0")
