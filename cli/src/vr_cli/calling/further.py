"""Options of a tool's command that show more of its result, and its remarks in such words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from vr_kernel import Kernel, Tool
from vr_kernel.views import MORE

from vr_cli.calling.results import NEXT
from vr_cli.index import as_commands

LIMIT, MOST = "limit", "max_"
"""The argument, and the beginning of arguments, that say how long a list may be."""


def limit_of(tool: Tool, arguments: Mapping[str, Any]) -> object:
    """The number of results that a call shows at most; None when the tool has no such argument."""
    default = tool.input_schema.get("properties", {}).get(LIMIT, {}).get("default")
    return arguments.get(LIMIT, default)


def raisable(tool: Tool, arguments: Mapping[str, Any]) -> dict[str, int]:
    """The options that let a longer list through, with the length that they had in a call."""
    found: dict[str, int] = {}
    for name, schema in tool.input_schema.get("properties", {}).items():
        length = arguments.get(name, schema.get("default"))
        if (name != LIMIT and not name.startswith(MOST)) or not isinstance(length, int):
            continue
        if length < schema.get("maximum", length + 1):
            found[f"--{name.replace('_', '-')}"] = length
    return found


def spelled(kernel: Kernel, data: Mapping[str, Any], options: Mapping[str, int], text: str) -> str:
    """A remark about a result, with tools as commands and its cursor as an option.

    Args:
        kernel: whose tools are commands.
        data: the result.
        options: those that `raisable` found.
        text: the remark.
    """
    cursor = data.get(NEXT)
    if text == MORE:
        lengths = {len(each) for each in data.values() if isinstance(each, list)}
        option = next((name for name, length in options.items() if length in lengths), "")
        way = f"{option} N" if option else f"--cursor {cursor}" if cursor else ""
        return f"{MORE[:-1]}; `{way}` shows them." if way else MORE
    if isinstance(cursor, str) and cursor:
        text = text.replace(f"cursor {cursor}", f"`--cursor {cursor}`")
    return as_commands(kernel.tools, text)
