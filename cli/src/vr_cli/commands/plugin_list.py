"""`vr plugin list` and `show`: installed plugins, their states, and all that they offer."""

from __future__ import annotations

import json
import shutil
import textwrap
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, distribution
from typing import Any

import click
from vr_kernel import Code, Config, Kernel, VrError, did_you_mean, visible
from vr_kernel.loading import PluginStatus

from vr_cli.opening import open_kernel
from vr_cli.process.exits import Exit
from vr_cli.process.loops import run_alone
from vr_cli.process.streams import diverted_stdout


@click.command("list", short_help="List plugins and what each brings.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_obj
def list_plugins(config: Config, *, as_json: bool) -> int:
    """List plugins with state, version and all that each offers.

    Exit code 1 when one could not be loaded.
    """
    statuses = _statuses(config)
    if as_json:
        click.echo(json.dumps({"plugins": [_row(status) for status in statuses]}, indent=2))
    else:
        width = max(len(status.name) for status in statuses)
        for status in statuses:
            click.echo("\n".join(_lines(status, width)))
    return Exit.OK if all(status.fine for status in statuses) else Exit.FAILURE


@click.command("show", short_help="Show all that is known of a plugin.")
@click.argument("name")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_obj
def show(config: Config, name: str, *, as_json: bool) -> int:
    """Show a plugin: its state, distribution, where it is from, and all that it offers.

    Exit code 1 when it could not be loaded.
    """
    statuses = _statuses(config)
    found = [status for status in statuses if name in (status.name, status.distribution)]
    if not found:
        raise unknown_plugin(name, [status.name for status in statuses])
    if as_json:
        click.echo(json.dumps({"plugins": [_row(s) | _origin(s) for s in found]}, indent=2))
    else:
        for status in found:
            click.echo("\n".join(_lines(status, len(status.name))))
            for what, text in _origin(status).items():
                if text:
                    click.echo(_wrapped(what, visible(text)))
    return Exit.OK if all(status.fine for status in found) else Exit.FAILURE


def _statuses(config: Config) -> tuple[PluginStatus, ...]:
    """The states of all plugins, once their lifespans have begun and ended."""
    kernel = open_kernel(config, lambda _status: None)
    if kernel.has_lifespans:
        with diverted_stdout():
            run_alone(_begun(kernel), kernel.log)
    return kernel.plugins()


async def _begun(kernel: Kernel) -> None:
    try:
        await kernel.begin()
    finally:
        await kernel.aclose()


def unknown_plugin(name: str, known: list[str]) -> VrError:
    """The error for a name that no installed plugin has, with the nearest name that one has."""
    hint = f"{did_you_mean(name, known)}All are named by `vr plugin list`."
    return VrError(f"No plugin {name!r} is installed.", Code.NOT_FOUND, hint=hint)


def _row(status: PluginStatus) -> dict[str, Any]:
    return {
        "name": status.name,
        "distribution": status.distribution,
        "version": status.version,
        "state": status.state.value,
        "reason": status.reason,
        **{what.replace(" ", "_"): names for what, names in status.offers.items()},
    }


def _lines(status: PluginStatus, width: int) -> Iterator[str]:
    yield f"{status.name:<{width}}  {status.version:<8}  {status.state.value}"
    if status.reason:
        yield _wrapped("reason", visible(status.reason))
    for what, names in status.offers.items():
        if names:
            yield _wrapped(what, ", ".join(names))


def _wrapped(what: str, text: str) -> str:
    width = shutil.get_terminal_size().columns
    return textwrap.fill(
        f"{what}: {text}",
        max(width, 40),
        initial_indent="  ",
        subsequent_indent="    ",
        break_long_words=False,
        break_on_hyphens=False,
    )


def _origin(status: PluginStatus) -> dict[str, str]:
    """The summary and licence of its distribution, and the folder that it is installed in."""
    try:
        home = distribution(status.distribution)
    except (PackageNotFoundError, ValueError):
        return {}
    said = home.metadata.json
    return {
        "distribution": status.distribution,
        "summary": str(said.get("summary", "")),
        "licence": str(said.get("license_expression", "")),
        "folder": str(home.locate_file("")),
    }
