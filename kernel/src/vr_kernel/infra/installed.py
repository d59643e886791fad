"""`infra_plugins`: what is installed, and what became of it."""

from __future__ import annotations

from pydantic import BaseModel

from vr_kernel.call import Call
from vr_kernel.plugins import State
from vr_kernel.tools import IDEMPOTENT, READ_ONLY, tool


class PluginInfo(BaseModel):
    """One installed plugin."""

    name: str
    version: str
    state: State
    reason: str
    tools: list[str]


class PluginList(BaseModel):
    """Every installed plugin, loaded or not."""

    plugins: list[PluginInfo]


@tool(effects=READ_ONLY | IDEMPOTENT)
async def infra_plugins(call: Call) -> PluginList:
    """List installed plugins: state, reason, tools."""
    return PluginList(
        plugins=[
            PluginInfo(
                name=s.name, version=s.version, state=s.state, reason=s.reason, tools=s.tools
            )
            for s in call.services.plugins()
        ]
    )
