"""Records that were found, steps of work, files, and what to do next."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from vr_kernel.views import (
    Action,
    File,
    Item,
    Link,
    Records,
    Step,
    Steps,
    link_words,
    said,
    shown_host,
    shown_size,
    titled,
)

from vr_pages.drawing import Drawing, apart, rest
from vr_pages.markup import NOTHING, Html, element, joined

_DONE = frozenset({"done", "completed", "succeeded", "finished", "ok"})
_BAD = frozenset({"failed", "error", "cancelled", "canceled"})


def records(block: Records, drawing: Drawing) -> Html:
    """Things that were found, with counts of their properties."""
    items = [_item(each, drawing) for each in block.items]
    found = element("ol", *items, class_="records") if items else NOTHING
    return joined(_facets(block.facets or {}), found, rest(len(block.items), block.total))


def _facets(facets: Mapping[str, Sequence[tuple[str, int]]]) -> Html:
    rows = [
        element("div", element("dt", titled(name)), element("dd", *_counts(counts)))
        for name, counts in facets.items()
        if counts
    ]
    return element("dl", *rows, class_="facets") if rows else NOTHING


def _counts(counts: Sequence[tuple[str, int]]) -> Iterator[Html]:
    for value, count in counts:
        yield element("span", value, " ", element("small", f"{count:,}"), class_="chip")


def _item(item: Item, drawing: Drawing) -> Html:
    where = link_words(Link(start=item.place.start, end=item.place.end, page=item.place.page))
    there = drawing.place(replace(item.place, label=""), host=False)
    facts = [there if where else NOTHING, *map(drawing.cell, item.facts)]
    told = [element("span", fact) for fact in facts if fact]
    if item.id:
        told.append(element("code", item.id, class_="id"))
    return element(
        "li",
        element("p", drawing.link(item.title, item.place.address), class_="label", dir="auto"),
        element("p", item.text, dir="auto") if item.text else NOTHING,
        element("p", *apart(told), class_="told") if told else NOTHING,
    )


def steps(block: Steps, drawing: Drawing) -> Html:
    """Steps of work with their states, how far they are, and their cost."""
    del drawing
    items = [_step(each) for each in block.items]
    return element("ol", *items, class_="steps") if items else NOTHING


def _step(step: Step) -> Html:
    state = step.state.casefold()
    kind = "done" if state in _DONE else "bad" if state in _BAD else "open"
    sign = {"done": "✓", "bad": "✗"}.get(kind, "○")
    cost = "" if step.cost_usd is None else f"${step.cost_usd:.4f}"
    facts = " · ".join(filter(None, [step.state, _progress(step), cost]))
    told = element(
        "div",
        element("b", step.name, dir="auto"),
        element("span", f" {facts}", class_="told") if facts else NOTHING,
        _bar(step),
        element("p", step.text, dir="auto") if step.text else NOTHING,
    )
    return element("li", element("i", sign, aria_hidden="true"), told, class_=kind)


def _progress(step: Step) -> str:
    return f"{said(step.done or 0)} of {said(step.total)}" if step.total else ""


def _bar(step: Step) -> Html:
    if not step.total:
        return NOTHING
    label = f"{step.name}: {_progress(step)}"
    return element("progress", value=str(step.done or 0), max=str(step.total), aria_label=label)


def action(block: Action, drawing: Drawing) -> Html:
    """The command line that does it."""
    del drawing
    command = element("code", command_line(block.tool, block.arguments))
    return element("pre", command, class_="command")


def command_line(tool: str, arguments: Mapping[str, Any]) -> str:
    """A call of a tool as a command."""
    words = tool.partition("_")
    parts = ["vr", words[0], words[2].replace("_", "-")]
    for name, value in arguments.items():
        flag = f"--{name.replace('_', '-')}"
        parts += _flagged(flag, value)
    return " ".join(shlex.quote(part) for part in parts if part)


def _flagged(flag: str, value: Any) -> list[str]:
    if value is None:
        return []
    if isinstance(value, bool):
        return [flag if value else flag.replace("--", "--no-", 1)]
    if isinstance(value, tuple | list):
        return [part for each in value for part in _flagged(flag, each)]
    return [flag, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)]


def file(block: File, drawing: Drawing) -> Html:
    """A file that was made, with its type and size."""
    address = drawing.file(block.link) or block.link
    size = "" if block.size is None else shown_size(block.size)
    facts = ", ".join(filter(None, [block.mime, size]))
    told = element("span", facts, class_="told") if facts else NOTHING
    return element("p", drawing.link(shown_host(address), address), " ", told)
