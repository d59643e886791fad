"""A front door: `vr almanac ask QUESTION`, answered by a model that looks into the almanac."""

from __future__ import annotations

import asyncio
import json
from contextlib import AbstractAsyncContextManager
from hashlib import sha256

import click
from vr_kernel import (
    Call,
    Code,
    Config,
    Kernel,
    Text,
    ToolCall,
    ToolResult,
    ToolSpec,
    Turn,
    VrError,
)

PLUGIN = "almanac"
MOST = 8
"""Requests for one answer."""


@click.command("ask")
@click.argument("question")
@click.pass_obj
def ask(config: Config, question: str) -> None:
    """Ask about the year; the same question, asked again after a crash, pays nothing twice."""
    click.echo(asyncio.run(_ask(config, question)))


async def answer(kernel: Kernel, question: str) -> str:
    """Return a model's answer, paid for in a turn of its own; the model may call our tools.

    Raises:
        VrError: AUTH without a key; what the model raised; UNAVAILABLE without an end.
    """
    own = [it for it in kernel.tools.values() if it.plugin == PLUGIN]
    tools = [ToolSpec(it.name, it.description, it.input_schema) for it in own]
    history: list[Turn] = []
    said = Turn("user", (Text(question),))
    async with turn_of(kernel, question) as call:
        for _ in range(MOST):
            reply = await call.services.models.generate(said.parts, history=history, tools=tools)
            if not reply.calls:
                return reply.text
            history += [said, reply.turn]
            said = Turn("user", tuple([await _result_of(kernel, tools, it) for it in reply.calls]))
        raise VrError("The model came to no end.", Code.UNAVAILABLE, hint="Ask in other words.")


def turn_of(kernel: Kernel, question: str) -> AbstractAsyncContextManager[Call]:
    """Give a call for a question; a question that was interrupted finds what it paid for."""
    turn_id = sha256(question.encode("utf-8", "replace")).hexdigest()
    return kernel.turn(PLUGIN, "almanac_ask", turn_id)


async def _result_of(kernel: Kernel, tools: list[ToolSpec], call: ToolCall) -> ToolResult:
    """Make a call; whatever is wrong with it, the model reads it and can do better."""
    if call.problem or call.name not in {it.name for it in tools}:  # it may name any tool
        return ToolResult(call.id, call.problem or f"There is no tool {call.name}.", failed=True)
    outcome = await kernel.run(call.name, call.arguments)
    if outcome.error is not None:
        return ToolResult(call.id, f"{outcome.error.message} {outcome.error.hint}", failed=True)
    return ToolResult(call.id, json.dumps(outcome.data, ensure_ascii=False))


async def _ask(config: Config, question: str) -> str:
    async with Kernel.open(config) as kernel:
        return await answer(kernel, question)
