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


@tool(
    effects=READ_ONLY | IDEMPOTENT,
    words="which plugins are installed; why did an extension not load; what can this server do; is"
    " an add-on missing or broken; version of a plugin; which features and tools are available;"
    " is a module active; where does this tool come from; does it support documents or speech;"
    " what is wrong with the installation; I installed something and it does not appear; was it"
    " refused at startup; optional parts; list the extensions and their versions; is speech"
    " recognition available here; what are you able to do; which parts are active or disabled;"
    " why is a tool not there; is the knowledge base plugin loaded; overview of the features;"
    " which capabilities does this installation have; can you handle YouTube here, or only local"
    " files; why can you not transcribe; did the new plugin load; which version do I have; who"
    " provides this tool; what is switched off and why; help, what is on offer here; components"
    " and modules; which integrations are enabled; plugin errors; what do you support",
)
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
