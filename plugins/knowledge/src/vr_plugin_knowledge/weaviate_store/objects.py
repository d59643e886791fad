"""Records as objects of Weaviate, and back."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from vr_kernel import Change, RecordKind, StoredRecord

from vr_plugin_knowledge.matching.shapes import shape_of
from vr_plugin_knowledge.weaviate_store.conditions import facets_of
from vr_plugin_knowledge.weaviate_store.names import (
    DAY,
    FACETS,
    RECORD,
    STATE,
    WAITING,
    WORDS,
    object_id,
    property_name,
)
from vr_plugin_knowledge.weaviate_store.stems import stems_of_texts

PULLED = "pulled_from"
"""Key in the provenance of a record that came from another program: the place of its object."""
_DAY_CHARS = len("2026-01-31")
LARGEST = 2**63 - 1024
"""The largest whole number that Weaviate takes: it reads them as floating-point numbers first."""


@dataclass(slots=True)
class Item:
    """A record to be written to the server: its object, and the text to embed.

    A `pulled` one may be there as another program wrote it, with properties that we do not know.
    """

    kind: str
    workspace: str
    key: str
    uuid: str
    seq: int
    text: str = ""
    properties: dict[str, Any] = field(default_factory=dict)
    vector: list[float] | None = None
    deleted: bool = False
    pulled: bool = False

    @property
    def size(self) -> int:
        """About how many bytes it takes on the wire."""
        texts = sum(len(v) for v in self.properties.values() if isinstance(v, str))
        return 3 * texts + 4 * len(self.vector or ())


def build_items(changes: Sequence[Change], kinds: Mapping[str, RecordKind]) -> list[Item]:
    """The newest state of each record among changes, in the order of the journal.

    A record of an undeclared kind is kept, too: a process that knows the kind indexes it.

    Raises:
        TypeError: for a value that is not JSON.
    """
    newest = {(c.workspace, c.kind, c.key): c for c in changes}
    items = [_item(change) for change in newest.values()]
    live = [change for change in newest.values() if change.fields is not None]
    known = [(c, kinds.get(c.kind) or unknown_kind(c.kind), _fields(c)) for c in live]
    stems = stems_of_texts([kind.search_text(fields) for _, kind, fields in known])
    made = {
        (c.workspace, c.kind, c.key): (
            kind.vector_text(fields),
            {
                **plain_properties(kind, fields),
                **search_properties(kind, fields, words),
                RECORD: _dump({"key": c.key, "fields": fields, "provenance": c.provenance}),
            },
        )
        for (c, kind, fields), words in zip(known, stems, strict=True)
    }
    for item in items:
        if not item.deleted:
            item.text, item.properties = made[item.workspace, item.kind, item.key]
    return items


def unknown_kind(name: str) -> RecordKind:
    """A placeholder for a kind whose plugin is not installed."""
    return RecordKind(name, "", (), rerank="source_tool")


def state_of(kind: RecordKind, embedder: str) -> str:
    """The state of a fully indexed object of the kind."""
    return f"{shape_of(kind)}:{embedder}"


def plain_properties(kind: RecordKind, fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields as properties of their own, for filters and for other programs."""
    return {
        property_name(spec.name): _within(fields[spec.name])
        for spec in kind.all_fields
        if fields.get(spec.name) is not None
    }


def search_properties(
    kind: RecordKind, fields: Mapping[str, Any], words: Sequence[str]
) -> dict[str, Any]:
    """Properties for the store's searches: words, facets, days; in the state without a vector."""
    days = {
        DAY + property_name(spec.name): str(fields[spec.name])[:_DAY_CHARS]
        for spec in kind.all_fields
        if spec.type == "date" and spec.filterable and fields.get(spec.name)
    }
    found = {WORDS: " ".join(words), FACETS: facets_of(kind, fields), STATE: WAITING}
    return {**found, **days}


def read_record(kind: RecordKind, uuid: str, properties: Mapping[str, Any]) -> StoredRecord:
    """The record of an object; one that another program wrote has its UUID as key."""
    if properties.get(RECORD):
        whole = json.loads(properties[RECORD])
        return StoredRecord(kind.name, whole["key"], whole["fields"], whole["provenance"])
    names = {property_name(spec.name): spec.name for spec in kind.all_fields}
    fields = {
        names[name]: _value(value)
        for name, value in properties.items()
        if name in names and value is not None
    }
    return StoredRecord(kind.name, uuid, fields, {})


def _within(value: Any) -> Any:
    if isinstance(value, int) and not isinstance(value, bool):
        return max(-LARGEST, min(LARGEST, value))
    return value


def _item(change: Change) -> Item:
    return Item(
        kind=change.kind,
        workspace=change.workspace,
        key=change.key,
        uuid=object_id(change.workspace, change.kind, change.key),
        seq=change.seq,
        deleted=change.fields is None,
        pulled=PULLED in change.provenance,
    )


def _fields(change: Change) -> dict[str, Any]:
    fields = {**(change.fields or {})}
    fields.setdefault("created_at", change.created_at)
    return fields


def _value(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat(timespec="microseconds")
    return value


def _dump(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
