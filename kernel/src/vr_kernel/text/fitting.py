"""Results that fit into an answer, measured in the tokens that the reader pays for."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from pydantic import BaseModel
from pydantic_core import PydanticSerializationError

from vr_kernel.text.tokens import estimate_tokens

T = TypeVar("T")


def tokens_of(value: Any) -> int:
    """Estimate the tokens of a value as JSON."""
    if isinstance(value, BaseModel):
        try:
            return estimate_tokens(value.model_dump_json())
        except PydanticSerializationError:  # a file name that is not UTF-8 holds half a character
            value = value.model_dump(mode="json")
    return estimate_tokens(json.dumps(value, ensure_ascii=False, default=str))


def fit(result: T, cuts: Iterable[T], tokens: int, cost: Callable[[T], int] = tokens_of) -> T:
    """Return the result if it fits, else its first cut that does, or the last cut.

    Args:
        result: with all its details.
        cuts: the result with ever fewer details; a generator makes only those that are needed.
        tokens: the most that the answer may cost.
        cost: estimates the tokens of a result.
    """
    if cost(result) <= tokens:
        return result
    for shorter in cuts:
        result = shorter
        if cost(result) <= tokens:
            break
    return result


def take_fitting(items: Iterable[T], tokens: int, cost: Callable[[T], int] = tokens_of) -> list[T]:
    """Return the first items, as many as fit into so many tokens, at least one."""
    taken: list[T] = []
    spent = 0
    for item in items:
        spent += cost(item)
        if taken and spent > tokens:
            break
        taken.append(item)
    return taken
