"""A kernel for the time of one command."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from vr_kernel.cli.exits import exit_code
from vr_kernel.cli.index import write_index
from vr_kernel.cli.output import ProgressLine, print_error, print_result
from vr_kernel.config import Config
from vr_kernel.kernel import Kernel
from vr_kernel.stdout_guard import diverted_stdout
from vr_kernel.tools import Tool


def open_kernel(config: Config) -> Kernel:
    """The kernel of this command: files below the current folder may be read."""
    with diverted_stdout():
        kernel = Kernel(config, roots=[Path.cwd()])
    write_index(kernel)
    return kernel


def run_tool(kernel: Kernel, name: str, arguments: Mapping[str, Any], *, as_json: bool) -> int:
    """Call a tool, print how it ended, and return the exit code."""
    line = ProgressLine()

    async def call() -> Any:
        try:
            return await kernel.run(name, arguments, line)
        finally:
            line.finish()
            await kernel.aclose()

    with diverted_stdout():
        outcome = asyncio.run(call())
    if outcome.error is not None:
        print_error(outcome.error, outcome.call_id, as_json=as_json)
        return exit_code(outcome.error)
    print_result(outcome.data, outcome.notes, as_json=as_json)
    return 0


def parse_value(tool: Tool, name: str, text: str) -> Any:
    """An argument from the command line: JSON or `@file` where the tool takes no text.

    Raises:
        click.UsageError: when it is neither.
    """
    if text.startswith("@"):
        try:
            text = Path(text[1:]).read_text("utf-8")
        except OSError as error:
            raise click.UsageError(f"{text[1:]} cannot be read: {error.strerror}") from error
    if _takes_text(tool.input_schema["properties"].get(name, {})):
        return text
    try:
        return json.loads(text)
    except ValueError:
        return text


def _takes_text(schema: Mapping[str, Any]) -> bool:
    choices = schema.get("anyOf", [schema])
    return any(choice.get("type") == "string" or "enum" in choice for choice in choices)
