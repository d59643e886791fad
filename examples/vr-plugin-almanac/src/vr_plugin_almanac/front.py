"""A front door: `vr almanac ask QUESTION`."""

from __future__ import annotations

import asyncio
from contextlib import AbstractAsyncContextManager
from hashlib import sha256

import click
from vr_kernel import Call, Config, Kernel


@click.command("ask")
@click.argument("question")
@click.pass_obj
def ask(config: Config, question: str) -> None:
    """Ask about the year; the same question, asked again after a crash, pays nothing twice."""
    click.echo(asyncio.run(_ask(config, question)))


async def answer(kernel: Kernel, question: str) -> str:
    """Return a model's answer, paid for in a turn of its own.

    Raises:
        VrError: AUTH without a key; what the model raised.
    """
    async with turn_of(kernel, question) as call:
        reply = await call.services.models.generate(question)
    return reply.text


def turn_of(kernel: Kernel, question: str) -> AbstractAsyncContextManager[Call]:
    """Give a call for a question; a question that was interrupted finds what it paid for."""
    turn_id = sha256(question.encode("utf-8", "replace")).hexdigest()
    return kernel.turn("almanac", "almanac_ask", turn_id)


async def _ask(config: Config, question: str) -> str:
    async with Kernel.open(config) as kernel:
        return await answer(kernel, question)
