"""Checks of a record kind: what it names exists, and its records can be found."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import get_args

from vr_kernel import FieldType, RecordKind, did_you_mean

from vr_cli.inspection.findings import Finding, error, warning

_CHECK = "record kinds"
_KIND_NAME = re.compile(r"[A-Z][A-Za-z0-9]*")
_FIELD_NAME = re.compile(r"[a-z][a-z0-9_]*")


def check_kind(kind: RecordKind) -> Iterator[Finding]:
    """Names, types, and the fields that `rerank`, `source`, `link` and `locator` name."""
    if not _KIND_NAME.fullmatch(kind.name):
        fix = "Name it like WeatherReports: stores of other makers take no other form."
        yield error(_CHECK, f"{kind.name!r} is no name of a record kind.", fix)
    yield from _check_fields(kind)
    yield from _check_references(kind)
    if not kind.description:
        yield warning(_CHECK, f"{kind.name} has no description.", "Say what its records are.")
    if not any(field.searchable or field.vectorised for field in kind.fields):
        yield warning(
            _CHECK,
            f"No search finds records of {kind.name}.",
            "Mark its text fields searchable=True, and those that say most vectorised=True.",
        )


def _check_fields(kind: RecordKind) -> Iterator[Finding]:
    counted = Counter(field.name for field in kind.all_fields)
    for name in [name for name, count in counted.items() if count > 1]:
        fix = "Rename it; every kind has created_at and source_tool."
        yield error(_CHECK, f"{kind.name} has two fields {name}.", fix)
    for field in kind.fields:
        where = f"{kind.name}.{field.name}"
        if not _FIELD_NAME.fullmatch(field.name):
            yield error(_CHECK, f"{where}: no name of a field.", "Write it like city_name.")
        if field.type not in get_args(FieldType):
            types = ", ".join(get_args(FieldType))
            yield error(_CHECK, f"{where} has no type {field.type!r}.", f"Types: {types}.")
        elif (field.searchable or field.vectorised) and not field.type.startswith("text"):
            message = f"{where} is {field.type}, and only text is searched by words or meaning."
            yield warning(_CHECK, message, "Use filterable=True or range=True for it.")


def _check_references(kind: RecordKind) -> Iterator[Finding]:
    known = [field.name for field in kind.all_fields]
    named = [("rerank", kind.rerank), ("source", kind.source), ("link", kind.link)]
    for role, name in [*named, *(("locator", name) for name in kind.locator)]:
        if name is not None and name not in known:
            fix = f"{did_you_mean(name, known)}Its fields: {', '.join(known)}."
            yield error(_CHECK, f"{kind.name}: {role} names no field {name!r}.", fix)
