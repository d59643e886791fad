"""Records that a domain stores, and their kinds with typed fields."""

from __future__ import annotations

import math
import re
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import Any, Literal

from vr_kernel.errors import Code, VrError, did_you_mean

FieldType = Literal["text", "text[]", "int", "number", "date", "bool"]
NAMESPACE = uuid.UUID("6f0e8a52-6b0c-5d0e-9c1b-2f4d8a7c3e10")
"""Namespace of every uuid5 key; changing it would orphan all stored records."""


@dataclass(frozen=True, slots=True)
class RecordField:
    """One typed field of a record kind, and how stores index it.

    `vectorised` text takes part in the record's embedding, `searchable` text in keyword
    search; `filterable` fields can be compared for equality, `range` fields by order.
    """

    name: str
    type: FieldType = "text"
    description: str = ""
    vectorised: bool = False
    searchable: bool = False
    filterable: bool = False
    range: bool = False


COMMON_FIELDS = (
    RecordField("created_at", "date", "When it was recorded.", filterable=True, range=True),
    RecordField("source_tool", "text", "The tool that produced it.", filterable=True),
)


@dataclass(frozen=True, slots=True)
class RecordKind:
    """A collection: its fields, and which of them carry source, place and link of a record.

    A kind whose records are facts about one thing each has an `identity`: it gives the key of
    the record that has these fields, empty when they do not say which thing it is. Records
    that a tool or a person writes without a key then replace what is known of that thing.

    Records of a `derived` kind were made of others, by a model or another reader: analyses,
    answers, summaries. They are shown and searched, and are no evidence for anything: a claim is
    quoted from the sources that they were made of.

    A `category` says what kind of thing its records are about, such as `video`; the knowledge graph
    names it along with what it read there. `title` is the field with the title of that thing, which
    `source` names: of the video, not of a slide. `headings` has those above a passage.

    Records are called by their first field that ends in `title` or `name`, else by the beginning of
    `rerank`; a kind for which neither says enough gives their names by `naming`. `variety` is the
    field that tells sorts of them apart, which are shown beside their names: speech, or a slide. A
    kind with a `history`, and so an identity, is for facts that change: a replaced record stays
    in the journal as a former version, out of every search.

    `pins` is the field with addresses of artifacts, text or text[], that a record needs as long as
    it is there: no cleaning takes them. A former version needs none. `part_of` is the field with
    the key of the record that it is a part of and is deleted with, such as the report of a finding.
    """

    name: str
    description: str
    fields: tuple[RecordField, ...]
    rerank: str
    source: str | None = None
    link: str | None = None
    locator: tuple[str, ...] = ()
    identity: Callable[[Mapping[str, Any]], str] | None = None
    derived: bool = False
    history: bool = False
    category: str = ""
    title: str | None = None
    naming: Callable[[Mapping[str, Any]], str] | None = None
    variety: str | None = None
    headings: str | None = None
    pins: str | None = None
    part_of: str | None = None

    def named(self, fields: Mapping[str, Any]) -> str:
        """The name that the kind's naming gives to a record; empty without one."""
        try:
            return self.naming(fields) if self.naming is not None else ""
        except (LookupError, TypeError, ValueError, AttributeError):  # a record may be damaged
            return ""

    def variety_of(self, fields: Mapping[str, Any]) -> str:
        """The sort of a record of which the kind has several; empty for one of no sort."""
        value = fields.get(self.variety) if self.variety else None
        return value if isinstance(value, str) else ""

    def identify(self, fields: Mapping[str, Any]) -> str:
        """The key that these fields have by the kind's identity; empty for an event."""
        try:
            return self.identity(fields) if self.identity is not None else ""
        except KeyError:  # a field of the identity may be missing
            return ""

    @property
    def all_fields(self) -> tuple[RecordField, ...]:
        """Its own fields, then those that every kind has."""
        return self.fields + COMMON_FIELDS

    def field(self, name: str) -> RecordField:
        """The field of that name, own or common.

        Raises:
            VrError: INVALID_INPUT, naming the nearest field, when there is none.
        """
        for candidate in self.all_fields:
            if candidate.name == name:
                return candidate
        known = [candidate.name for candidate in self.all_fields]
        hint = f"{did_you_mean(name, known)}Its fields: {', '.join(known)}."
        raise VrError(f"{self.name} has no field {name!r}.", Code.INVALID_INPUT, hint=hint)

    def check(self) -> None:
        """Check that stores can keep records of this kind.

        Raises:
            TypeError: for a name that is no text, an object that is no field, or a role without a
                field.
        """
        if not isinstance(self.name, str) or not self.name:
            raise TypeError(f"a record kind is named {self.name!r}")
        if not all(isinstance(item, RecordField) for item in self.fields):
            raise TypeError(f"{self.name} has a field that is no RecordField")
        if self.history and self.identity is None:
            raise TypeError(f"{self.name} keeps a history, and no identity says of what")
        known = {item.name for item in self.all_fields}
        roles = [self.rerank, self.source, self.link, *self.locator, self.title, self.variety]
        named = [it for it in (*roles, self.pins, self.part_of) if it is not None]
        if lost := [it for it in named if it not in known]:
            raise TypeError(f"{self.name} has no field {lost[0]!r}, which it names")
        if self.pins and self.field(self.pins).type not in ("text", "text[]"):
            raise TypeError(f"{self.name} pins artifacts by {self.pins!r}, which is no text")

    def validate(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        """A copy of `fields` with every value of its declared type, dates as ISO 8601 text.

        Raises:
            VrError: INVALID_INPUT for an unknown field or a value of another type.
        """
        return {
            name: _coerce(self.name, self.field(name), value)
            for name, value in fields.items()
            if value is not None
        }

    def cleared(self, fields: Mapping[str, Any]) -> list[str]:
        """The names of fields that are given as None.

        Raises:
            VrError: INVALID_INPUT for an unknown field.
        """
        return [self.field(name).name for name, value in fields.items() if value is None]

    def vector_text(self, fields: Mapping[str, Any]) -> str:
        """The text that is embedded: all vectorised fields, in declared order."""
        return _joined(fields, [f.name for f in self.fields if f.vectorised])

    def search_text(self, fields: Mapping[str, Any]) -> str:
        """The text that keyword search sees: all searchable fields, in declared order."""
        return _joined(fields, [f.name for f in self.fields if f.searchable])


@dataclass(frozen=True, slots=True)
class Record:
    """One thing learned. Without a `key` it is an event, keyed by the call that made it.

    A derived record lists under `sources` of its provenance what it is based on: a list of objects
    with the words of the source as `quote`, and the `link` that opens it there. With `merge`,
    fields that it does not name keep their values under its key; None clears one.
    """

    kind: str
    fields: Mapping[str, Any]
    key: str | None = None
    provenance: Mapping[str, Any] = field(default_factory=dict)
    merge: bool = False


def entity_key(*parts: object) -> str:
    """The key of a fact about one thing: equal parts give the equal key, in any process."""
    text = "\x1f".join(str(part) for part in parts)
    # Half characters have no bytes; a key is made of them all the same.
    return str(uuid.uuid5(NAMESPACE, text.encode(errors="backslashreplace").decode()))


def _joined(fields: Mapping[str, Any], names: Sequence[str]) -> str:
    texts: list[str] = []
    for name in names:
        value = fields.get(name)
        if value:
            texts.append("\n".join(value) if isinstance(value, list) else str(value))
    return "\n".join(texts)


def _coerce(kind: str, spec: RecordField, value: Any) -> Any:
    if spec.type == "date":
        return _as_date(kind, spec, value)
    if not all(map(is_storable, value if isinstance(value, (list, tuple)) else [value])):
        told = f"{kind}.{spec.name} has a value that no store can hold."
        hint = "Numbers are finite and of 64 bits, text is valid Unicode."
        raise VrError(told, Code.INVALID_INPUT, hint=hint)
    if spec.type == "number" and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if spec.type == "text[]":
        if isinstance(value, (list, tuple)) and all(isinstance(item, str) for item in value):
            return list(value)
    elif isinstance(value, _PYTHON_TYPES[spec.type]) and (
        spec.type == "bool" or not isinstance(value, bool)
    ):
        return value
    raise _wrong_type(kind, spec, value)


def is_storable(value: Any) -> bool:
    """True for a number or text that every store can hold."""
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, int):
        return -(2**63) <= value < 2**63
    return not (isinstance(value, str) and _SURROGATE.search(value))


