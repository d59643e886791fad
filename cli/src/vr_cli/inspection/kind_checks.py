"""Checks of a record kind: the fields it names exist, and its records can be found."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import get_args

from vr_kernel import Diagnosis, FieldType, RecordField, RecordKind

from vr_cli.inspection.findings import Finding

_CHECK = "record kinds"
_KIND_NAME = re.compile(r"[A-Z][A-Za-z0-9]*")
_FIELD_NAME = re.compile(r"[a-z][a-z0-9_]*")


def check_kind(kind: RecordKind) -> Iterator[Finding]:
    """Check its name, its fields, and that its records can be found."""
    if not _KIND_NAME.fullmatch(kind.name):
        fix = "Name it like WeatherReports: stores of other makers take no other form."
        yield (_CHECK, Diagnosis.fault(f"{kind.name!r} is no name of a record kind.", fix))
    try:
        kind.check()
    except TypeError as failure:
        known = ", ".join(field.name for field in kind.all_fields if isinstance(field, RecordField))
        yield _CHECK, Diagnosis.fault(f"{failure}.", f"Its fields: {known}.")
        return
    yield from _check_fields(kind)
    if not kind.description:
        yield (
            _CHECK,
            Diagnosis.warning(f"{kind.name} has no description.", "Say what its records are."),
        )
    if not any(field.searchable or field.vectorised for field in kind.fields):
        yield (
            _CHECK,
            Diagnosis.warning(
                f"No search finds records of {kind.name}.",
                "Mark its text fields searchable=True, and those that say most vectorised=True.",
            ),
        )


def _check_fields(kind: RecordKind) -> Iterator[Finding]:
    counted = Counter(field.name for field in kind.all_fields)
    for name in [name for name, count in counted.items() if count > 1]:
        fix = "Rename it; every kind has created_at and source_tool."
        yield (_CHECK, Diagnosis.fault(f"{kind.name} has two fields {name}.", fix))
    for field in kind.fields:
        where = f"{kind.name}.{field.name}"
        if not _FIELD_NAME.fullmatch(field.name):
            yield (
                _CHECK,
                Diagnosis.fault(f"{where}: no name of a field.", "Write it like city_name."),
            )
        if field.type not in get_args(FieldType):
            types = ", ".join(get_args(FieldType))
            yield (
                _CHECK,
                Diagnosis.fault(f"{where} has no type {field.type!r}.", f"Types: {types}."),
            )
        elif (field.searchable or field.vectorised) and not field.type.startswith("text"):
            message = f"{where} is {field.type}, and only text is searched by words or meaning."
            yield (_CHECK, Diagnosis.warning(message, "Use filterable=True or range=True for it."))
