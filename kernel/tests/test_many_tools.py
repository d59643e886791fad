"""More tools than any client takes: all are listed and found, and each can be called."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from pydantic import BaseModel
from vr_kernel import READ_ONLY, Call, hookimpl, tool
from vr_testing import open_kernel

TOOLS = 1_000
PATIENT = {"kernel.import_deadline_s": 60, "kernel.toolsets": ["all"]}
"""A busy machine takes longer than a plugin may."""


class Said(BaseModel):
    """The words of a tool."""

    number: int


def numbered(number: int) -> Any:
    """The tool of that number."""

    async def say(call: Call) -> Said:
        """Say a number."""
        call.log.debug("said")
        return Said(number=number)

    say.__name__ = f"many_tool_{number}"
    return tool(effects=READ_ONLY)(say)


@pytest.mark.slow
async def test_a_thousand_tools_are_served() -> None:
    tools = [numbered(number) for number in range(TOOLS)]

    @hookimpl
    def vr_tools() -> list[Any]:
        return tools

    async with (
        open_kernel({"many": SimpleNamespace(vr_tools=vr_tools)}, settings=PATIENT) as kernel,
        kernel.connect() as client,
    ):
        listed = {each.name for each in await client.client.list_tools()}
        assert {f"many_tool_{number}" for number in range(TOOLS)} <= listed
        for number in (0, TOOLS // 2, TOOLS - 1):
            assert await client.call(f"many_tool_{number}") == {"number": number}
