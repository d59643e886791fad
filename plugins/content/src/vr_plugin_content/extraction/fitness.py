"""The check that data of several parts fit the caller's schema together."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from vr_kernel import Code, VrError

PROBLEM_CHARS = 500


def require_fit(schema: Mapping[str, Any], data: Any) -> None:
    """Refuse data of several parts that do not fit together; blocks.

    A `pattern` is not matched again: each part was, and the engine here could take forever.

    Args:
        schema: one that was checked.
        data: joined of parts that each fit the schema, but for what may be missing in a part.

    Raises:
        VrError: UNAVAILABLE, category PARTS_MISFIT.
    """
    from jsonschema import Draft202012Validator, validators

    own = {"pattern": _matched_before, "uniqueItems": _without_equals}
    kind = validators.extend(Draft202012Validator, validators=own)
    problem = next(kind(schema).iter_errors(data), None)
    if problem is not None:
        place = "/".join(map(str, problem.absolute_path)) or "the whole"
        raise VrError(
            f"What the parts of the document hold does not fit the schema together: {place}: "
            f"{problem.message[:PROBLEM_CHARS]}.",
            Code.UNAVAILABLE,
            category="PARTS_MISFIT",
            hint="Make what may be missing optional, and lists long enough, or split the document.",
        )


def _matched_before(*_: Any) -> Iterator[Exception]:
    yield from ()


def _without_equals(_validator: Any, wanted: Any, value: Any, _schema: Any) -> Iterator[Exception]:
    from jsonschema import ValidationError

    if wanted and isinstance(value, list):
        different = {json.dumps(item, sort_keys=True) for item in value}
        if len(different) < len(value):
            yield ValidationError("has items that are equal")
