"""Every tool as a command, made from its schema."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import click

from vr_kernel.cli.session import parse_items, parse_value, run_tool, schema_of
from vr_kernel.kernel import Kernel
from vr_kernel.tools import Tool

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
_LOCAL = ("file_path", "directory")
"""Arguments that a source without a scheme fills, beside `url`."""


def tool_command(kernel: Kernel, tool: Tool) -> click.Command:
    """The command of a tool: its arguments as options, and one positional for the main one."""
    schemas = {name: schema_of(tool, name) for name in tool.input_schema.get("properties", {})}
    main = positional(tool)

    def invoke(*, as_json: bool, main_value: str | None = None, **given: Any) -> int:
        arguments = {
            name: _converted(schemas[name], value)
            for name, value in given.items()
            if value is not None and value != ()
        }
        if main_value is not None and main is not None:
            slot = _slot(tool, main, main_value)
            if slot in arguments:
                raise click.UsageError(f"Give {main.upper()} or {_flag(slot)}, not both.")
            arguments[slot] = parse_value(schemas[slot], main_value)
        return run_tool(kernel, tool.name, arguments, as_json=as_json)

    parameters: list[click.Parameter] = [_option(n, s) for n, s in schemas.items()]
    parameters.append(click.Option(["--json", "as_json"], is_flag=True, help="Print JSON."))
    if main:
        parameters.insert(0, click.Argument(["main_value"], required=False, metavar=main.upper()))
    return click.Command(None, params=parameters, callback=invoke, help=tool.description)


def positional(tool: Tool) -> str | None:
    """What the positional argument stands for: `source`, or the first required parameter."""
    properties = tool.input_schema.get("properties", {})
    if "url" in properties and not properties.keys().isdisjoint(_LOCAL):
        return "source"
    required: list[str] = tool.input_schema.get("required", [])
    return next((name for name in properties if name in required), None)


def _slot(tool: Tool, main: str, value: str) -> str:
    if main != "source":
        return main
    local = next(name for name in _LOCAL if name in tool.input_schema["properties"])
    return "url" if _SCHEME.match(value) else local


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _option(name: str, schema: Mapping[str, Any]) -> click.Option:
    declaration = _flag(name)
    default = schema.get("default")
    help_text = schema.get("description", "")
    if default not in (None, "", [], {}):
        help_text = f"{help_text} [default: {default}]".strip()
    if schema.get("type") == "boolean":
        return click.Option(
            [f"{declaration}/--no-{declaration[2:]}", name], default=None, help=help_text
        )
    if "enum" in schema:
        kind: Any = click.Choice([str(choice) for choice in schema["enum"]])
        return click.Option([declaration, name], type=kind, help=help_text)
    metavar = {"integer": "N", "number": "N", "object": "JSON", "array": "VALUE"}
    return click.Option(
        [declaration, name],
        multiple=schema.get("type") == "array",
        metavar=metavar.get(schema.get("type", ""), "TEXT"),
        help=help_text,
    )


def _converted(schema: Mapping[str, Any], value: Any) -> Any:
    if isinstance(value, tuple):
        return parse_items(schema, value)
    return parse_value(schema, value) if isinstance(value, str) else value
