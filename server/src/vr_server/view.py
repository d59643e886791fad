"""The view of a client: which tools it is shown, and how it finds the others."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, zip_longest

from vr_kernel import Kernel, Tool

from vr_server.toolsets import ALL, CORE, choose, choose_shown, with_jobs

MOST_TOOLS = 40
"""Tools that every client shows; of more some clients cut the rest without a word."""
MOST_CORE, MOST_CORE_TOKENS = 24, 3_000
"""Core tools that are shown by default where there are more than `MOST_TOOLS`."""
BYTES_PER_TOKEN = 4
"""A rule of thumb for English and JSON, on the safe side for the descriptions of tools."""
SHOW_ALL = '`vr serve --toolsets all`, or toolsets = ["all"] in [kernel], shows all'


@dataclass(frozen=True, slots=True)
class View:
    """The tools that clients are shown, of all that there are.

    It is chosen when a server starts, since tools come and go with plugins, which are loaded then.

    Attributes:
        shown: tools by the names under which they are listed, sorted.
        search: all others are found by `tool_search`; else they are not served.
        total: number of all tools; aliases are not counted.
        by_count: chosen by the number of tools, since no setting says what is shown.
        without_room: names of core tools that are found by search alone, since the others fill
            the room of a default view.
    """

    shown: Mapping[str, Tool]
    search: bool
    total: int
    by_count: bool
    without_room: tuple[str, ...] = ()

    @property
    def is_narrowed(self) -> bool:
        """True when there are so many tools that not all are shown, without a setting."""
        return self.by_count and self.search

    @property
    def words(self) -> str:
        """One line for people and models: how many tools there are, and how to see the others."""
        if not self.is_narrowed:
            return f"Clients are shown {len(self.shown)} of {self.total} tools."
        return (
            f"There are {self.total} tools, more than the {MOST_TOOLS} that every client shows:"
            f" {len(self.shown)} are listed, the others are found by tool_search. {SHOW_ALL}."
        )


def choose_view(kernel: Kernel) -> View:
    """Choose the tools that clients of a kernel are shown.

    A setting decides: `toolsets` or `tool_search` in `[kernel]`. Without one all tools are shown up
    to 40 of them; beyond, the core tools are, and search finds the others.

    Raises:
        VrError: INVALID_INPUT, category CONFIG_INVALID, for a toolset that does not exist.
    """
    settings, tools = kernel.config.kernel, kernel.tools
    by_count = not settings.toolsets and settings.tool_search is None
    if by_count and len(tools) > MOST_TOOLS:
        shown, without_room = _core(tools)
        return View(shown, True, len(tools), by_count, without_room)
    toolsets = settings.toolsets or [ALL]
    search = bool(settings.tool_search)
    shown = choose_shown(tools, toolsets) if search else choose(tools, toolsets)
    return View(shown, search, len(tools), by_count)


def estimate_tokens(tool: Tool) -> int:
    """Estimate the tokens of a tool in a list: its name, description and input schema."""
    listed = {"name": tool.name, "description": tool.description, "inputSchema": tool.input_schema}
    return -(-len(json.dumps(listed, separators=(",", ":")).encode()) // BYTES_PER_TOKEN)


def _core(tools: Mapping[str, Tool]) -> tuple[dict[str, Tool], tuple[str, ...]]:
    """Choose core tools within the room there is; return them, and the names of the others.

    Plugins take turns, so that one which marks many tools takes no room from others.
    """
    shown: dict[str, Tool] = {}
    without_room: list[str] = []
    costs = {name: estimate_tokens(tool) for name, tool in choose(tools, [CORE]).items()}
    for tool in _in_turn(tools):
        more = with_jobs({**shown, tool.name: tool}, tools)
        if len(more) <= MOST_CORE and sum(costs[name] for name in more) <= MOST_CORE_TOKENS:
            shown = more
        else:
            without_room.append(tool.name)
    return dict(sorted(shown.items())), tuple(sorted(without_room))


def _in_turn(tools: Mapping[str, Tool]) -> Iterator[Tool]:
    """Yield the core tools: the first of each plugin by name, then the second of each."""
    by_plugin: dict[str, list[Tool]] = {}
    for _, tool in sorted(tools.items()):
        if tool.core:
            by_plugin.setdefault(tool.plugin, []).append(tool)
    turns = zip_longest(*(by_plugin[plugin] for plugin in sorted(by_plugin)))
    return filter(None, chain.from_iterable(turns))
