"""The store of session state is made late, and works as FastMCP's own."""

from __future__ import annotations

from typing import Any, Literal

import pytest
from fastmcp import Client, Context
from vr_server import build_server

Era = Literal["auto", "legacy"]


@pytest.mark.parametrize("era", ["auto", "legacy"])
async def test_a_session_may_still_hide_tools_and_keep_state(era: Era, start: Any) -> None:
    app = build_server(await start({}))

    @app.tool
    async def hide(context: Context) -> str:
        """Hide a tool in this session."""
        assert await context.get_state("hidden") is None
        await context.set_state("hidden", "infra_usage")
        await context.disable_components(names={"infra_usage"})
        return str(await context.get_state("hidden"))

    async with Client(app, mode=era) as client:
        before = {tool.name for tool in await client.list_tools()}
        assert (await client.call_tool("hide", {})).data == "infra_usage"
        after = {tool.name for tool in await client.list_tools()}
        assert before - after == {"infra_usage"}
        gone = await client.call_tool("infra_usage", {}, raise_on_error=False)
        assert gone.is_error
        assert "No tool 'infra_usage'" in gone.content[0].text
