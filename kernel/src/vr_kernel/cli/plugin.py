"""`vr plugin`: what is installed and what became of it; make and check a plugin of your own."""

from __future__ import annotations

import json

import click

from vr_kernel.cli.exits import Exit
from vr_kernel.cli.plugin_check import check
from vr_kernel.cli.plugin_new import new
from vr_kernel.cli.session import open_kernel
from vr_kernel.config.config import Config


@click.group()
def plugin() -> None:
    """List installed plugins; make and check one of your own."""


plugin.add_command(check)
plugin.add_command(new)


@plugin.command("list", short_help="List plugins and their tools.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_obj
def list_plugins(config: Config, *, as_json: bool) -> int:
    """List plugins with state, version and tools; exit code 1 when one could not be loaded."""
    statuses = open_kernel(config, lambda _status: None).plugins()
    if as_json:
        rows = [
            {
                "name": s.name,
                "distribution": s.distribution,
                "version": s.version,
                "state": s.state.value,
                "reason": s.reason,
                "tools": s.tools,
            }
            for s in statuses
        ]
        click.echo(json.dumps({"plugins": rows}, indent=2))
    else:
        width = max(len(s.name) for s in statuses)
        for s in statuses:
            text = s.reason or ", ".join(s.tools) or "no tools"
            click.echo(f"{s.name:<{width}}  {s.version:<8}  {s.state.value:<12}  {text}")
    return Exit.OK if all(s.fine for s in statuses) else Exit.FAILURE
