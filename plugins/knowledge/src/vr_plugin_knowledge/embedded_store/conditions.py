"""Filters as SQL."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from vr_kernel import Filter, RecordField, RecordKind

from vr_plugin_knowledge.embedded_store.schema import scope_range
from vr_plugin_knowledge.matching.facets import typed_operand


@dataclass(frozen=True, slots=True)
class Condition:
    """A SELECT of item numbers, in one column `item`, and its bound values."""

    sql: str
    values: tuple[Any, ...]


def build_condition(kind: RecordKind, scope: int, filters: Sequence[Filter]) -> Condition | None:
    """Select the items of a scope that fulfil all filters; None when there are no filters.

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
