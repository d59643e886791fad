"""Results of tools without a view of their own, shown by their output schema."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic import BaseModel

from vr_kernel.views.blocks import Block, Code, Prose
from vr_kernel.views.model import View
from vr_kernel.views.values import blocks_of, is_empty
from vr_kernel.views.words import titled

FOUND = "results"
"""The list of what was searched for."""
UNSAID = ("next_cursor",)
"""Fields that are for programs alone."""


def view_of_result(tool: str, printed: Sequence[str], result: BaseModel) -> View:
    """Show a result: what it prints first, then facts, texts and tables in the order of its fields.

    Fields that have their default say nothing new and are left out.

    Args:
        tool: its name, of which the title is made when the result has none.
        printed: the fields that people want to read, as `@tool` declares them.
        result: what the tool returned.
    """
    data = result.model_dump(mode="json")
    unusual = result.model_dump(exclude_defaults=True)
    told = {name: value for name, value in data.items() if name in unusual} or data
    title = next((str(told[it]) for it in ("title", "name") if isinstance(told.get(it), str)), "")
    document = data.get(printed[0]) if printed else None
    left = {k: v for k, v in told.items() if k not in (*UNSAID, *printed[:1])}
    if title:
        left.pop("title" if told.get("title") == title else "name")
    blocks = [*_document(document), *blocks_of(left), *_nothing(result, data)]
    return View(title or titled(tool), blocks)


def _document(text: object) -> Iterator[Block]:
    if isinstance(text, str) and text:
        yield Code(text)


def _nothing(result: BaseModel, data: Mapping[str, Any]) -> Iterator[Block]:
    """A line that says so, when the list that the tool returns is empty."""
    lists = {name: value for name, value in data.items() if isinstance(value, list)}
    fields = type(result).model_fields
    main = next((name for name in lists if name in fields and fields[name].is_required()), None)
    if main is not None and all(is_empty(value) for value in lists.values()):
        yield Prose("Nothing found." if main == FOUND else f"No {main.replace('_', ' ')}.")
