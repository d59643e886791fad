"""Converts values of other programs to the types of a kind's fields."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from vr_kernel import RecordField, RecordKind, VrError

_TRUTH = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


@dataclass(frozen=True, slots=True)
class Fitted:
    """The fields that fit a kind, and the names of what did not."""

    fields: dict[str, Any] = field(default_factory=dict)
    left: list[str] = field(default_factory=list)


def fit_fields(kind: RecordKind, values: Mapping[str, Any]) -> Fitted:
    """Convert values to the fields of a kind; leave out and name unknown and unsuitable ones."""
    fitted, known = Fitted(), {spec.name: spec for spec in kind.all_fields}
    for name, value in values.items():
        if value is None:
            continue
        try:
            spec = known[name]
            fitted.fields.update(kind.validate({name: _converted(spec, value)}))
        except (KeyError, ValueError, OverflowError, VrError):
            fitted.left.append(name)
    return fitted


def _converted(spec: RecordField, value: Any) -> Any:
    """Convert a value to the type of a field, as far as its meaning is clear."""
    if spec.type == "text[]":
        return [_text(item) for item in value] if isinstance(value, list) else [_text(value)]
    if spec.type == "text":
        return "\n".join(map(_text, value)) if isinstance(value, list) else _text(value)
    if spec.type in {"int", "number"} and not isinstance(value, bool):
        number = float(value)
        if spec.type == "number":
            return number
        if number != int(number):
            raise ValueError(value)
        return int(value) if isinstance(value, int | str) and "." not in str(value) else int(number)
    if spec.type == "bool" and not isinstance(value, bool):
        return _TRUTH.get(str(value).strip().lower(), value)
    return value


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, datetime):
        return value.isoformat()
    return json.dumps(value, ensure_ascii=False, default=str)
