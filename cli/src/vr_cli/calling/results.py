"""Results of tools as documents, for a pipe or a file."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import BaseModel
from vr_kernel import Tool, View
from vr_kernel.files import URI_PREFIX
from vr_kernel.running import Outcome
from vr_kernel.views import MORE, Code, Prose, Views

FOUND = "results"
"""The list of what was searched for."""
NEXT = "next_cursor"
"""Where the next page begins, which is of no use beside the whole."""


def stands_alone(tool: Tool, result: BaseModel, views: Views, *, read: bool) -> bool:
    """Check for a document that stands alone on stdout, as programs read it.

    At a terminal the view of a plugin takes its place, unless it is read as it is.
    """
    if sys.stdout.isatty() and views.has("tool", tool.name):
        return read
    return bool(tool.printed and getattr(result, tool.printed[0]))


def is_read(tool: Tool, result: BaseModel, view: View) -> bool:
    """Check for a document that its own view begins with, as it is."""
    text = getattr(result, tool.printed[0]) if tool.printed else ""
    first = view.blocks[0] if view.blocks else None
    return bool(text) and isinstance(first, Prose | Code) and first.text == text


def whole_of(result: BaseModel, printed: Sequence[str], artifacts: Path) -> BaseModel:
    """The result with the whole of its document in place of a part."""
    whole = without_cursor(result, printed, artifacts)
    return whole.model_copy(update={printed[0]: document_of(result, printed, artifacts)})


def limited(outcome: Outcome, limit: object) -> Outcome:
    """The outcome with at most `limit` results in all.

    A remark says that there are more, which a higher limit shows; the cursor is left out, as it
    would skip what was cut off.
    """
    found = outcome.data.get(FOUND)
    if not isinstance(limit, int) or not isinstance(found, list) or len(found) <= limit:
        return outcome
    cut = {FOUND: found[:limit], **({NEXT: None} if NEXT in outcome.data else {})}
    assert outcome.result is not None
    kept = {FOUND: getattr(outcome.result, FOUND)[:limit]}
    result = outcome.result.model_copy(update={**cut, **kept})
    notes, data = (*outcome.notes, MORE), {**outcome.data, **cut}
    return replace(outcome, result=result, data=data, notes=notes)


def _file(value: Any, artifacts: Path) -> Path | None:
    """The file of an artifact's address, when it is one and is still there."""
    if not isinstance(value, str) or not value.startswith(URI_PREFIX):
        return None
    file = artifacts / Path(value).name
    return file if file.is_file() else None


def told_in_view(view: View, notes: Sequence[str]) -> View:
    """The view with the remark that there are more, if the notes have it."""
    told = [MORE] if MORE in notes and MORE not in view.notes else []
    return replace(view, notes=[*view.notes, *told]) if told else view


def without_cursor(result: BaseModel, printed: Sequence[str], artifacts: Path) -> BaseModel:
    """The result without the beginning of its next page, where its document is the whole."""
    whole = NEXT in type(result).model_fields and _files(result, printed, artifacts)
    return result.model_copy(update={NEXT: None}) if whole else result


def remark_on(result: BaseModel) -> Sequence[str]:
    """A remark that the document of a result goes on, for one that no view describes."""
    more = getattr(result, NEXT, None)
    return [f"This is a part; cursor {more} goes on."] if more else []


def document_of(result: BaseModel, printed: Sequence[str], artifacts: Path) -> str:
    """The document of a result: where its whole text is a file, what that holds."""
    text = str(getattr(result, printed[0])) if printed else ""
    for file in _files(result, printed, artifacts):
        text = file.read_text("utf-8", errors="replace")
    return text


def _files(result: BaseModel, printed: Sequence[str], artifacts: Path) -> list[Path]:
    named = (getattr(result, name) for name in printed[1:])
    return [file for each in named if (file := _file(each, artifacts))]
