"""The registry as an earlier version kept it, in a file of its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from vr_kernel.gemini.registry import REFUSAL, ContextCache, Upload, puts_of, row_key
from vr_kernel.state.adoption import Adopt, Adopted
from vr_kernel.state.rows import Put


def former_tables() -> Mapping[str, Adopt]:
    """Return what becomes of the tables of `gemini.db`."""
    return {
        "upload": partial(_entry, Upload),
        "context": partial(_entry, ContextCache),
        "refusal": _refusal,
    }


def _entry(kind: type[Upload | ContextCache], row: Mapping[str, Any]) -> Iterator[Adopted]:
    for put in puts_of(kind.model_validate(row)):
        yield Adopted(put)


def _refusal(row: Mapping[str, Any]) -> Iterator[Adopted]:
    key = row_key(REFUSAL, row["content"], row["model"], row["system"])
    yield Adopted(Put(key, value=True, expires_at=float(row["until"])))
