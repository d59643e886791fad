"""`vr call`: any tool, with arguments as name=value."""

from __future__ import annotations

from typing import Any

import click
from vr_kernel import Config

from vr_cli.calling.calls import run_tool
from vr_cli.calling.values import named, parse_value, schema_of
from vr_cli.opening import open_kernel
from vr_cli.showing.wanted import options, taken_from


@click.command()
@click.argument("tool")
@click.argument("arguments", nargs=-1, metavar="[NAME=VALUE]...")
@click.pass_obj
def call(config: Config, /, tool: str, arguments: tuple[str, ...], **given: Any) -> int:
    """Call TOOL with arguments as NAME=VALUE; lists and objects as JSON or @file."""
    kernel = open_kernel(config)
    known = kernel.tools.get(tool)
    if known is None:
        raise kernel.unknown_tool(tool)
    values = {}
    for argument in arguments:
        name, equals, text = argument.partition("=")
        if not equals:
            raise click.UsageError(f"{argument!r} is not NAME=VALUE.")
        with named(name):
            values[name] = parse_value(schema_of(known, name), text)
    return run_tool(kernel, tool, values, taken_from(given))


call.params += options()
