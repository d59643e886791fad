"""Groups of commands whose code is imported when one of them runs."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any, ClassVar

import click
from click.shell_completion import CompletionItem
from vr_kernel import did_you_mean

Targets = Mapping[str, tuple[str, str]]
"""Name -> `module:attribute` of the command, and one line of help."""


class NamedGroup(click.Group):
    """Lists and completes the names of its commands without importing their code."""

    def names(self) -> Mapping[str, str]:
        """Each name with a line of help; a group of this class itself has none."""
        return {}

    def list_commands(self, ctx: click.Context) -> list[str]:
        """All names, sorted."""
        del ctx
        return sorted(self.names())

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list in `--help`."""
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl(sorted(self.names().items()))

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Names and options that begin so."""
        names = [
            CompletionItem(name, help=" ".join(text.split()))
            for name, text in sorted(self.names().items())
            if name.startswith(incomplete)
        ]
        return [*names, *click.Command.shell_complete(self, ctx, incomplete)]


class LazyGroup(NamedGroup):
    """A group whose commands are named by their places in the code."""

    targets: ClassVar[Targets] = {}

    def names(self) -> Mapping[str, str]:
        """Each name with a line of help."""
        return {name: words for name, (_, words) in self.targets.items()}

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name; its code is imported here."""
        del ctx
        if cmd_name not in self.targets:
            return None
        command: click.Command = imported(self.targets[cmd_name][0])
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that is run, and its arguments.

        Raises:
            click.UsageError: when there is none of that name, naming the nearest.
        """
        if args[0] not in self.targets and not args[0].startswith("-"):
            near = did_you_mean(args[0], self.targets)
            raise click.UsageError(f"No such command {args[0]!r}. {near}".strip(), ctx)
        return super().resolve_command(ctx, args)


def imported(target: str) -> Any:
    """The object that `module:attribute` names."""
    module, _, attribute = target.partition(":")
    return getattr(import_module(module), attribute)
