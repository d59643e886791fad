"""`vr plugin install` and `uninstall`: shows the pip or uv command, then runs it."""

from __future__ import annotations

import importlib
import shlex
import subprocess
import sys
from collections.abc import Sequence
from importlib.metadata import EntryPoint, entry_points

import click
from vr_kernel import Code, VrError
from vr_kernel.loading import GROUP

from vr_cli.commands.plugin_list import unknown_plugin
from vr_cli.installing import PRODUCT, Environment, distribution_of
from vr_cli.process.exits import Exit

YES = click.option("--yes", is_flag=True, help="Run it without asking.")


@click.command(short_help="Install a plugin into this environment.")
@click.argument("name")
@click.option("--exact", is_flag=True, help="Take NAME as it is, without vr-plugin- before it.")
@YES
def install(name: str, *, exact: bool, yes: bool) -> int:
    """Install a plugin into the environment that this `vr` runs in, by its pip or uv.

    NAME is a plugin such as weather, which means the distribution vr-plugin-weather, or anything
    that pip takes: a requirement, a folder, a URL. The command is shown, and runs once you agree.
    """
    before = _names()
    if not _run(Environment.own().install(name if exact else distribution_of(name)), yes=yes):
        return Exit.FAILURE
    fresh = sorted(_names() - before)
    for each in fresh:
        click.echo(f"Installed: plugin {each}. What it brings: vr plugin show {each}")
    if not fresh:
        click.echo("Done; no plugin is new. What there is: vr plugin list")
    return Exit.OK


@click.command(short_help="Remove a plugin.")
@click.argument("name")
@YES
def uninstall(name: str, *, yes: bool) -> int:
    """Remove the distribution of a plugin from the environment that this `vr` runs in.

    The command is shown, and runs once you agree. What the plugin recorded stays.
    """
    points = {point.name: point for point in _points()}
    homes = {_home(point): point for point in points.values()}
    point = points.get(name) or homes.get(name)
    if point is None:
        raise unknown_plugin(name, sorted(points))
    distribution = _home(point)
    if distribution in (PRODUCT, ""):
        raise VrError(
            f"Plugin {point.name} is part of {PRODUCT} and cannot be removed by itself.",
            Code.INVALID_INPUT,
            hint=f'Turn it off: disabled = ["{point.name}"] in [kernel] of config.toml.',
        )
    if not _run(Environment.own().uninstall(distribution), yes=yes):
        return Exit.FAILURE
    click.echo(f"Removed: plugin {point.name}. What it recorded stays.")
    return Exit.OK


def _run(command: Sequence[str], *, yes: bool) -> bool:
    """Show a command and run it when the person agrees; return True when it succeeded."""
    click.echo(f"This will run:\n  {shlex.join(command)}", err=True)
    if not yes:
        if not (sys.stdin.isatty() and sys.stderr.isatty()):
            raise click.UsageError("Nothing was done: nobody can be asked here. Add --yes.")
        if not click.confirm("Run it?", err=True):
            click.echo("Nothing was done.", err=True)
            return False
    done = subprocess.run(command, check=False, stdout=sys.stderr)
    importlib.invalidate_caches()
    return done.returncode == 0


def _points() -> list[EntryPoint]:
    return list(entry_points(group=GROUP))


def _names() -> set[str]:
    return {point.name for point in _points()}


def _home(point: EntryPoint) -> str:
    return point.dist.name if point.dist else ""
