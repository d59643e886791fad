"""The root command: its own commands at once, those of plugins when they are needed."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from io import TextIOWrapper
from pathlib import Path

import click
from vr_kernel import VERSION
from vr_kernel.config import find_paths

from vr_cli.configuration import config_of
from vr_cli.groups import NamedGroup, imported
from vr_cli.index import CommandNames, installed_plugins, read_index
from vr_cli.own_commands import OWN, WITHOUT_CONFIGURATION
from vr_cli.process.garbage import begin_late
from vr_cli.running import PROGRAM, run_command


class Root(NamedGroup):
    """`vr`: lists names from the index and imports only the command that is run."""

    def names(self) -> Mapping[str, str]:
        """Own commands and the first words of all others, each with a line of help."""
        of_plugins = {name: _summary(commands) for name, commands in _index().items()}
        return {**of_plugins, **{name: words for name, (_, words) in OWN.items()}}

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name; its code is imported here."""
        if cmd_name in OWN:
            command: click.Command = imported(OWN[cmd_name][0])
            return command
        from vr_cli.domain import domain_command

        return domain_command(ctx, cmd_name, _index().get(cmd_name, {}))

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the lists in `--help`: own commands, then those of plugins."""
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl([(name, help_text) for name, (_, help_text) in OWN.items()])
        rows = [(name, _summary(commands)) for name, commands in sorted(_index().items())]
        title = "Commands of plugins"
        if not rows:
            title = "Plugins (their commands stand here after the first that you run)"
            rows = installed_plugins()
        with formatter.section(title):
            formatter.write_dl(rows or [("none", "is installed")])


def _summary(commands: Mapping[str, str]) -> str:
    return commands[""] if "" in commands else ", ".join(sorted(commands))


def _index() -> CommandNames:
    return read_index(find_paths(os.environ).cache)


@click.group(
    cls=Root,
    invoke_without_command=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(VERSION, prog_name=PROGRAM)
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="SECTION.KEY=VALUE",
    help="Override a setting for this run.",
)
@click.pass_context
def vr(ctx: click.Context, settings: Sequence[str]) -> None:
    """Watch videos, search what was learned, serve it all to an AI assistant."""
    del settings
    if ctx.invoked_subcommand not in WITHOUT_CONFIGURATION:
        config_of(ctx)
    begin_late()


def run(arguments: Sequence[str] | None = None) -> int:
    """Run `vr` and return its exit code; errors are printed, never raised."""
    # Before any other file is opened, which would become standard output itself.
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115 - kept to the end
    if isinstance(sys.stdout, TextIOWrapper):
        # A file name may hold characters that cannot be encoded; that must not end the output.
        sys.stdout.reconfigure(errors="replace")
    given = list(sys.argv[1:] if arguments is None else arguments) or _unasked()
    return run_command(vr, given)


def _unasked() -> list[str]:
    """The arguments of a start without any: `serve` when there is no terminal to show help on."""
    return [] if sys.stdin is None or sys.stdin.isatty() else ["serve"]
