"""Write docs/reference/commands.md from the commands of `vr`."""

from __future__ import annotations

from collections.abc import Iterator

import click
from generated_page import cell, fresh_config, publish
from vr_cli.groups import imported
from vr_cli.index import command_names
from vr_cli.own_commands import OWN
from vr_cli.process.exits import Exit
from vr_cli.root import vr
from vr_kernel import Kernel

FIRST_PARTY = "infra,content,video,search,research,knowledge,demo"
HEAD = """# Commands

Generated from the commands themselves by `python scripts/command_reference.py`; a test fails when
this page differs from them. `--help` of each says the same.
"""


def render() -> str:
    """The whole page."""
    with fresh_config(FIRST_PARTY) as config:
        kernel = Kernel(config)
    root = click.Context(vr, info_name="vr")
    lines = [HEAD, *_entry(root), *_exit_codes()]
    for name, (target, _) in OWN.items():
        lines += _tree(imported(target), name, root)
    for command in sorted(kernel.commands, key=lambda command: command.path):
        lines += _tree(imported(command.target), " ".join(command.path), root)
    return "\n".join([*lines, *_tools(kernel)])


def _tree(command: click.Command, name: str, parent: click.Context) -> Iterator[str]:
    """A command, and those below it."""
    context = click.Context(command, info_name=name, parent=parent)
    if not isinstance(command, click.Group):
        yield from _entry(context)
        return
    for below in command.list_commands(context):
        found = command.get_command(context, below)
        if found is not None and not found.hidden:
            yield from _tree(found, below, context)


def _entry(context: click.Context) -> Iterator[str]:
    command = context.command
    usage = " ".join([context.command_path, *command.collect_usage_pieces(context)])
    yield f"## {context.command_path}\n"
    yield f"{' '.join((command.help or '').split())}\n"
    yield f"```text\n{usage}\n```\n"
    options = [option for option in command.params if isinstance(option, click.Option)]
    records = [option.get_help_record(context) for option in options]
    if rows := [f"| `{cell(record[0])}` | {cell(record[1])} |" for record in records if record]:
        yield "\n".join(["| option | |", "|---|---|", *rows, ""])


def _exit_codes() -> Iterator[str]:
    codes = ", ".join(f"{code.value} {code.name.lower()}" for code in Exit)
    yield f"Exit codes of every command: {codes}.\n"


def _tools(kernel: Kernel) -> Iterator[str]:
    yield "## Tools\n"
    yield "Every tool is a command. `vr video analyze --help` shows its arguments as options; the"
    yield "[tool reference](tools.md) describes them. Objects are given as JSON or as `@file`.\n"
    yield "| command | |\n|---|---|"
    of_tools = {tool.name: tool.description for tool in kernel.tools.values()}
    for first, seconds in sorted(command_names(kernel).items()):
        for second, text in sorted(seconds.items()):
            tool = f"{first}_{second.replace('-', '_')}"
            if tool in of_tools:
                yield f"| [`vr {first} {second}`](tools.md#{tool}) | {cell(text)} |"
    yield ""


if __name__ == "__main__":
    publish("commands.md", render)
