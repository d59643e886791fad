"""Entries: records on their way into the journal, their names and how their fields are merged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from types import MappingProxyType
from typing import Any, NamedTuple

from vr_kernel.errors import Code, VrError
from vr_kernel.records import is_storable


class Entry(NamedTuple):
    """A record on its way into the journal; `fields` None deletes it.

    It replaces the record with its key. With `merge` it is merged into that record: fields that it
    does not name stay, fields given as None are removed. With `history` the replaced record is kept
    as a former version.
    """

    kind: str
    key: str
    fields: Mapping[str, Any] | None
    provenance: Mapping[str, Any] = MappingProxyType({})
    merge: bool = False
    history: bool = False


def require_names(workspace: str, entries: Sequence[Entry]) -> None:
    """Require names that every journal can keep.

    Raises:
        VrError: INVALID_INPUT for one with a NUL or a lone surrogate; a record whose name has a
            NUL may be deleted, since an earlier version took it.
    """
    names = [name for entry in entries for name in (entry.kind, entry.key)]
    with suppress(TypeError):  # a name that is no text
        text = "".join([workspace, *names])
        if text.isascii() and "\0" not in text:
            return
    _require_name(workspace, "workspace")
    for entry in entries:
        _require_name(entry.kind, "kind", deleted=entry.fields is None)
        _require_name(entry.key, "key", deleted=entry.fields is None)


def merge_fields(known: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Merge fields into those of a record: None clears a field, fields not named stay."""
    whole = {**known, **given}
    if "created_at" not in given:
        whole.pop("created_at", None)
    return {name: value for name, value in whole.items() if value is not None}


def says_the_same(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Compare the fields of two versions of a record, without their times."""
    return {**one, "created_at": None} == {**other, "created_at": None}


def _require_name(name: object, what: str, *, deleted: bool = False) -> None:
    if is_storable(name) and (deleted or not isinstance(name, str) or "\0" not in name):
        return
    raise VrError(
        f"The {what} of a record has a NUL or half of a surrogate pair.",
        Code.INVALID_INPUT,
        hint=f"A {what} is valid Unicode text without NUL.",
    )
