"""One kernel tool as FastMCP lists and calls it."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from fastmcp.server.dependencies import get_context
from fastmcp.tools.base import Tool as McpTool
from fastmcp.tools.base import ToolResult
from mcp_types import ToolAnnotations
from pydantic import PrivateAttr
from vr_kernel import CallOptions, Effects, Kernel, Progress, Tool, VrError, visible
from vr_kernel.jobs import Job
from vr_kernel.models import Estimate
from vr_kernel.running import JobHandle, Outcome

from vr_server.asking import Asker, Nobody, WithAnotherCall, asker_of
from vr_server.blocks import block_of, encodable, plain, text_block, visible_schema
from vr_server.failures import error_result
from vr_server.identity import principal, trace_context
from vr_server.tasks.questions import TaskQuestions, follows_tasks
from vr_server.toolsets import describe

USAGE_META = "video-research/usage"
"""Key in `_meta` of a result: the cost of the call."""
DEPRECATED = "_deprecated"
"""Marks a result that was requested under a former name of its tool."""
STILL_RUNNING = "The call goes on as a job: job_result waits for its result, job_cancel ends it."
ESTIMATE = ("estimate", "estimate_only")
_SAID = {"true": True, "1": True, "false": False, "0": False, "none": False}
"""Answers to whether a call is to be estimated, also as text, as some clients send them."""
"""Arguments of paid tools that ask for the cost alone; the second is a former name."""
AGAIN_S = 1.0
"""Seconds until a call tries again to become a job while another process holds the ledger."""
TASK_AFTER_S = 1.0
"""Seconds that a client that supports tasks waits for a result before it gets a task."""


class JobResult(ToolResult):
    """The handle of a job as a result; for a client that supports tasks it becomes a task."""

    _job: Job = PrivateAttr()
    _questions: TaskQuestions | None = PrivateAttr()

    @classmethod
    def of(cls, job: Job, asker: Asker) -> JobResult:
        """Make the result of a call that goes on as a job."""
        outcome = Outcome(
            job.id, data=JobHandle.of(job).model_dump(mode="json"), notes=(STILL_RUNNING,)
        )
        told = as_tool_result(outcome)
        made = cls(content=told.content, structured_content=told.structured_content)
        made._job = job
        made._questions = asker if isinstance(asker, TaskQuestions) else None
        return made

    @property
    def job(self) -> Job:
        """The job, as it was when this result was made."""
        return self._job

    @property
    def questions(self) -> TaskQuestions | None:
        """Asks questions during the job; None when no one can be asked any more."""
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
            description=visible(describe(name, tool)),
            parameters=visible_schema(input_schema_of(tool)),
            output_schema=visible_schema(output_schema_of(tool)),
            annotations=hints_of(tool.effects),
        )
        served._kernel = kernel
        served._tool = tool
        return served

    async def run(self, arguments: dict[str, Any]) -> ToolResult:
        """Call the tool; an error becomes a result that says so."""
        if _asks_for_estimate(arguments, estimate_arguments(self._tool)):
            return await self._estimate(arguments)
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
                self._tool.name, arguments, progress.report, **_options(asker)
            )
            await progress.pass_on()
            return _answered(self._marked(outcome), asker)
        finally:
            relay.cancel()
            # Progress may fail because the client is gone; the result still counts.
            await asyncio.wait({relay})
            with suppress(asyncio.CancelledError):
                relay.exception()

    async def _estimate(self, arguments: dict[str, Any]) -> ToolResult:
        """Return the estimate of a call, which is not made."""
        asked = {"tool": self._tool.name, "arguments": arguments}
        outcome = await self._kernel.run("infra_estimate", asked, **_options(Nobody()))
        return as_tool_result(outcome)

    def _marked(self, outcome: Outcome) -> Outcome:
        """Mark an outcome that was requested under a former name."""
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
        """Return the result, or a handle if the call takes longer than clients wait."""
        kernel = self._kernel
        running = kernel.start(self._tool.name, arguments, progress.report, **_options(asker))
        wait_s = min(kernel.config.kernel.handle_after_s, most_s)
        while not await running.ends_within(wait_s):
            if not asker.waiting:  # a person may take longer than a call
                break
        else:
            return _answered(self._marked(await running.outcome()), asker)
        if not isinstance(asker, TaskQuestions):
            asker.close()
        try:
            while True:
                try:
                    return JobResult.of(await kernel.detach(running), asker)
                except VrError as error:  # without a ledger the result could not be requested later
                    asker.close()
                    if not error.retryable or await running.ends_within(AGAIN_S):
                        return as_tool_result(await running.outcome())
        except asyncio.CancelledError:
            await running.cancel()
            raise


def _options(asker: Asker) -> CallOptions:
    return {"principal": principal(), "ask": asker, "trace_context": trace_context(get_context())}


def _answered(outcome: Outcome, asker: Asker) -> ToolResult:
    if outcome.question is not None and isinstance(asker, WithAnotherCall):
        return asker.request(outcome.question)
    return as_tool_result(outcome)


def _asks_for_estimate(arguments: dict[str, Any], names: Sequence[str]) -> bool:
    """Take out the arguments that ask for an estimate; one of another kind is left, and refused."""
    asked = {name: _SAID.get(str(arguments.get(name)).lower()) for name in names}
    for name, said in asked.items():
        if said is not None:
            arguments.pop(name, None)
    return any(asked.values())


def estimate_arguments(tool: Tool) -> list[str]:
    """The arguments that ask for an estimate of a call: none where it cannot cost anything.

    An argument that the tool has itself stays its own.
    """
    own = tool.input_schema.get("properties", {})
    return [name for name in ESTIMATE if name not in own] if Effects.PAID in tool.effects else []


def input_schema_of(tool: Tool) -> dict[str, Any]:
    """Build the schema of the arguments: a paid tool can be asked for an estimate instead."""
    if ESTIMATE[0] not in estimate_arguments(tool):
        return tool.input_schema
    asked = {ESTIMATE[0]: {"type": "boolean", "description": "Only tell the cost"}}
    properties = {**tool.input_schema.get("properties", {}), **asked}
    return {**tool.input_schema, "properties": properties}


def output_schema_of(tool: Tool) -> dict[str, Any]:
    """Build the schema of an answer: the result, a handle of a long tool, an estimate of a paid."""
    definitions = dict(tool.output_schema.get("$defs", {}))
    others = []
    if tool.long:
        others.append(JobHandle.answer_schema())
    if estimate_arguments(tool):
        others.append(Estimate.answer_schema())
    if not others:
        return tool.output_schema
    for other in others:
        definitions |= other.pop("$defs", {})
    result = {key: value for key, value in tool.output_schema.items() if key != "$defs"}
    whole = {"type": "object", "anyOf": [result, *others]}
    return {**whole, "$defs": definitions} if definitions else whole


def hints_of(effects: Effects) -> ToolAnnotations:
    """Return the MCP hints of declared effects."""
    return ToolAnnotations(
        read_only_hint=Effects.READ_ONLY in effects,
        destructive_hint=Effects.DESTRUCTIVE in effects,
        idempotent_hint=Effects.IDEMPOTENT in effects,
        open_world_hint=Effects.CALLS_OUT in effects,
    )


def as_tool_result(outcome: Outcome) -> ToolResult:
    """Turn an outcome into a result: JSON as structured content and text, notes as text."""
    if outcome.error is not None:
        return error_result(outcome.error.as_dict(outcome.call_id))
    body, structured = encodable(outcome.data)
    notes = (text_block(f"Note: {note}") for note in outcome.notes)
    blocks = [text_block(body), *notes, *map(block_of, outcome.attachments)]
    meta = {USAGE_META: outcome.usage.model_dump()} if outcome.usage else None
    return ToolResult(blocks, structured_content=structured, meta=meta)


async def _send_progress(done: float, total: float | None, message: str) -> None:
    await get_context().report_progress(done, total, plain(message) or None)
