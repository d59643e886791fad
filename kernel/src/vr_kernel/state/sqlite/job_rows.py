"""The row of a job, and its reading."""

from __future__ import annotations

import json
from typing import Any, get_args

from vr_kernel.errors import Code, VrError
from vr_kernel.state.jobs import DAMAGED_JOB, Job, JobState
from vr_kernel.storage.principal_marks import principal_of

OWNED = "('job/' || job.id IN (SELECT value FROM json_each(:live)))"
"""SQL: the job has a live owner; `:live` is the result of `Watch.live_jobs`."""
# Before its first run a new job has no owner, but is not interrupted.
_NEW = "(runs = 0 AND updated_at BETWEEN :now - :lease_s AND :now + :lease_s)"
SHOWN = (
    f"CASE WHEN state <> 'running' OR {OWNED} THEN state"
    f" WHEN cancel_asked THEN 'cancelled' WHEN {_NEW} THEN state ELSE 'interrupted' END"
)
"""SQL: the state as callers see it, at `:now` with leases of `:lease_s` seconds; see `OWNED`."""
_STATES: dict[str, JobState] = {state: state for state in get_args(JobState)}
_TEXTS = ("id", "tool", "principal", "workspace", "version", "message", "shown")
_DOCUMENTS = ("arguments", "result", "error")
_NUMBERS = ("done", "total", "runs", "created_at", "updated_at")
# As bytes: damaged text must not fail the whole statement.
COLUMNS = ", ".join(
    [f"CAST({name} AS BLOB)" for name in (*_TEXTS[:-1], SHOWN, *_DOCUMENTS)] + list(_NUMBERS)
)
"""SQL: the columns that `read_job` takes."""


def read_job(row: tuple[Any, ...], owner: str = "") -> Job:
    """Read a job from a row of `COLUMNS`; a damaged one is a failed job whose error says so.

    A job without the name of a token belongs to `owner`.
    """
    fields = dict(zip((*_TEXTS, *_DOCUMENTS, *_NUMBERS), row, strict=True))
    fields |= {name: (fields[name] or b"").decode("utf-8", "replace") for name in _TEXTS}
    fields["principal"] = principal_of(fields["principal"], owner)
    try:
        fields |= {name: _document(fields[name]) for name in _DOCUMENTS}
        fields |= {name: _number(fields[name]) for name in _NUMBERS}
        fields["state"] = _STATES[fields.pop("shown")]
    except (TypeError, LookupError, ValueError, RecursionError):
        return _damaged(fields)
    return Job(**{**fields, "arguments": fields["arguments"] or {}})


def _document(text: bytes | None) -> dict[str, Any] | None:
    document = None if text is None else json.loads(text)
    if not isinstance(document, dict | None):
        raise TypeError(document)
    return document


def _number(value: Any) -> Any:
    if not isinstance(value, int | float | None):
        raise TypeError(value)
    return value


def _damaged(fields: dict[str, Any]) -> Job:
    error = VrError(
        "The ledger's entry of this job is damaged.",
        Code.INTERNAL,
        category=DAMAGED_JOB,
        hint="Start the call again.",
    )
    made, changed = (
        float(value) if isinstance(value, int | float) else 0.0
        for value in (fields["created_at"], fields["updated_at"])
    )
    return Job(
        **{name: fields[name] for name in _TEXTS[:-1]},
        state="failed",
        arguments={},
        done=0.0,
        total=None,
        runs=0,
        result=None,
        error=error.as_dict(fields["id"]),
        created_at=made,
        updated_at=changed,
    )
