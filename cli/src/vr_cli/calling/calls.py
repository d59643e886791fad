"""Calls a tool once for each source, and prints how each call ended."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import Any

import click
from vr_kernel import Kernel, Tool, VrError, visible
from vr_kernel.running import Outcome
from vr_kernel.views import View, titled

from vr_cli.calling.asking import terminal_asker
from vr_cli.calling.deletion import require_agreement
from vr_cli.calling.ids import whole_ids
from vr_cli.calling.results import is_document, limited, print_document
from vr_cli.calling.wanted import Wanted
from vr_cli.index import as_commands
from vr_cli.output import (
    ProgressLine,
    print_error,
    print_json,
    print_notes,
    print_result,
)
from vr_cli.process.exits import Exit, end_soon, exit_code
from vr_cli.process.loops import close, run_on
from vr_cli.process.streams import diverted_stdout
from vr_cli.showing.printing import print_view

LOCAL = ("file_path", "directory")
"""Arguments that name a file or a folder of this machine."""


def run_tool(kernel: Kernel, name: str, arguments: Mapping[str, Any], wanted: Wanted) -> int:
    """Call a tool, print how it ended, and return the exit code."""
    return run_each(kernel, name, {"": arguments}, wanted)


def run_each(
    kernel: Kernel,
    name: str,
    calls: Mapping[str, Mapping[str, Any]],
    wanted: Wanted,
    *,
    check: Callable[[Mapping[str, Any]], None] = lambda _: None,
) -> int:
    """Call a tool with the arguments of each source, one after another, and print how each ended.

    A call that fails, or whose arguments `check` refuses, does not stop the others. For several
    sources, JSON output is one object per line.

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
                view = run_on(runner, _view_of(kernel, name, outcome, wanted), kernel.log)
            if several and wanted.as_json:
                codes.append(_print_line(kernel, source, outcome))
                continue
            if several:
                failed = outcome.error is not None
                click.echo(f"{_gap(number)}==> {visible(source)} <==", err=failed)
            codes.append(_print_outcome(kernel, name, outcome, view, wanted))
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
        for typed in LOCAL:  # the person may read their own file, wherever it lies
            if isinstance(arguments.get(typed), str):
                with suppress(VrError):  # the tool says what is wrong with it
                    kernel.services.policy.allow(arguments[typed])
        tool, ask = kernel.tools[name], terminal_asker(line.finish)
        given = await whole_ids(kernel, tool, arguments)
        await require_agreement(kernel, tool, arguments, given, ask)
        return await kernel.run(name, given, line, ask=ask)
    except VrError as error:  # raised before the call began
        return Outcome("", error=error)
    except asyncio.CancelledError:
        end_soon(Exit.INTERRUPTED, "Interrupted.\n")
        raise
    finally:
        line.finish()


def limit_of(tool: Tool, arguments: Mapping[str, Any]) -> object:
    """The number of results that a call shows at most; None when the tool has no such argument."""
    default = tool.input_schema.get("properties", {}).get("limit", {}).get("default")
    return arguments.get("limit", default)


def _gap(number: int) -> str:
    return "\n" if number > 1 else ""


def _print_line(kernel: Kernel, source: str, outcome: Outcome) -> int:
    """Print how one of several calls ended, as one line of JSON."""
    print_notes(outcome.notes)
    if outcome.error is None:
        print_json({"source": source, "result": outcome.data}, None)
        return Exit.OK
    error = outcome.error.as_dict(outcome.call_id)
    print_json({"source": source, "error": error}, None)
    print_error(outcome.error, outcome.call_id, spelled=partial(as_commands, kernel.tools))
    return exit_code(outcome.error)


async def _view_of(kernel: Kernel, name: str, outcome: Outcome, wanted: Wanted) -> View | None:
    """The view of a result; None for an error, for JSON, and for a document that stands alone."""
    result, tool, views = outcome.result, kernel.tools[name], kernel.services.views
    if result is None or outcome.error is not None or wanted.as_json:
        return None
    return None if is_document(tool, result, views) else await views.of_result(tool, result)


def _print_outcome(
    kernel: Kernel, name: str, outcome: Outcome, view: View | None, wanted: Wanted
) -> int:
    if outcome.error is not None:
        spelled = partial(as_commands, kernel.tools)
        print_error(outcome.error, outcome.call_id, as_json=wanted.as_json, spelled=spelled)
        return exit_code(outcome.error)
    if wanted.as_json:
        print_result(outcome.data, outcome.notes, as_json=True)
        return Exit.OK
    artifacts = kernel.services.artifacts.folder
    if view is not None:
        print_view(view, full=wanted.full, artifacts=artifacts, said=titled(name))
    elif outcome.result is not None:
        print_document(outcome.result, kernel.tools[name].printed, artifacts)
    print_notes(outcome.notes)
    return Exit.OK
