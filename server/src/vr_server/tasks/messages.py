"""Tasks on the wire, by the extension `io.modelcontextprotocol/tasks` of 2026-07-28."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Literal

from mcp_types import CallToolResult, RequestParams
from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel
from vr_kernel import VrError
from vr_kernel.jobs import Job, JobState
from vr_kernel.running import JobHandle, outcome_of

from vr_server.failures import error_result
from vr_server.served.tool import as_tool_result

TaskStatus = Literal["working", "input_required", "completed", "cancelled"]
"""`failed` is for faults of the protocol. A tool's error is a result, so its task completed."""
STATUS: dict[JobState, TaskStatus] = {
    "running": "working",
    "interrupted": "working",
    "done": "completed",
    "failed": "completed",
    "cancelled": "cancelled",
}
POLL_MS = 2000
"""Milliseconds between two requests of a client; a job's progress is stored once a second."""


class Camel(BaseModel):
    """A model whose fields have camel-case names, as in the protocol."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True)


class TaskState(Camel):
    """A job in the form of the extension. Times in ISO 8601; `ttl_ms` counts from the creation."""

    task_id: str
    status: TaskStatus
    status_message: str | None = None
    created_at: str
    last_updated_at: str
    ttl_ms: int
    poll_interval_ms: int = POLL_MS


class CreatedTask(TaskState):
    """The answer to `tools/call` instead of the result."""

    result_type: Literal["task"] = "task"


class TaskDetails(TaskState):
    """The answer to `tasks/get`: `result` once it has ended, `input_requests` while it asks."""

    result_type: Literal["complete"] = "complete"
    result: dict[str, Any] | None = None
    input_requests: dict[str, Any] | None = None


class Acknowledged(Camel):
    """The answer to `tasks/update` and `tasks/cancel`."""

    result_type: Literal["complete"] = "complete"


class TaskParams(RequestParams):
    """The parameters of `tasks/get` and `tasks/cancel`."""

    model_config = Camel.model_config

    task_id: str


class UpdateParams(TaskParams):
    """The parameters of `tasks/update`."""

    input_responses: dict[str, Any]


def created_task(job: Job, keep_s: float) -> CreatedTask:
    """Describe a job that just became a task; it is kept for `keep_s` after its last change."""
    return CreatedTask(**_state(job, keep_s))


def task_details(job: Job, keep_s: float, asked: dict[str, Any]) -> TaskDetails:
    """Describe a job as it is now, with its questions, or with its result."""
    told = TaskDetails(**_state(job, keep_s))
    if told.status == "completed":
        told.result = result_of(job)
    elif told.status == "working" and asked:
        told.status = "input_required"
        told.input_requests = asked
    return told


def result_of(job: Job) -> dict[str, Any]:
    """Build the answer of `tools/call` for an ended job; attachments of the result are left out."""
    if job.state == "failed":
        result = error_result(job.error or VrError("The job failed.").as_dict(job.id))
    else:
        result = as_tool_result(outcome_of(job))
    answer = CallToolResult(
        content=result.content,
        structured_content=result.structured_content,
        is_error=bool(result.is_error),
        _meta=result.meta,
    )
    return answer.model_dump(mode="json", by_alias=True, exclude_none=True)


def _state(job: Job, keep_s: float) -> dict[str, Any]:
    working = STATUS[job.state] == "working"
    kept = job.updated_at - job.created_at + keep_s
    return {
        "task_id": job.id,
        "status": STATUS[job.state],
        "status_message": str(JobHandle.of(job).progress) or None if working else None,
        "created_at": datetime.fromtimestamp(job.created_at, UTC).isoformat(),
        "last_updated_at": datetime.fromtimestamp(job.updated_at, UTC).isoformat(),
        "ttl_ms": int(kept * 1000),
    }
