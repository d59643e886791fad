"""Records and deletions of a call, as entries of the journal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from vr_kernel.errors import Code, VrError
from vr_kernel.records import Record, RecordKind, entity_key, is_storable
from vr_kernel.state.entries import Entry
from vr_kernel.state.pins import named_in

if TYPE_CHECKING:
    from vr_kernel.calls.produced import Produced


def entries_of(produced: Produced, part: str) -> list[Entry]:
    """Return an entry for each record and each deletion of a call.

    Args:
        produced: by the call.
        part: tells records without a key apart from those of other parts of the same call.

    Raises:
        VrError: INTERNAL for a kind or a key that is no text; as `RecordKind.validate`.
    """
    records = enumerate(produced.records)
    entries = [_entry(produced, part, index, record) for index, record in records]
    for kind, key in produced.deletions:
        _require_text(produced, kind, "kind")
        _require_text(produced, key, "key")
    return entries + [Entry(kind, key, None) for kind, key in dict.fromkeys(produced.deletions)]


def pinned_by(entries: Iterable[Entry], kinds: Mapping[str, RecordKind]) -> set[str]:
    """The names of the artifacts that records of these kinds need."""
    found: set[str] = set()
    for entry in entries:
        kind = kinds.get(entry.kind)
        if kind is not None and kind.pins and entry.fields:
            found |= named_in(entry.fields, [kind.pins])
    return found


def _entry(produced: Produced, part: str, index: int, record: Record) -> Entry:
    kind = produced.context.kinds.get(record.kind)
    if kind is None:
        raise VrError(
            f"No record kind {record.kind!r} is declared.",
            Code.INTERNAL,
            hint="A plugin declares its kinds in the hook vr_record_kinds.",
        )
    fields = kind.validate(record.fields)
    fields.setdefault("source_tool", produced.tool)
    place = (part, index) if part else (index,)
    if record.key is not None:
        _require_text(produced, record.key, "key")
    key = record.key or kind.identify(fields) or entity_key(produced.id, kind.name, *place)
    if record.merge:
        fields |= dict.fromkeys(kind.cleared(record.fields))
    return Entry(kind.name, key, fields, record.provenance, record.merge, kind.history)


def _require_text(produced: Produced, value: object, what: str) -> None:
    """Refuse what no journal can hold as the kind or the key of a record.

    Raises:
        VrError: INTERNAL, saying what was given.
    """
    if isinstance(value, str) and is_storable(value):
        return
    given = "text that is no valid Unicode" if isinstance(value, str) else type(value).__name__
    raise VrError(
        f"{produced.tool} of plugin {produced.meter.plugin} names a record by a {what}"
        f" that is {given}.",
        Code.INTERNAL,
        hint=f"The {what} of a record is text. Report it to the plugin; nothing was recorded.",
    )
