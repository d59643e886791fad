"""Prints results of tools as text, for a terminal or a file."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
from pydantic import BaseModel
from vr_kernel import Tool, visible
from vr_kernel.files import URI_PREFIX
from vr_kernel.running import Outcome
from vr_kernel.views import Views

from vr_cli.output import lines_of

FOUND = "results"
"""The list of what was searched for."""
NEXT = "next_cursor"
"""Where the next page begins, which is of no use beside the whole."""


def print_document(result: BaseModel, printed: Sequence[str], artifacts: Path) -> None:
    """Print the document of a result on stdout, and what else is to say of it on stderr.

    Args:
        result: of the tool.
        printed: the fields that are shown alone, as `@tool` declares them.
        artifacts: the folder of artifacts.
    """
    data = result.model_dump(mode="json")
    unusual = result.model_dump(exclude_defaults=True)
    told = {name: value for name, value in data.items() if name in unusual} or data
    _print_document(document_of(result, printed, artifacts))
    hidden = {*printed, NEXT} if _files(result, printed, artifacts) else set(printed)
    told = {name: value for name, value in told.items() if name not in hidden}
    click.echo("\n".join(lines_of(with_files(told, artifacts))), err=True)


def is_document(tool: Tool, result: BaseModel, views: Views) -> bool:
    """Check for a document that stands alone on stdout, as programs read it.

    At a terminal the view of a plugin takes its place.
    """
    if not tool.printed or not getattr(result, tool.printed[0]):
        return False
    return not (sys.stdout.isatty() and views.has("tool", tool.name))


def limited(outcome: Outcome, limit: object) -> Outcome:
    """The outcome with at most `limit` results in all.

    A higher limit shows the rest; the cursor is left out, as it would skip what was cut off.
    """
    found = outcome.data.get(FOUND)
    if not isinstance(limit, int) or not isinstance(found, list) or len(found) <= limit:
        return outcome
    cut = {FOUND: found[:limit], **({NEXT: None} if NEXT in outcome.data else {})}
    assert outcome.result is not None
    kept = {FOUND: getattr(outcome.result, FOUND)[:limit]}
    result = outcome.result.model_copy(update={**cut, **kept})
    return replace(outcome, result=result, data={**outcome.data, **cut})


def with_files(value: Any, artifacts: Path) -> Any:
    """The value with addresses of artifacts as paths, each once in an object."""
    if isinstance(value, list):
        return [with_files(item, artifacts) for item in value]
    if not isinstance(value, Mapping):
        return value
    seen: dict[str, Any] = {}
    for name, inner in value.items():
        file = _file(inner, artifacts)
        if file is None:
            seen[name] = with_files(inner, artifacts)
        elif str(file) not in value.values():
            short = name.removesuffix("uri").rstrip("_") or "file"
            seen[name if short in value else short] = str(file)
    return seen


def _file(value: Any, artifacts: Path) -> Path | None:
    """The file of an artifact's address, when it is one and is still there."""
    if not isinstance(value, str) or not value.startswith(URI_PREFIX):
        return None
    file = artifacts / Path(value).name
    return file if file.is_file() else None


def document_of(result: BaseModel, printed: Sequence[str], artifacts: Path) -> str:
    """The document of a result: where its whole text is a file, what that holds."""
    text = str(getattr(result, printed[0])) if printed else ""
    for file in _files(result, printed, artifacts):
        text = file.read_text("utf-8", errors="replace")
    return text


def _files(result: BaseModel, printed: Sequence[str], artifacts: Path) -> list[Path]:
    named = (getattr(result, name) for name in printed[1:])
    return [file for each in named if (file := _file(each, artifacts))]


def _print_document(text: str) -> None:
    shown = visible(text) if sys.stdout.isatty() else text
    click.echo(shown.rstrip())
