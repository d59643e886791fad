"""A kernel for the time of one command."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import click
from vr_kernel import Config, Kernel, Tool, VrError, visible
from vr_kernel.loading import PluginStatus
from vr_kernel.running import Outcome
from vr_kernel.signatures import ToolSchemas

from vr_cli.asking import terminal_asker
from vr_cli.collecting import uncollected
from vr_cli.deletion import require_agreement
from vr_cli.exits import Exit, end_soon, exit_code
from vr_cli.ids import whole_ids
from vr_cli.index import as_commands, write_index
from vr_cli.loops import close, run_on
from vr_cli.output import (
    ProgressLine,
    print_broken,
    print_error,
    print_json,
    print_notes,
    print_result,
)
from vr_cli.results import limited, print_readable
from vr_cli.streams import diverted_stdout

Tell = Callable[[PluginStatus], None]
LOCAL = ("file_path", "directory")
"""Arguments that name a file or a folder of this machine."""


def open_kernel(config: Config, tell: Tell = print_broken) -> Kernel:
    """The kernel of this command: files below the current folder may be read.

    `tell` takes each plugin that is not served whole; it is said in a sentence on stderr.
    """
    schemas = ToolSchemas(config.paths.cache / "schemas.json")
    with diverted_stdout(), uncollected():
        kernel = Kernel(config, roots=[Path.cwd()], schemas=schemas, tell=tell)
    schemas.save()
    write_index(kernel)
    return kernel


def run_tool(kernel: Kernel, name: str, arguments: Mapping[str, Any], *, as_json: bool) -> int:
    """Call a tool, print how it ended, and return the exit code."""
    return run_each(kernel, name, {"": arguments}, as_json=as_json)


def run_each(
    kernel: Kernel,
    name: str,
    calls: Mapping[str, Mapping[str, Any]],
    *,
    as_json: bool,
    check: Callable[[Mapping[str, Any]], None] = lambda _: None,
) -> int:
    """Call a tool with the arguments of each source, one after another, and print how each ended.

    A call that fails ends none of the others, nor does one whose arguments `check` refuses.
    Of several sources JSON is one object a line.

    Returns:
        The highest of the exit codes.
    """
    codes = []
    runner = asyncio.Runner()
    try:
        for number, (source, arguments) in enumerate(calls.items(), 1):
            several = f"{number}/{len(calls)} {source}" if len(calls) > 1 else ""
            line = ProgressLine(several)
            with diverted_stdout():
                calling = _call(kernel, name, arguments, check, line)
                outcome = run_on(runner, calling, kernel.log)
            outcome = limited(outcome, limit_of(kernel.tools[name], arguments))
            if several and as_json:
                codes.append(_print_line(kernel, source, outcome))
                continue
            if several:
                failed = outcome.error is not None
                click.echo(f"{_gap(number)}==> {visible(source)} <==", err=failed)
            codes.append(_print_outcome(kernel, name, outcome, as_json=as_json))
    finally:
        with diverted_stdout():
            try:
                run_on(runner, kernel.aclose(), kernel.log)
            finally:
                close(runner, kernel.log)
    return max(codes)


async def _call(
    kernel: Kernel,
    name: str,
    arguments: Mapping[str, Any],
    check: Callable[[Mapping[str, Any]], None],
    line: ProgressLine,
) -> Outcome:
    try:
        check(arguments)
        for typed in LOCAL:  # the person's own to read, wherever it lies
            if isinstance(arguments.get(typed), str):
                with suppress(VrError):  # the tool says what is wrong with it
                    kernel.services.policy.allow(arguments[typed])
        tool, ask = kernel.tools[name], terminal_asker(line.finish)
        given = await whole_ids(kernel, tool, arguments)
        await require_agreement(kernel, tool, arguments, given, ask)
        return await kernel.run(name, given, line, ask=ask)
    except VrError as error:  # before the call
        return Outcome("", error=error)
    except asyncio.CancelledError:
        end_soon(Exit.INTERRUPTED, "Interrupted.\n")
        raise
    finally:
        line.finish()


def limit_of(tool: Tool, arguments: Mapping[str, Any]) -> object:
    """How many results a call is to show; None when the tool has no such argument."""
    default = tool.input_schema.get("properties", {}).get("limit", {}).get("default")
    return arguments.get("limit", default)


def _gap(number: int) -> str:
    return "\n" if number > 1 else ""


def _print_line(kernel: Kernel, source: str, outcome: Outcome) -> int:
    """Print how one of several calls ended, as JSON on a line."""
    print_notes(outcome.notes)
    if outcome.error is None:
        print_json({"source": source, "result": outcome.data}, None)
        return Exit.OK
    error = outcome.error.as_dict(outcome.call_id)
    print_json({"source": source, "error": error}, None)
    print_error(outcome.error, outcome.call_id, spelled=partial(as_commands, kernel.tools))
    return exit_code(outcome.error)


def _print_outcome(kernel: Kernel, name: str, outcome: Outcome, *, as_json: bool) -> int:
    if outcome.error is not None:
        spelled = partial(as_commands, kernel.tools)
        print_error(outcome.error, outcome.call_id, as_json=as_json, spelled=spelled)
        return exit_code(outcome.error)
    if as_json:
        print_result(outcome.data, outcome.notes, as_json=True)
    else:
        assert outcome.result is not None
        print_readable(outcome.result, kernel.tools[name].printed, kernel.services.artifacts.folder)
        print_notes(outcome.notes)
    return Exit.OK


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
