"""The names of all commands, written at each load, so that `vr --help` imports no plugin."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from vr_kernel import private_file, private_folder, visible

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from vr_kernel import Kernel, Tool

LIST = "list"
"""The second word that lists the sources of which a plugin has records."""
CommandNames = Mapping[str, Mapping[str, str]]
"""First word -> second word -> one line of help; the second word is empty for a lone command."""


def command_names(kernel: Kernel) -> dict[str, dict[str, str]]:
    """Every tool and every plugin's command, by the words that run it."""
    names: dict[str, dict[str, str]] = {}
    for tool in kernel.tools.values():
        says = visible(tool.description)
        names.setdefault(tool.domain, {})[subcommand(tool.name)] = says
        if tool.command:
            names[tool.command] = {"": says}
    for command in kernel.commands:
        first, *rest = command.path
        names.setdefault(first, {})[" ".join(rest)] = visible(command.help)
    for domain in kinds_of_domains(kernel):
        names.setdefault(domain, {}).setdefault(LIST, f"List the sources of {domain}.")
    return names


def kinds_of_domains(kernel: Kernel) -> dict[str, list[str]]:
    """The kinds of records of each plugin that has commands of its own name."""
    from vr_kernel.loading import RESERVED_DOMAINS

    domains = {tool.domain for tool in kernel.tools.values()} - RESERVED_DOMAINS
    offered = {it.name: it.offers["record kinds"] for it in kernel.plugins()}
    return {name: kinds for name, kinds in offered.items() if kinds and name in domains}


def subcommand(tool_name: str) -> str:
    """The second word of a tool's command: all after the domain, in kebab case."""
    return tool_name.partition("_")[2].replace("_", "-")


def write_index(kernel: Kernel) -> None:
    """Write the names to the cache folder; ignore a folder that cannot be written."""
    path = _path(kernel.config.paths.cache)
    text = json.dumps(command_names(kernel), indent=1, sort_keys=True)
    with suppress(OSError):
        if not path.is_file() or path.read_text("utf-8") != text:
            private_folder(path.parent)
            fresh = path.with_suffix(".part")
            private_file(fresh).write_text(text, "utf-8")
            fresh.replace(path)


def read_index(cache: Path) -> CommandNames:
    """The names in the cache folder, none before the first load."""
    try:
        names = json.loads(_path(cache).read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return names if _are_names(names) else {}


def installed_plugins() -> list[tuple[str, str]]:
    """Plugins that may have commands, each with a summary: all that is known before a load.

    A distribution `vr-NAME` offers a provider, which has no commands.
    """
    from importlib.metadata import entry_points

    from vr_kernel.loading import GROUP

    return [
        (point.name, _words_of(point))
        for point in sorted(entry_points(group=GROUP), key=lambda point: point.name)
        if point.dist is None or point.dist.name != f"vr-{point.name}"
    ]


def _words_of(point: EntryPoint) -> str:
    """The summary of a plugin's own distribution; else the first line of its module's docstring."""
    said = point.dist.metadata if point.dist else None
    if said and said["Name"] == f"vr-plugin-{point.name}":
        return said["Summary"] or "" if "Summary" in said else ""
    import ast
    from importlib.util import find_spec

    with suppress(Exception):  # a module that cannot be read is shown by its name
        package, *rest = point.module.split(".")
        spec = find_spec(package)
        assert spec is not None
        folder = (spec.submodule_search_locations or [])[0]
        text = Path(folder, *rest).with_suffix(".py").read_text("utf-8")
        return (ast.get_docstring(ast.parse(text)) or "").partition("\n")[0]
    return ""


def _are_names(value: object) -> bool:
    return isinstance(value, dict) and all(
        isinstance(commands, dict) and all(isinstance(text, str) for text in commands.values())
        for commands in value.values()
    )


def _path(cache: Path) -> Path:
    return cache / "commands.json"


def command_of(tool: Tool) -> str:
    """The command that runs a tool, such as `vr job list`."""
    return f"vr {tool.domain} {subcommand(tool.name)}"


def as_commands(tools: Mapping[str, Tool], text: str) -> str:
    """A text with the names of tools as the commands, and arguments as the options, of a person."""
    arguments = {
        name for tool in tools.values() for name in tool.input_schema.get("properties", {})
    }

    def option(found: re.Match[str]) -> str:
        value = found[2].strip("'")
        if found[1] not in arguments:
            return found[0]
        return f"--{found[1].replace('_', '-')} {'-' if value == '...' else shlex.quote(value)}"

    text = re.sub(r"\b([a-z_]+)=('[^']*'|\.\.\.)", option, text)
    names = "|".join(sorted(tools, key=len, reverse=True))
    alone = rf"`({names})`|(?<![`\w/.])({names})(?![`\w(]|\.\w)"
    return re.sub(alone, lambda found: f"`{command_of(tools[found[1] or found[2]])}`", text)
