"""One kernel tool as FastMCP lists and calls it."""

from __future__ import annotations

import asyncio
import math
from contextlib import suppress
from dataclasses import replace
from typing import Any

from fastmcp.server.dependencies import get_access_token, get_context
from fastmcp.tools.base import Tool as McpTool
from fastmcp.tools.base import ToolResult
from mcp_types import ToolAnnotations
from pydantic import PrivateAttr
from vr_kernel import Effects, Kernel, Progress, Tool, VrError, visible
from vr_kernel.jobs import Job
from vr_kernel.running import JobHandle, Outcome, handle_of
from vr_kernel.signatures import compact_output

from vr_server.asking import Asker, Nobody, WithAnotherCall, asker_of
from vr_server.blocks import block_of, encodable, plain, text_block, visible_schema
from vr_server.failures import error_result
from vr_server.tasks.questions import TaskQuestions, follows_tasks

USAGE_META = "video-research/usage"
"""Where a result says what it cost, beside what its own model says."""
DEPRECATED = "_deprecated"
"""What a result bears that was asked for under a former name of its tool."""
HANDED_OUT = "The call goes on as a job: job_result waits for its result, job_cancel ends it."
AGAIN_S = 1.0
"""How soon a handle is made that another process, which holds the ledger, did not let be made."""
TASK_AFTER_S = 1.0
"""How long a client that follows tasks waits for a result before it gets a task instead."""


class HandedOut(ToolResult):
    """A handle on a job; where the client follows tasks, a task is made of it."""

    _job: Job = PrivateAttr()
    _questions: TaskQuestions | None = PrivateAttr()

    @classmethod
    def of(cls, job: Job, asker: Asker) -> HandedOut:
        """What a client gets of a job that it did not wait for."""
        outcome = Outcome(job.id, data=handle_of(job).model_dump(mode="json"), notes=(HANDED_OUT,))
        told = as_tool_result(outcome)
        made = cls(content=told.content, structured_content=told.structured_content)
        made._job = job
        made._questions = asker if isinstance(asker, TaskQuestions) else None
        return made

    @property
    def job(self) -> Job:
        """The job, as it was when it was handed out."""
        return self._job

    @property
    def questions(self) -> TaskQuestions | None:
        """What the job may ask; None when nobody can be asked any more."""
        return self._questions


class ServedTool(McpTool):
    """A kernel tool as FastMCP lists and calls it; the kernel validates and runs it."""

    _kernel: Kernel = PrivateAttr()
    _tool: Tool = PrivateAttr()

    @classmethod
    def of(cls, kernel: Kernel, name: str, tool: Tool) -> ServedTool:
        """Wrap a tool; `name` is its own or an alias."""
        served = cls(
            name=name,
            description=visible(_described(name, tool)),
            parameters=visible_schema(tool.input_schema),
            output_schema=visible_schema(output_schema_of(tool)),
            annotations=hints_of(tool.effects),
        )
        served._kernel = kernel
        served._tool = tool
        return served

    async def run(self, arguments: dict[str, Any]) -> ToolResult:
        """Call the tool; an error becomes a result that says so."""
        progress = Progress(self._kernel.config.kernel.heartbeat_s)
        relay = asyncio.create_task(progress.relay(_send_progress))
        try:
            asker = asker_of(get_context())
            if self._tool.long and follows_tasks(get_context()):
                asker = asker if isinstance(asker, Nobody) else TaskQuestions()
                return await self._begin(arguments, progress, asker, most_s=TASK_AFTER_S)
            if self._tool.long:
                return await self._begin(arguments, progress, asker)
            outcome = await self._kernel.run(
                self._tool.name, arguments, progress.report, principal=principal(), ask=asker
            )
            await progress.pass_on()
            return _answered(self._marked(outcome), asker)
        finally:
            relay.cancel()
            # A client that is gone takes no progress; that is no reason to lose the result.
            await asyncio.wait({relay})
            with suppress(asyncio.CancelledError):
                relay.exception()

    def _marked(self, outcome: Outcome) -> Outcome:
        """What was asked for under a former name says so."""
        if self.name == self._tool.name or outcome.error is not None or outcome.question:
            return outcome
        return replace(outcome, data={**outcome.data, DEPRECATED: True})

    async def _begin(
        self,
        arguments: dict[str, Any],
        progress: Progress,
        asker: Asker,
        most_s: float = math.inf,
    ) -> ToolResult:
        """The result, or a handle on a call that takes longer than clients wait."""
        kernel = self._kernel
        long_call = kernel.start(
            self._tool.name, arguments, progress.report, principal=principal(), ask=asker
        )
        wait_s = min(kernel.config.kernel.handle_after_s, most_s)
        while not await long_call.ends_within(wait_s):
            if not asker.waiting:  # a person may take longer than a call
                break
        else:
            return _answered(self._marked(await long_call.outcome()), asker)
        if not isinstance(asker, TaskQuestions):
            asker.close()
        try:
            while True:
                try:
                    return HandedOut.of(await kernel.jobs.hand_out(long_call), asker)
                except VrError as error:  # without a ledger nobody could ask for the result later
                    asker.close()
                    if not error.retryable or await long_call.ends_within(AGAIN_S):
                        return as_tool_result(await long_call.outcome())
        except asyncio.CancelledError:
            await long_call.cancel()
            raise


def _described(name: str, tool: Tool) -> str:
    former = "" if name == tool.name else f"Deprecated: use {tool.name}. "
    return former + tool.description


def _answered(outcome: Outcome, asker: Asker) -> ToolResult:
    if outcome.question is not None and isinstance(asker, WithAnotherCall):
        return asker.request(outcome.question)
    return as_tool_result(outcome)


def principal() -> str | None:
    """Whose token the request bears; None on stdio, and where no token is asked for."""
    token = get_access_token()
    return None if token is None else token.client_id


def output_schema_of(tool: Tool) -> dict[str, Any]:
    """What a client may get: the result, or for a long tool a handle on it."""
    if not tool.long:
        return tool.output_schema
    result = {key: value for key, value in tool.output_schema.items() if key != "$defs"}
    handle = compact_output(JobHandle.model_json_schema(mode="serialization"))
    definitions = {**tool.output_schema.get("$defs", {}), **handle.pop("$defs")}
    return {"type": "object", "anyOf": [result, handle], "$defs": definitions}


def hints_of(effects: Effects) -> ToolAnnotations:
    """The MCP hints of declared effects."""
    return ToolAnnotations(
        read_only_hint=Effects.READ_ONLY in effects,
        destructive_hint=Effects.DESTRUCTIVE in effects,
        idempotent_hint=Effects.IDEMPOTENT in effects,
        open_world_hint=Effects.CALLS_OUT in effects,
    )


def as_tool_result(outcome: Outcome) -> ToolResult:
    """An outcome on the wire: JSON as structured content and as text, remarks as text."""
    if outcome.error is not None:
        return error_result(outcome.error.as_dict(outcome.call_id))
    body, structured = encodable(outcome.data)
    notes = (text_block(f"Note: {note}") for note in outcome.notes)
    blocks = [text_block(body), *notes, *map(block_of, outcome.shown)]
    meta = {USAGE_META: outcome.usage.model_dump()} if outcome.usage else None
    return ToolResult(blocks, structured_content=structured, meta=meta)


async def _send_progress(done: float, total: float | None, message: str) -> None:
    await get_context().report_progress(done, total, plain(message) or None)