_SURROGATE = re.compile("[\ud800-\udfff]")
_PYTHON_TYPES: dict[str, type] = {"text": str, "int": int, "number": float, "bool": bool}


def _as_date(kind: str, spec: RecordField, value: Any) -> str:
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            raise _wrong_type(kind, spec, value) from None
    if isinstance(value, date) and not isinstance(value, datetime):
        value = datetime(value.year, value.month, value.day, tzinfo=UTC)
    if not isinstance(value, datetime):
        raise _wrong_type(kind, spec, value)
    moment = value if value.tzinfo else value.replace(tzinfo=UTC)
    try:
        return moment.astimezone(UTC).isoformat(timespec="microseconds")
    except OverflowError:
        raise _wrong_type(kind, spec, value) from None


def _wrong_type(kind: str, spec: RecordField, value: Any) -> VrError:
    told = f"{kind}.{spec.name} takes {spec.type}, not {type(value).__name__}."
    example = "Dates are ISO 8601, for example 2026-01-31T12:00:00Z."
    hint = example if spec.type == "date" else f"Give {spec.name} as {spec.type}."
    return VrError(told, Code.INVALID_INPUT, hint=hint)


@dataclass(frozen=True, slots=True)
class Change:
    """The newest state of one record; `fields` None says that it was deleted.

    `opening` names the opening of the journal in which `seq` was given out.
    """

    seq: int
    workspace: str
    kind: str
    key: str
    fields: dict[str, Any] | None
    provenance: dict[str, Any]
    created_at: str
    opening: str = ""


@dataclass(frozen=True, slots=True)
class Source:
    """One video, file or page that live records are about, and what is recorded of it.

    Attributes:
        id: the same wherever the source is named alike: `entity_key("source", source)`.
        source: its address or path, as the records name it in the field `RecordKind.source`.
        title: the latest that a record gives in the field `RecordKind.title`; else empty.
        kinds: the number of records of each kind.
        first_at: the time of its oldest record, in ISO 8601.
        last_at: the time of its newest record, in ISO 8601.
        seq: the highest sequence number of its records.
    """

    id: str
    source: str
    title: str
    kinds: Mapping[str, int]
    first_at: str
    last_at: str
    seq: int
