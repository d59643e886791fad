"""Views as text in lines: what each block becomes, in the signs of a form such as Markdown."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol

from vr_kernel.views import blocks as b
from vr_kernel.views.links import Cell, Link, Quote
from vr_kernel.views.model import Compare, View
from vr_kernel.views.prose import Paragraph, paragraphs
from vr_kernel.views.speech import said_together
from vr_kernel.views.words import clock, link_words, said, shown_size

MARKS = {
    "": "",
    "verified": "The quote was found at this place.",
    "moved": "Moved to where the quote was found.",
    "not_found": "The quote was not found: take the place with care.",
    "unchecked": "Not checked: there was no text to look in.",
}
"""The result of the check of a quote, in words."""
SIGNS = {"": "", "verified": "✓", "moved": "✓", "not_found": "✗", "unchecked": "?"}
"""The result of the check of a quote, as a sign."""
NOTES = "Notes"
"""The heading of remarks for the reader."""


class Form(Protocol):
    """The signs of a form of text."""

    def plain(self, text: str) -> str:
        """Text on one line, in which no sign has a meaning."""

    def strong(self, text: str) -> str:
        """Text that stands out."""

    def link(self, words: str, address: str) -> str:
        """Words that lead to an address."""

    def heading(self, text: str, level: int) -> list[str]:
        """A heading; level 1 is the title."""

    def code(self, text: str, language: str) -> list[str]:
        """Text as it is."""

    def table(self, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
        """A table, with its head."""

    def paragraph(self, paragraph: Paragraph) -> list[str]:
        """A paragraph of prose."""


def write(view: View, form: Form, level: int = 1) -> str:
    """A whole view as text."""
    return "\n".join(_lines(view, form, level)).strip("\n") + "\n"


def quote_sign(quote: Quote) -> str:
    """The result of a quote's check as a sign; empty without one."""
    return SIGNS[quote.mark]


def quote_words(quote: Quote) -> str:
    """The result of a quote's check in words; empty without one."""
    return quote.note or MARKS[quote.mark]


def _lines(view: View, form: Form, level: int) -> Iterator[str]:
    yield from form.heading(view.title, level)
    if view.source:
        yield from ("", form.link(view.source, view.source))
    if view.about:
        yield from ("", " · ".join(form.plain(each) for each in view.about))
    for block in view.blocks:
        if isinstance(block, b.Media) and block.source == view.source and not block.title:
            continue  # it is named above, and text plays nothing
        body = list(_BODIES[type(block).__name__](block, form, level + 1))
        if body:
            head = form.heading(block.title, level + 1) if block.title else []
            yield from ("", *head, *([""] if head else []), *body)
    if view.notes:  # a heading, so that they are no part of a list before them
        yield from ("", *form.heading(NOTES, level + 1), "")
        yield from (f"- {form.plain(note)}" for note in view.notes)


def _facts(block: b.Facts, form: Form, _: int) -> Iterator[str]:
    for name, value in block.rows:
        if shown := _cell(value, form):
            yield f"- {form.plain(name)}: {shown}"


def _prose(block: b.Prose, form: Form, _: int) -> Iterator[str]:
    yield from prose_lines(block.text, form)
    if block.references:
        yield ""
    for number, quote in enumerate(block.references, 1):
        yield f"- [{number}] {_quoted(quote, form)}"


def prose_lines(text: str, form: Form) -> Iterator[str]:
    """The paragraphs of a text; items of a list stand without empty lines between them."""
    before = ""
    for each in paragraphs(text):
        if before and not (each.form == before and before in ("bullet", "number")):
            yield ""
        yield from form.paragraph(each)
        before = each.form


def _table(block: b.Table, form: Form, _: int) -> Iterator[str]:
    rows = [[_cell(cell, form) for cell in row] for row in block.rows]
    if rows:
        yield from form.table(block.columns, rows)
        yield from _rest(len(rows), block.total)


def _pictures(block: b.Pictures, form: Form, _: int) -> Iterator[str]:
    for each in block.items:
        place = _place(each.place, form)
        words = " ".join(filter(None, [place, form.plain(each.caption)]))
        if words or each.text:
            yield _item(words, *map(form.plain, each.text.split("\n")))


def _code(block: b.Code, form: Form, _: int) -> Iterator[str]:
    yield from form.code(block.text, block.language)


def _media(block: b.Media, form: Form, _: int) -> Iterator[str]:
    length = f" ({clock(block.duration)})" if block.duration else ""
    yield f"{form.link(block.source, block.source)}{length}"


def _moments(block: b.Moments, form: Form, _: int) -> Iterator[str]:
    for each in block.items:
        time = form.strong(form.link(clock(each.start), each.link))
        quote = _quoted(each.quote, form) if each.quote else ""
        yield _item(f"{time} {form.plain(each.text)}", quote)


def _transcript(block: b.Transcript, form: Form, _: int) -> Iterator[str]:
    for group in said_together(block.lines):
        first = group[0]
        who = f"{form.plain(first.speaker)}: " if first.speaker else ""
        text = form.plain(" ".join(line.text for line in group))
        yield f"- {form.link(clock(first.start), first.link)} {who}{text}"


