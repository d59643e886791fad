"""Filters in Weaviate's form; every value is taken literally."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from vr_kernel import Filter, RecordField, RecordKind

from vr_plugin_knowledge.matching.facets import facet_rows, typed_operand
from vr_plugin_knowledge.weaviate_store.names import FACETS, property_name

if TYPE_CHECKING:
    from weaviate.collections.classes.filters import _Filters

LONGEST_FACET = 10_000
"""Characters of a value that filters compare."""
_NEVER = "-"
"""A facet that no record has: every facet has an equals sign."""
_WILD = "*?\\"
_END = "|"
_LINE = "\ue00a"
"""Replaces the end of a line, which no wildcard of Weaviate matches."""
_ORDERS = {
    "<": "less_than",
    "<=": "less_or_equal",
    ">": "greater_than",
    ">=": "greater_or_equal",
}
Test = Callable[[Mapping[str, Any]], bool]


def facets_of(kind: RecordKind, fields: Mapping[str, Any]) -> list[str]:
    """The values of a record that filters compare."""
    return [_facet(name, value) for name, value in facet_rows(kind, fields)]


def build_filter(kind: RecordKind, filters: Sequence[Filter]) -> _Filters | None:
    """The condition of all filters; None when there are none.

    Raises:
        VrError: INVALID_INPUT for a value of another type than the field's.
    """
    from weaviate.classes.query import Filter as Condition

    parts = [_condition(kind.field(item.field), kind, item) for item in filters]
    return Condition.all_of(parts) if parts else None


def build_test(filters: Sequence[Filter], kind: RecordKind) -> Test | None:
    """Build the test that a record must pass besides `build_filter`; None when none is needed.

    Weaviate cannot search for a character that it uses as a wildcard.
    """
    parts = [
        (item.field, str(item.value))
        for item in filters
        if item.operator == "contains" and kind.field(item.field).type == "text"
    ]
    if not any(sign in value for _, value in parts for sign in _WILD):
        return None
    return lambda fields: all(value in str(fields.get(name, "")) for name, value in parts)


def _condition(spec: RecordField, kind: RecordKind, item: Filter) -> _Filters:
    from weaviate.classes.query import Filter as Condition

    facet = Condition.by_property(FACETS)
    if item.operator == "in":
        values = [typed_operand(spec, kind, value) for value in item.value]
        return facet.contains_any(
            [_facet(spec.name, v) for v in values if v is not None] or [_NEVER]
        )
    value = typed_operand(spec, kind, item.value)
    if item.operator in _ORDERS:
        return _order(spec, item.operator, value)
    wanted = [_NEVER] if value is None else [_facet(spec.name, value)]
    if item.operator == "!=":
        return Condition.not_(facet.contains_any(wanted))
    if item.operator == "contains" and spec.type == "text" and value is not None:
        plain = "".join("?" if sign in _WILD else sign for sign in str(value))
        return facet.like(_facet(spec.name, f"*{plain}*"))
    return facet.contains_any(wanted)


def _order(spec: RecordField, operator: str, value: Any) -> _Filters:
    from weaviate.classes.query import Filter as Condition

    if value is None:
        return Condition.by_property(FACETS).contains_any([_NEVER])
    given = datetime.fromisoformat(value) if spec.type == "date" else value
    compare = getattr(Condition.by_property(property_name(spec.name)), _ORDERS[operator])
    condition: _Filters = compare(given)
    return condition


def _facet(name: str, value: Any) -> str:
    # Weaviate trims the values it compares; a mark at the end prevents that.
    return f"{name}={str(value)[:LONGEST_FACET].replace(chr(10), _LINE)}{_END}"
