"""What becomes of what a call produced: journalled, cached, handed on."""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from typing import TYPE_CHECKING

from vr_kernel.errors import Code, VrError
from vr_kernel.journal.rows import Entry
from vr_kernel.records import Record, entity_key, is_storable
from vr_kernel.text.bounds import said

if TYPE_CHECKING:
    from pathlib import Path

    from vr_kernel.call import Call
    from vr_kernel.files.artifacts import Artifact


async def commit(call: Call, part: str = "") -> int:
    """Journal the records of a call, then let the cache know the results they belong to.

    Returns how many records are in the journal now.

    Args:
        call: what produced them.
        part: tells records without a key from those of other parts of the same call.

    Raises:
        VrError: UNAVAILABLE when the journal cannot be written and the call's records are
            essential; otherwise that is noted. INTERNAL for a kind or a key that is no text.
        ValueError: for a result that no cache can keep.
    """
    services = call.services
    dump([kept.value for kept in call.kept]).encode()  # what no cache can keep fails here
    entries = [_entry(call, part, index, record) for index, record in enumerate(call.records)]
    for kind, key in call.forgotten:
        _require_text(call, kind, "kind")
        _require_text(call, key, "key")
    entries += [Entry(kind, key, None) for kind, key in dict.fromkeys(call.forgotten)]
    call.owed.clear()  # it is all in here
    if entries:
        provenance = {"tool": call.tool, "plugin": call.meter.plugin, "call_id": call.id}
        try:
            seq = await services.journal.commit(
                entries,
                workspace=call.workspace,
                provenance={**provenance, "principal": call.principal},
                paid=_is_paid(call),
            )
        except VrError as error:
            if call.essential:
                raise
            call.note(f"Not recorded: {error.message} {error.hint}")
            call.log.warning("records not journalled", tool=call.tool, reason=error.message)
            return 0
        if not _held(call):
            services.store.wake(seq)
        lacks = services.journal.continuity.lacks
        if lacking := await lacks(owner=services.identity.is_owner):
            call.note(lacking)
    for kept in call.kept:
        await services.cache.set(
            kept.key,
            kept.value,
            content_id=kept.content_id,
            tool=call.tool,
            model=kept.model,
            over=kept.over,
            paid=_is_paid(call),
        )
    while call.held:
        lease = call.held.pop()
        # Its steps are in the result now; were they found again, a cleared cache would not be.
        done = not (lease.unfinished or services.models.recorder.held())
        await services.jobs.leases.release(lease, done=done)
    return len(call.records)


def leaves_nothing(call: Call) -> bool:
    """True for a call with nothing to journal, to cache or to give back."""
    return not (call.records or call.forgotten or call.kept or call.owed or call.held)


async def settle(call: Call) -> None:
    """See to what does not depend on how a call ended: what others have of it, and its leases."""
    for shared in tuple(call.owed):
        try:
            await commit(shared)
        except Exception as error:  # noqa: BLE001 - as it would have failed this call
            call.log.warning("shared work not journalled", tool=call.tool, reason=said(error))
    for lease in call.held:
        await call.services.jobs.leases.release(lease)


def keep_artifact(call: Call, content: bytes | Path, mime: str) -> Artifact:
    """Keep a file; where there is no room for it, the work may be done again of its steps.

    Raises:
        VrError: UNAVAILABLE when the folder cannot be written.
    """
    try:
        return call.services.artifacts.add(content, mime)
    except VrError:
        for lease in call.held:
            lease.unfinished = True
        raise


def _is_paid(call: Call) -> bool:
    """Whether anything in it was paid for, by this call or by one whose steps it found."""
    found = call.scope is not None and call.scope.begun
    return found or bool(call.held) or call.meter.usage.calls > 0


def _held(call: Call) -> bool:
    """Whether records wait in memory for room; the store hears of them when they are written."""
    loop, store = asyncio.get_running_loop(), call.services.store

    def wake() -> None:
        with suppress(RuntimeError):  # the loop is closed
            loop.call_soon_threadsafe(store.wake, 0)

    return call.services.journal.holds(wake)


def dump(value: object) -> str:
    """JSON text; ValueError for NaN and infinity, which JSON does not have."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _entry(call: Call, part: str, index: int, record: Record) -> Entry:
    kind = call.services.kinds.get(record.kind)
    if kind is None:
        raise VrError(f"No record kind {record.kind!r} is declared.", Code.INTERNAL)
    fields = kind.validate(record.fields)
    fields.setdefault("source_tool", call.tool)
    place = (part, index) if part else (index,)
    if record.key is not None:
        _require_text(call, record.key, "key")
    key = record.key or kind.identify(fields) or entity_key(call.id, kind.name, *place)
    if record.merge:
        fields |= dict.fromkeys(kind.cleared(record.fields))
    return Entry(kind.name, key, fields, record.provenance, record.merge, kind.history)


def _require_text(call: Call, value: object, what: str) -> None:
    """Refuse what no journal can hold as the kind or the key of a record.

    Raises:
        VrError: INTERNAL, saying what was given.
    """
    if isinstance(value, str) and is_storable(value):
        return
    given = "text that is no valid Unicode" if isinstance(value, str) else type(value).__name__
    raise VrError(
        f"{call.tool} of plugin {call.meter.plugin} names a record by a {what} that is {given}.",
        Code.INTERNAL,
        hint=f"The {what} of a record is text. Report it to the plugin; nothing was recorded.",
    )
