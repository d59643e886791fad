"""Filters: the values of a record that can be compared, and those of a filter."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from vr_kernel import Code, Filter, Query, RecordField, RecordKind, VrError

_ORDER = ("<", "<=", ">", ">=")
_INT64 = 2**63


def facet_rows(kind: RecordKind, fields: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Field and value of all that filters may compare; a list gives one row per element."""
    return [
        (spec.name, value)
        for spec in kind.all_fields
        if spec.filterable or spec.range
        for value in _values(fields.get(spec.name))
    ]


def can_filter(kind: RecordKind, condition: Filter) -> bool:
    """True when the kind has the field and declares that this comparison may be made."""
    specs = {spec.name: spec for spec in kind.all_fields}
    spec = specs.get(condition.field)
    if spec is None:
        return False
    return spec.range if condition.operator in _ORDER else spec.filterable


def conditions_for(kind: RecordKind, query: Query) -> tuple[Filter, ...] | None:
    """The filters of a query that apply to a kind; None to leave it out for lack of a field."""
    able = tuple(item for item in query.filters if can_filter(kind, item))
    return able if query.lenient or len(able) == len(query.filters) else None


def typed_operand(spec: RecordField, kind: RecordKind, value: Any) -> Any:
    """A filter's value in the form of `facet_rows`; None for a value that no record can have.

    Raises:
        VrError: INVALID_INPUT for a value of another type than the field's.
    """
    given = [value] if spec.type == "text[]" else value
    typed = kind.validate({spec.name: given}).get(spec.name)
    values = _values(typed)
    return values[0] if values else None


def groupable(kind: RecordKind, name: str) -> RecordField:
    """The field of that name, if records can be counted by its values.

    Raises:
        VrError: INVALID_INPUT for an unknown field, or one that is not filterable.
    """
    spec = kind.field(name)
    if spec.filterable:
        return spec
    fields = ", ".join(field.name for field in kind.all_fields if field.filterable)
    raise VrError(
        f"{kind.name} cannot be grouped by {name!r}.",
        Code.INVALID_INPUT,
        hint=f"It can be grouped by: {fields}.",
    )


def _values(value: Any) -> list[Any]:
    if isinstance(value, list):
        return sorted(set(value))
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return []
    if isinstance(value, int):
        return [max(-_INT64, min(_INT64 - 1, int(value)))]
    return [value]
