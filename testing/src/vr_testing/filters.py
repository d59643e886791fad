"""Filters and groups of a store, in plain Python."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any

from vr_kernel.errors import Code, VrError
from vr_kernel.records import RecordField, RecordKind
from vr_kernel.stores import Filter

_ORDERS: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_DAY = len("2026-01-31")


def fulfils(
    kind: RecordKind, fields: Mapping[str, Any], condition: Filter, *, lenient: bool = False
) -> bool:
    """Check if a record fulfils a filter; `lenient` when its kind cannot be filtered like that.

    A record without the field fulfils only `!=`. Of a list, one matching element suffices;
    `contains` looks for a part of a text.

    Raises:
        VrError: INVALID_INPUT for a value of another type than the field's.
    """
    spec = next((f for f in kind.all_fields if f.name == condition.field), None)
    sign = condition.operator
    if spec is None or not (spec.range if sign in _ORDERS else spec.filterable):
        return lenient
    wanted = condition.value if sign == "in" else [condition.value]
    choices = [_typed(kind, spec, value) for value in wanted]
    have = fields.get(spec.name)
    values = have if isinstance(have, list) else [] if have is None else [have]
    if sign == "!=":
        return choices[0] not in values
    return any(_compare(spec, sign, value, choice) for value in values for choice in choices)


def groupable(kind: RecordKind, name: str) -> RecordField:
    """The field of that name, if records can be counted by its values.

    Raises:
        VrError: INVALID_INPUT for an unknown field, or one that is not filterable.
    """
    spec = kind.field(name)
    if spec.filterable:
        return spec
    raise VrError(
        f"{kind.name} cannot be grouped by {name!r}.",
        Code.INVALID_INPUT,
        hint=f"Group by: {', '.join(f.name for f in kind.all_fields if f.filterable)}.",
    )


def groups_of(spec: RecordField, fields: Mapping[str, Any]) -> set[str]:
    """The groups that a record counts in: by day for a date, by each element for a list."""
    value = fields.get(spec.name)
    values = value if isinstance(value, list) else [] if value is None else [value]
    if spec.type == "date":
        return {item[:_DAY] for item in values}
    return {str(item).lower() if isinstance(item, bool) else str(item) for item in values}


def _compare(spec: RecordField, sign: str, value: Any, choice: Any) -> bool:
    if sign in _ORDERS:
        return _ORDERS[sign](value, choice)
    if sign == "contains" and spec.type == "text":
        return choice in value
    return bool(value == choice)


def _typed(kind: RecordKind, spec: RecordField, value: Any) -> Any:
    typed = kind.validate({spec.name: [value] if spec.type == "text[]" else value})[spec.name]
    return typed[0] if spec.type == "text[]" else typed
