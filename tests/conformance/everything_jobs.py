"""The long tools of the suite."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from everything_questions import Name, Said
from pydantic import BaseModel
from vr_kernel import DESTRUCTIVE, READ_ONLY, Call, Code, VrError, tool


class Consent(BaseModel):
    """Yes or no."""

    confirm: bool


@tool(effects=READ_ONLY, long=True)
async def slow_compute(call: Call, seconds: float = 1.0, label: str = "") -> Said:
    """Take some seconds."""
    del call
    await asyncio.sleep(seconds)
    return Said(text=f"{label} took {seconds} s")


@tool(effects=READ_ONLY, long=True)
async def failing_job(call: Call) -> Said:
    """Fail after a second."""
    del call
    await asyncio.sleep(1)
    raise VrError("This job fails.", Code.UNAVAILABLE)


@tool(effects=READ_ONLY, long=True)
async def protocol_error_job(call: Call) -> Said:
    """Break after a second."""
    del call
    await asyncio.sleep(1)
    raise RuntimeError("broken")


@tool(effects=DESTRUCTIVE, long=True)
async def confirm_delete(call: Call, filename: str) -> Said:
    """Delete nothing, when the user agrees."""
    answer = await call.ask(f"Delete {filename}?", Consent, default=Consent(confirm=False))
    return Said(text=f"{filename}: {answer.confirm}")


@tool(effects=READ_ONLY, long=True)
async def multi_input(call: Call) -> Said:
    """Ask two things at once."""
    first, last = await asyncio.gather(
        call.ask("First name?", Name, default=Name(name="")),
        call.ask("Last name?", Name, default=Name(name="")),
    )
    return Said(text=f"{first.name} {last.name}")


@tool(effects=READ_ONLY, long=True)
async def test_tool_with_task(call: Call) -> Said:
    """Ask for a name, then take a while."""
    answer = await call.ask("What is your name?", Name, default=Name(name=""))
    await asyncio.sleep(1)
    return Said(text=f"Hello, {answer.name}!")


TOOLS: list[Callable[..., Any]] = [
    confirm_delete,
    failing_job,
    multi_input,
    protocol_error_job,
    slow_compute,
    test_tool_with_task,
]