def _pages(block: b.Pages, form: Form, level: int) -> Iterator[str]:
    for number, page in enumerate(block.items):
        head = form.heading(f"Page {page.number}", level + 1)
        yield from ("", *head, "") if number else (*head, "")
        yield from prose_lines(page.text, form)
        yield from [""] if page.marked else []
        yield from (f"- {form.strong(form.plain(each))}" for each in page.marked)


def _claims(block: b.Claims, form: Form, _: int) -> Iterator[str]:
    for claim in block.items:
        tier = f" ({form.plain(claim.tier)})" if claim.tier else ""
        against = [f"Against: {_quoted(each, form)}" for each in claim.against]
        yield _item(
            f"{form.strong(form.plain(claim.text))}{tier}",
            *(_quoted(each, form) for each in claim.quotes),
            *against,
        )


def _matrix(block: b.Matrix, form: Form, _: int) -> Iterator[str]:
    names = [link_words(source) for source in block.sources]
    pairs = zip(block.claims, block.cells, strict=False)
    rows = [[form.plain(claim), *map(form.plain, cells)] for claim, cells in pairs]
    yield from form.table(["Claim", *names], rows) if rows else ()


def _graph(block: b.Graph, form: Form, _: int) -> Iterator[str]:
    names = [node.name for node in block.nodes]
    for node in block.nodes:
        group = f" ({form.plain(node.group)})" if node.group else ""
        about = f": {form.plain(node.text)}" if node.text else ""
        quotes = (_quoted(each, form) for each in node.quotes)
        yield _item(f"{form.strong(form.plain(node.name))}{group}{about}", *quotes)
    for edge in block.edges:
        if max(edge.start, edge.end) < len(names) and min(edge.start, edge.end) >= 0:
            start, end = (form.plain(names[it]) for it in (edge.start, edge.end))
            label = f"{form.plain(edge.label.replace('_', ' '))} " if edge.label else ""
            yield _item(f"{start} → {label}{end}", *(_quoted(each, form) for each in edge.quotes))


def _steps(block: b.Steps, form: Form, _: int) -> Iterator[str]:
    for step in block.items:
        yield f"- {form.plain(step_words(step))}"


def step_words(step: b.Step) -> str:
    """A step of work in words: its name, state, progress and cost."""
    done = f"{said(step.done)} of {said(step.total)}" if step.total is not None else ""
    cost = "" if step.cost_usd is None else f"${step.cost_usd:.4f}"
    facts = ", ".join(filter(None, [step.state, done, cost]))
    return ": ".join(filter(None, [f"{step.name} ({facts})" if facts else step.name, step.text]))


def _records(block: b.Records, form: Form, _: int) -> Iterator[str]:
    for each in block.items:
        head = form.link(each.title, each.place.address)
        where = link_words(Link(start=each.place.start, end=each.place.end, page=each.place.page))
        facts = [where, *(said(fact) for fact in each.facts), each.id]
        told = " · ".join(form.plain(fact) for fact in facts if fact)
        yield _item(f"{form.strong(head)}{f' ({told})' if told else ''}", form.plain(each.text))
    yield from _rest(len(block.items), block.total)


def _compare(block: Compare, form: Form, level: int) -> Iterator[str]:
    for number, view in enumerate((block.left, block.right)):
        yield from ([""] if number else [])
        yield from _lines(view, form, level + 1)


def _action(block: b.Action, form: Form, _: int) -> Iterator[str]:
    given = json.dumps({**block.arguments}, ensure_ascii=False)
    yield f"{form.plain(block.tool)}: {form.plain(given)}"


def _file(block: b.File, form: Form, _: int) -> Iterator[str]:
    size = "" if block.size is None else shown_size(block.size)
    facts = ", ".join(filter(None, [block.mime, size]))
    yield f"{form.link(block.link, block.link)}{f' ({form.plain(facts)})' if facts else ''}"


def _cell(value: Cell, form: Form) -> str:
    return _place(value, form) if isinstance(value, Link) else form.plain(said(value))


def _place(place: Link, form: Form) -> str:
    words = link_words(place)
    return form.link(words, place.address) if words else ""


def _quoted(quote: Quote, form: Form) -> str:
    text = f"“{form.plain(quote.text)}”" if quote.text else ""
    told = " ".join(filter(None, [quote_sign(quote), form.plain(quote_words(quote))]))
    words = " ".join(filter(None, [text, _place(quote.place, form)]))
    return " · ".join(filter(None, [words, told]))


def _item(text: str, *below: str) -> str:
    return "\n".join([f"- {text}", *(f"  - {each}" for each in below if each)])


def _rest(shown: int, total: int) -> Iterable[str]:
    are = "is" if total - shown == 1 else "are"
    return ["", f"{total - shown:,} more {are} not shown here."] if total > shown else []


_BODIES: Mapping[str, Callable[[Any, Form, int], Iterable[str]]] = {
    "Facts": _facts,
    "Prose": _prose,
    "Table": _table,
    "Pictures": _pictures,
    "Code": _code,
    "Media": _media,
    "Moments": _moments,
    "Transcript": _transcript,
    "Pages": _pages,
    "Claims": _claims,
    "Matrix": _matrix,
    "Graph": _graph,
    "Steps": _steps,
    "Records": _records,
    "Compare": _compare,
    "Action": _action,
    "File": _file,
}
