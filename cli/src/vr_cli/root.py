"""The root command: own commands at once, those of plugins when they are asked for."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from io import TextIOWrapper
from itertools import takewhile
from typing import TYPE_CHECKING, Any

import click
from vr_kernel import VERSION, Code, VrError
from vr_kernel.config import find_paths

from vr_cli.collecting import begin_late
from vr_cli.exits import Exit, exit_code
from vr_cli.index import installed_plugins, read_index
from vr_cli.lazy import imported

if TYPE_CHECKING:
    from vr_kernel import Config

OWN = {
    "call": ("vr_cli.commands.call:call", "Call a tool by its name."),
    "clean": ("vr_cli.commands.clean:clean", "Remove what can be done without."),
    "completion": ("vr_cli.commands.completion:completion", "Print a shell's completion script."),
    "config": ("vr_cli.commands.config:config", "Show settings; trust a project's."),
    "cost": ("vr_cli.commands.cost:cost", "Show what language models were used for."),
    "doctor": ("vr_cli.commands.doctor:doctor", "Find what is wrong, and how to mend it."),
    "init": ("vr_cli.commands.init:init", "Connect MCP clients, allow folders, keep a key."),
    "plugin": ("vr_cli.commands.plugin:plugin", "List, install, make and check plugins."),
    "serve": ("vr_cli.commands.serve:serve", "Serve all tools to an MCP client."),
    "store": ("vr_cli.commands.store:store", "Show how far the store is, and what it refused."),
}
WITHOUT_CONFIGURATION = ("completion", "doctor")
"""Commands that run although no configuration can be read."""


class Root(click.Group):
    """`vr`: lists names from the index and imports what is run."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Own commands and the first words of all others."""
        del ctx
        return sorted({*OWN, *_index()})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name; its code is imported here."""
        if cmd_name in OWN:
            command: click.Command = imported(OWN[cmd_name][0])
            return command
        from vr_cli.domain import domain_command

        return domain_command(ctx, cmd_name, _index().get(cmd_name, {}))

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list in `--help`, without importing what it names."""
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


def _summary(commands: Any) -> str:
    return commands[""] if "" in commands else ", ".join(sorted(commands))


def _index() -> Any:
    import os

    return read_index(find_paths(os.environ))


@click.group(
    cls=Root,
    invoke_without_command=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(VERSION, prog_name="vr")
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


def config_of(context: click.Context) -> Config:
    """The configuration of this run, read at first use and kept in the root context.

    Commands of plugins are looked up before the root command's own code runs.
    """
    root = context.find_root()
    if root.obj is None:
        root.obj = config_with(context, {})
    config: Config = root.obj
    return config


def config_with(context: click.Context, flags: Mapping[str, str]) -> Config:
    """The configuration of this run, with settings of a command's own options above it."""
    from vr_kernel import load_config

    given = context.find_root().params["settings"]
    return load_config(flags={**dict(s.partition("=")[::2] for s in given), **flags})


def run(arguments: Sequence[str] | None = None) -> int:
    """Run `vr` and return its exit code; errors are printed, never raised."""
    if isinstance(sys.stdout, TextIOWrapper):
        # A name of a file may hold what no encoding has; that must not end the output.
        sys.stdout.reconfigure(errors="replace")
    given = list(sys.argv[1:] if arguments is None else arguments) or _unasked()
    try:
        result = vr.main(given, prog_name="vr", standalone_mode=False)
    except VrError as error:
        from vr_cli.output import print_error

        print_error(error, as_json=_wants_json(given))
        return exit_code(error)
    except click.ClickException as error:
        error.show()
        if _wants_json(given):
            from vr_cli.output import print_error_json

            print_error_json(_misused(error))
        return Exit.USAGE
    except (click.Abort, KeyboardInterrupt) as stopped:
        if isinstance(stopped.__cause__, EOFError):
            # click takes any EOFError for the end of a prompt; a damaged file is none.
            raise stopped.__cause__ from None
        click.echo("Interrupted.", err=True)
        return Exit.INTERRUPTED
    except BrokenPipeError:
        sys.stderr.close()
        return Exit.FAILURE
    return result if isinstance(result, int) else Exit.OK


def _wants_json(arguments: Sequence[str]) -> bool:
    return "--json" in takewhile(lambda word: word != "--", arguments)


def _misused(error: click.ClickException) -> VrError:
    """The error of a command line that is not understood, as other failures are."""
    context = getattr(error, "ctx", None)
    command = context.command_path if context else "vr"
    return VrError(
        error.format_message(),
        Code.INVALID_INPUT,
        category="USAGE",
        hint=f"`{command} --help` says what it takes.",
    )


def _unasked() -> list[str]:
    """What a start without arguments asks for: a server, where no terminal is to read help."""
    return [] if sys.stdin is None or sys.stdin.isatty() else ["serve"]
