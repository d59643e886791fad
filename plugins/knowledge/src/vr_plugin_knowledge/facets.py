"""Filters: which values of a record can be compared, and the SQL of a comparison."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from vr_kernel import Filter, Query, RecordField, RecordKind

from vr_plugin_knowledge.schema import scope_range

_ORDER = ("<", "<=", ">", ">=")
_INT64 = 2**63


@dataclass(frozen=True, slots=True)
class Condition:
    """A SELECT of item numbers, in one column `item`, and the values it binds."""

    sql: str
    values: tuple[Any, ...]


def facet_rows(kind: RecordKind, fields: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Field and value of all that filters may compare; a list gives a row an element."""
    return [
        (spec.name, value)
        for spec in kind.all_fields
        if spec.filterable or spec.range
        for value in _values(fields.get(spec.name))
    ]


def can_filter(kind: RecordKind, condition: Filter) -> bool:
    """Whether the kind has the field and declares that this comparison may be made."""
    specs = {spec.name: spec for spec in kind.all_fields}
    spec = specs.get(condition.field)
    if spec is None:
        return False
    return spec.range if condition.operator in _ORDER else spec.filterable


def conditions_for(kind: RecordKind, query: Query) -> tuple[Filter, ...] | None:
    """The filters of a query that hold for a kind; None when it is left out for lack of a field."""
    able = tuple(item for item in query.filters if can_filter(kind, item))
    return able if query.lenient or len(able) == len(query.filters) else None


def build_condition(kind: RecordKind, scope: int, filters: Sequence[Filter]) -> Condition | None:
    """What selects the items of a scope that fulfil all filters; None when there are none.

    A record without the field fulfils no filter but `!=`. A list fulfils `=`, `in` and
    `contains` when one of its elements does; `contains` on a text looks for a part of it.

    Raises:
        VrError: INVALID_INPUT for a value of another type than the field's.
    """
    parts = [_comparison(kind.field(item.field), kind, scope, item) for item in filters]
    if not parts:
        return None
    sql = " INTERSECT ".join(f"SELECT item FROM ({part.sql})" for part in parts)  # noqa: S608 - values are bound
    return Condition(sql, tuple(value for part in parts for value in part.values))


def _comparison(spec: RecordField, kind: RecordKind, scope: int, item: Filter) -> Condition:
    base = "SELECT item FROM facet WHERE scope = ? AND field = ? AND "
    bound = (scope, spec.name)
    if item.operator == "in":
        choices = [typed_operand(spec, kind, value) for value in item.value]
        chosen = "value IN (SELECT value FROM json_each(?))"
        return Condition(base + chosen, (*bound, json.dumps(choices)))
    value = typed_operand(spec, kind, item.value)
    if item.operator == "contains" and spec.type == "text":
        return Condition(f"{base}instr(value, ?) > 0", (*bound, value))
    if item.operator == "!=":
        all_items = "SELECT id AS item FROM item WHERE id BETWEEN ? AND ?"
        values = (*scope_range(scope), *bound, value)
        return Condition(f"{all_items} EXCEPT {base}value = ?", values)
    operator = "=" if item.operator == "contains" else item.operator
    return Condition(f"{base}value {operator} ?", (*bound, value))


def typed_operand(spec: RecordField, kind: RecordKind, value: Any) -> Any:
    """A filter's value as `facet_rows` has it; None for what no record can have.

    Raises:
        VrError: INVALID_INPUT for a value of another type than the field's.
    """
    given = [value] if spec.type == "text[]" else value
    typed = kind.validate({spec.name: given}).get(spec.name)
    values = _values(typed)
    return values[0] if values else None


def _values(value: Any) -> list[Any]:
    if isinstance(value, list):
        return sorted(set(value))
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return []
    if isinstance(value, int):
        return [max(-_INT64, min(_INT64 - 1, int(value)))]
    return [value]
