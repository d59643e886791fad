"""`infra_plugins`: the installed plugins and their state."""

from __future__ import annotations

from pydantic import BaseModel

from vr_kernel.call import Call
from vr_kernel.loading.discovery import PluginState
from vr_kernel.tools import IDEMPOTENT, READ_ONLY, tool

ASK_OWNER = "The owner of this server can see why."


class PluginInfo(BaseModel):
    """One installed plugin."""

    name: str
    version: str
    state: PluginState
    reason: str
    tools: list[str]


class PluginList(BaseModel):
    """Every installed plugin, loaded or not."""

    plugins: list[PluginInfo]


@tool(effects=READ_ONLY | IDEMPOTENT)
async def infra_plugins(call: Call) -> PluginList:
    """List installed plugins: state, reason, tools."""
    # A reason may quote files and settings of the machine, which only its owner may see.
    told = call.services.identity.is_owner
    return PluginList(
        plugins=[
            PluginInfo(
                name=s.name,
                version=s.version,
                state=s.state,
                reason=s.reason if told or not s.reason else ASK_OWNER,
                tools=s.tools,
            )
            for s in call.services.plugins()
        ]
    )
