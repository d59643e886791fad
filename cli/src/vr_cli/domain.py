"""The group of commands that share a first word, such as `vr video …`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import click

from vr_cli.groups import NamedGroup

if TYPE_CHECKING:
    from vr_cli.plugin_commands import PluginCommands


class Domain(NamedGroup):
    """Tools and commands that share a first word; plugins are loaded when a command is run.

    Args:
        name: the first word.
        names: second words, each with a line of help.
        commands: those of loaded plugins; without them plugins are loaded at first use.
    """

    def __init__(
        self, name: str, names: Mapping[str, str], commands: PluginCommands | None = None
    ) -> None:
        super().__init__(name, help=f"Commands of {name}.")
        self._names = names
        self._commands = commands

    def names(self) -> Mapping[str, str]:
        """Second words, each with a line of help."""
        return self._names

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command:
        """The command of that name.

        Raises:
            click.UsageError: when there is none, naming the nearest.
            VrError: UNAVAILABLE: the plugin of that name is not served.
        """
        from vr_cli.plugin_commands import open_commands

        self._commands = self._commands or open_commands(ctx, self.name or "")
        return self._commands.find(cmd_name)


def domain_command(context: click.Context, name: str, names: Mapping[str, str]) -> click.Command:
    """The group of a first word, or the lone command of that name; `names` are of the index.

    Raises:
        click.UsageError: when there is neither, naming the nearest.
        VrError: UNAVAILABLE: the plugin of that name is not served.
    """
    if names and "" not in names:
        return Domain(name, names)
    from vr_cli.plugin_commands import open_commands

    commands = open_commands(context, name)
    found = commands.names()
    return commands.lone() if "" in found else Domain(name, found, commands)
