"""Toolsets, which choose the tools that a client is shown: by plugin, core, or all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from vr_kernel import Prompt, Tool, did_you_mean
from vr_kernel.config import config_error

ALL, CORE, COMPAT = "all", "core", "compat"
JOBS = "job"
"""The domain of the tools that a client needs with any long tool."""


def choose(tools: Mapping[str, Tool], toolsets: Sequence[str]) -> dict[str, Tool]:
    """Return the tools of some toolsets by the names under which they are shown, sorted.

    `all` is every tool; `core` the tools marked as core; `compat` names of tools in other systems;
    the name of a plugin, or the first word of tools, selects these.

    Raises:
        VrError: INVALID_INPUT, category CONFIG_INVALID, for a toolset that does not exist.
    """
    known = {ALL, CORE, COMPAT, *(t.plugin for t in tools.values()), *_domains(tools)}
    for name in toolsets:
        if name not in known:
            raise config_error(
                f"There is no toolset {name!r}.",
                f"{did_you_mean(name, known)}Toolsets: {', '.join(sorted(known))}.",
            )
    shown = {name: tool for name, tool in tools.items() if _is_of(tool, toolsets)}
    shown = with_jobs(shown, tools)
    if COMPAT in toolsets:
        shown |= {
            alias: tool for tool in tools.values() for alias in tool.aliases if alias not in tools
        }
    return dict(sorted(shown.items()))


def choose_prompts(prompts: Mapping[str, Prompt], toolsets: Sequence[str]) -> dict[str, Prompt]:
    """Return all prompts by name, and in the toolset `compat` by their aliases, too."""
    if COMPAT not in toolsets:
        return dict(prompts)
    aliases = {alias: prompt for prompt in prompts.values() for alias in prompt.aliases}
    return {**aliases, **prompts}


def describe(name: str, offered: Tool | Prompt) -> str:
    """Describe what is offered under a name; an alias leads to the name of its own."""
    former = "" if name == offered.name else f"Deprecated: use {offered.name}. "
    return former + offered.description


def with_jobs(shown: Mapping[str, Tool], tools: Mapping[str, Tool]) -> dict[str, Tool]:
    """Return some tools, and the tools of jobs if one of them may take long."""
    if not any(tool.long for tool in shown.values()):
        return dict(shown)
    return {**shown, **{name: tool for name, tool in tools.items() if tool.domain == JOBS}}


def choose_shown(tools: Mapping[str, Tool], toolsets: Sequence[str]) -> dict[str, Tool]:
    """Return the tools that search mode shows directly: those of toolsets other than `all`."""
    return {} if ALL in toolsets else choose(tools, toolsets)


def _is_of(tool: Tool, toolsets: Sequence[str]) -> bool:
    named = {ALL, tool.plugin, tool.domain}
    return bool(named & {*toolsets}) or (CORE in toolsets and tool.core)


def _domains(tools: Mapping[str, Tool]) -> set[str]:
    return {tool.domain for tool in tools.values()}
