"""The commands below a plugin's first word, such as `vr video …`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property

import click

from vr_kernel.cli.index import command_names, subcommand
from vr_kernel.cli.root import OWN, config_of, imported
from vr_kernel.cli.session import open_kernel
from vr_kernel.cli.tool_command import tool_command
from vr_kernel.commands import Command
from vr_kernel.errors import Code, VrError, did_you_mean
from vr_kernel.kernel import Kernel
from vr_kernel.plugins import explain


class Domain(click.Group):
    """Tools and commands that share a first word; plugins are loaded when one is run."""

    def __init__(self, name: str, names: Mapping[str, str], context: click.Context) -> None:
        super().__init__(name, help=f"Commands of {name}.")
        self._names = names
        self._context = context

    @cached_property
    def kernel(self) -> Kernel:
        """The kernel, loaded at first use."""
        return open_kernel(config_of(self._context))

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Second words, from the index when it has them."""
        del ctx
        return sorted(self._names or command_names(self.kernel).get(self.name or "", {}))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command:
        """The command of that name.

        Raises:
            click.UsageError: when there is none, naming the nearest.
        """
        del ctx
        for tool in self.kernel.tools.values():
            if tool.domain == self.name and subcommand(tool.name) == cmd_name:
                return tool_command(self.kernel, tool)
        for command in self.kernel.commands:
            if command.path == (self.name, cmd_name):
                return _code_of(command)
        raise _unknown(cmd_name, command_names(self.kernel).get(self.name or "", {}))

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list in `--help`, from the index when it has it."""
        del ctx
        names = self._names or command_names(self.kernel).get(self.name or "", {})
        with formatter.section("Commands"):
            formatter.write_dl(sorted(names.items()))


def domain_command(context: click.Context, name: str, names: Mapping[str, str]) -> click.Command:
    """The group of a first word, or the lone command of that name."""
    if names and "" not in names:
        return Domain(name, names, context)
    kernel = open_kernel(config_of(context))
    found = command_names(kernel)
    if "" in found.get(name, {}):
        return _code_of(next(c for c in kernel.commands if c.path == (name,)))
    if name in found:
        return Domain(name, found[name], context)
    words = [f"{first} {second}" for first, seconds in found.items() for second in seconds]
    spaced = name.replace("-", " ").replace("_", " ")
    raise _unknown(name, [*OWN, *found, *words], spaced)


def _code_of(command: Command) -> click.Command:
    try:
        code = imported(command.target)
    except Exception as error:
        raise _unusable(command, explain(error)) from error
    if not isinstance(code, click.Command):
        raise _unusable(command, f"{command.target} is no click command")
    return code


def _unusable(command: Command, reason: str) -> VrError:
    words = " ".join(command.path)
    message = f"The code of `vr {words}` cannot be used: {reason}."
    return VrError(message, Code.INTERNAL, hint="Report it to the plugin.")


def _unknown(name: str, known: Iterable[str], sought: str = "") -> click.UsageError:
    near = did_you_mean(sought or name, known)
    return click.UsageError(f"No such command {name!r}. {near}".strip())
