"""Shows records that were named by the beginnings of their ids, before a tool deletes them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from pydantic import BaseModel, Field
from vr_kernel import (
    DESTRUCTIVE,
    Asker,
    Change,
    Code,
    Kernel,
    Question,
    Tool,
    VrError,
    understand,
    visible,
)

from vr_cli.calling.ids import RECORD

SAID = ("confirm", "dry_run")
"""Arguments that tell a tool not to ask, or not to delete."""
TITLE_CHARS = 80


class Agreement(BaseModel):
    """The answer to the question whether these records are meant."""

    delete: bool = Field(False, description="Delete them for good")


async def require_agreement(
    kernel: Kernel, tool: Tool, typed: Mapping[str, Any], whole: Mapping[str, Any], ask: Asker
) -> None:
    """Show the records that abbreviated ids stand for, and ask before a tool deletes them.

    `typed` are the arguments as given, `whole` those with ids in full.

    Raises:
        VrError: INVALID_INPUT when nobody can be asked; CANCELLED when the answer is no.
    """
    found = _records(whole) - _records(typed)
    if not found or DESTRUCTIVE not in tool.effects or any(typed.get(name) for name in SAID):
        return
    shown = "\n".join(await _described(kernel, found))
    question = Question(f"The abbreviated ids mean:\n{shown}", Agreement)
    answer = understand(question, await ask(question, paid=False))
    if answer is None:
        raise VrError(
            f"Nothing was deleted: nobody can be asked here. {question.text}",
            Code.INVALID_INPUT,
            category="NOT_CONFIRMED",
            hint="Add --yes, or give the ids in full.",
        )
    if answer != Agreement(delete=True):
        raise VrError("Nothing was deleted.", Code.CANCELLED, category="DECLINED")


def _records(arguments: Mapping[str, Any]) -> set[str]:
    one, several = arguments.get(RECORD), arguments.get(f"{RECORD}s")
    return {each for each in [one, *(several or [])] if each}


async def _described(kernel: Kernel, keys: Collection[str]) -> list[str]:
    """Kind, title and id of each record, one per line."""
    return [
        f"  {change.kind} {change.key} {_title(kernel, change)}".rstrip()
        async for change in kernel.services.archive.records()
        if change.key in keys
    ]


def _title(kernel: Kernel, change: Change) -> str:
    kind, fields = kernel.services.archive.kinds.get(change.kind), change.fields or {}
    text = " ".join((kind.search_text(fields) if kind else "").split())
    return visible(text if len(text) <= TITLE_CHARS else f"{text[: TITLE_CHARS - 1]}…")
