"""`knowledge_forget`: deletes records."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, Field
from vr_kernel import DESTRUCTIVE, WRITES_LOCAL, Call, VrError, tool

from vr_plugin_knowledge.arguments import MAX_NAME, Name, OptionalName, bound
from vr_plugin_knowledge.catalogue import find_kind
from vr_plugin_knowledge.forgetting import (
    MOST,
    Choice,
    Finds,
    find_parts,
    find_records,
    find_shared,
    full_keys,
    read_age,
    require_criterion,
)
from vr_plugin_knowledge.freshness import catch_up
from vr_plugin_knowledge.results import KnowledgeForgotten

MAX_SOURCE = 2048
OF_OTHERS = "Only in the store, not in this journal:"
MAY_RETURN = "If another machine recorded them, they come back when it refills the store."
Ids = Annotated[list[Name] | None, bound(MAX_NAME)]
Source = Annotated[
    str | None, bound(MAX_SOURCE), Field(description="As a hit has it: source, link or video_id")
]


class Confirmation(BaseModel):
    """The answer to the question whether to delete."""

    delete: bool = Field(False, description="Delete them for good")


@tool(effects=WRITES_LOCAL | DESTRUCTIVE)
async def knowledge_forget(
    call: Call,
    object_ids: Ids = None,
    source: Source = None,
    older_than: Annotated[OptionalName, Field(description="Date, or days as 90d")] = None,
    collection: OptionalName = None,
    dry_run: Annotated[bool, Field(description="Only show what would go")] = False,
    confirm: Annotated[bool, Field(description="Do not ask")] = False,
) -> KnowledgeForgotten:
    """Delete records that fit all that is given, for good.

    By ids it deletes at once; otherwise it asks first, and without an answer deletes nothing.
    """
    require_criterion(object_ids, source, older_than)
    kinds = call.services.kinds
    ids = await full_keys(call.services, call.workspace, object_ids or [], collection)
    choice = Choice(
        workspace=call.workspace,
        kinds=kinds,
        kind=find_kind(kinds, collection).name if collection else None,
        keys=frozenset(ids) if ids else None,
        source=source or None,
        before=read_age(older_than or None),
    )
    finds = await find_records(call.services, choice)
    notes = await _look_into_store(call, choice, finds)
    await find_parts(call.services, call.workspace, finds)
    result = _present(finds, ids, source, notes)
    if dry_run or not finds.records:
        return result
    if not (confirm or object_ids or await _is_wanted(call, finds)):
        note = "Nothing was deleted. Give confirm=true to delete without a question."
        return result.model_copy(update={"status": "not_confirmed", "notes": [*result.notes, note]})
    from vr_plugin_knowledge.graph.withdrawal import withdraw_citations

    for kind, key in finds.records:
        call.forget(kind, key)
    await withdraw_citations(call, finds.records)
    if choice.before and not (choice.keys or choice.source):
        await call.services.journal.forget_former(call.workspace, choice.before, choice.kind)
    return result.model_copy(update={"status": "deleted"})


async def _look_into_store(call: Call, choice: Choice, finds: Finds) -> list[str]:
    """Add records that only a store shared by several machines has; return a remark on them."""
    notes: list[str] = []
    if not (choice.keys or frozenset()) - {key for _, key in finds.records}:
        return notes
    if await catch_up(call, notes) is None:
        return notes
    try:
        if count := await find_shared(call.services, choice, finds):
            notes.append(f"{OF_OTHERS} {count}. {MAY_RETURN}")
    except VrError as error:
        notes.append(f"The store was not asked. {error.message} {error.hint}".strip())
    return notes


async def _is_wanted(call: Call, finds: Finds) -> bool:
    count, names = len(finds.records), ", ".join(finds.counts)
    question = f"Delete {count:,} {'record' if count == 1 else 'records'} of {names}?"
    answer = await call.ask(question, Confirmation, default=Confirmation(delete=False))
    return answer.delete


def _present(
    finds: Finds, asked: list[str], source: str | None, notes: list[str]
) -> KnowledgeForgotten:
    found = {key for _, key in finds.records}
    if not finds.records:
        how = " A source is written as a hit has it, with its whole path." if source else ""
        notes.append(f"No record fits.{how}")
    if finds.remaining:
        notes.append(f"One call deletes {MOST:,} records, the oldest first. Call again.")
    return KnowledgeForgotten(
        status="dry_run" if finds.records else "nothing_found",
        count=len(finds.records),
        collections=finds.collections,
        examples=finds.examples,
        remaining=finds.remaining,
        not_found=[key for key in dict.fromkeys(asked) if key not in found],
        notes=notes,
    )
