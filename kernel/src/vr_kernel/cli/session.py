"""A kernel for the time of one command."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from vr_kernel.cli.asking import terminal_asker
from vr_kernel.cli.exits import Exit, end_soon, exit_code
from vr_kernel.cli.index import write_index
from vr_kernel.cli.output import ProgressLine, print_broken, print_error, print_notes, print_result
from vr_kernel.cli.results import print_readable
from vr_kernel.config.config import Config
from vr_kernel.kernel import Kernel
from vr_kernel.plugins import PluginStatus
from vr_kernel.stdout_guard import diverted_stdout
from vr_kernel.tools import Tool

Tell = Callable[[PluginStatus], None]


def open_kernel(config: Config, tell: Tell = print_broken) -> Kernel:
    """The kernel of this command: files below the current folder may be read.

    `tell` takes each plugin that is not served whole; it is said in a sentence on stderr.
    """
    with diverted_stdout():
        kernel = Kernel(config, roots=[Path.cwd()], tell=tell)
    write_index(kernel)
    return kernel


def run_tool(kernel: Kernel, name: str, arguments: Mapping[str, Any], *, as_json: bool) -> int:
    """Call a tool, print how it ended, and return the exit code."""
    line = ProgressLine()

    async def call() -> Any:
        try:
            return await kernel.run(name, arguments, line, ask=terminal_asker(line.finish))
        except asyncio.CancelledError:
            end_soon(Exit.INTERRUPTED, "Interrupted.\n")
            raise
        finally:
            line.finish()
            await kernel.aclose()

    with diverted_stdout():
        outcome = asyncio.run(call())
    if outcome.error is not None:
        print_error(outcome.error, outcome.call_id, as_json=as_json)
        return exit_code(outcome.error)
    if as_json:
        print_result(outcome.data, outcome.notes, as_json=True)
    else:
        assert outcome.result is not None
        print_readable(outcome.result, kernel.tools[name].printed, kernel.artifacts.folder)
        print_notes(outcome.notes)
    return 0


def schema_of(tool: Tool, name: str) -> Mapping[str, Any]:
    """The schema of an argument, and of its items, without references; empty when unknown."""
    found = _resolved(tool, tool.input_schema.get("properties", {}).get(name, {}))
    return {**found, "items": _resolved(tool, found["items"])} if "items" in found else found


@contextmanager
def named(argument: str) -> Iterator[None]:
    """Let what is wrong with a value say whose value it is."""
    try:
        yield
    except click.BadParameter as error:
        error.param_hint = argument
        raise


def parse_value(schema: Mapping[str, Any], text: str) -> Any:
    """An argument from the command line: JSON or `@file` where the tool takes no text.

    Raises:
        click.BadParameter: when the file cannot be read, or a list or an object is no JSON.
    """
    if _takes_text(schema):
        return text
    if schema.get("type") == "array":
        return parse_items(schema, [text])
    return _parse_json(text)


def parse_items(schema: Mapping[str, Any], texts: Sequence[str]) -> list[Any]:
    """The items of a list: each by itself, or all of them as one JSON list."""
    items = schema.get("items", {})
    first = texts[0] if len(texts) == 1 else ""
    if first.startswith("[") or (first.startswith("@") and not _takes_text(items)):
        whole = _parse_json(first)
        if isinstance(whole, list):
            return whole
    return [parse_value(items, text) for text in texts]


def _parse_json(text: str) -> Any:
    where = f"What {text[1:]} holds" if text.startswith("@") else "It"
    if text.startswith("@"):
        try:
            text = Path(text[1:]).read_text("utf-8")
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise click.BadParameter(f"{text[1:]} cannot be read: {reason}") from error
    try:
        return json.loads(text)
    except ValueError as error:
        if text.lstrip().startswith(("{", "[")):
            raise click.BadParameter(f"{where} is not valid JSON: {error}.") from error
        return text


def _resolved(tool: Tool, schema: Mapping[str, Any]) -> Mapping[str, Any]:
    name = schema.get("$ref", "").rpartition("/")[2]
    return {**tool.input_schema.get("$defs", {}).get(name, {}), **schema}


def _takes_text(schema: Mapping[str, Any]) -> bool:
    return any(choice.get("type") == "string" for choice in schema.get("anyOf", [schema]))
