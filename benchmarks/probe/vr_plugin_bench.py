"""The floor's trivial tool as a plugin's tool."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from pydantic import BaseModel
from vr_kernel import READ_ONLY, Call, hookimpl, tool


class Sum(BaseModel):
    """What two numbers add up to."""

    value: int


@tool(effects=READ_ONLY)
async def bench_add(call: Call, a: int, b: int) -> Sum:
    """Add two numbers."""
    del call
    return Sum(value=a + b)


@hookimpl
def vr_tools() -> list[Callable[..., Awaitable[BaseModel]]]:
    """The one tool."""
    return [bench_add]
