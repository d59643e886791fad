"""Calls a tool once for each source, and prints how each call ended."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from typing import Any

import click
from vr_kernel import Effects, Kernel, VrError, visible
from vr_kernel.running import Outcome

from vr_cli.calling.asking import terminal_asker
from vr_cli.calling.deletion import require_agreement
from vr_cli.calling.endings import with_format
from vr_cli.calling.further import limit_of, raisable, spelled
from vr_cli.calling.ids import whole_ids
from vr_cli.calling.results import limited
from vr_cli.calling.targets import prepared, require_target
from vr_cli.index import as_commands
from vr_cli.opening import at_work
from vr_cli.output import (
    ProgressLine,
    print_error,
    print_json,
    print_notes,
)
from vr_cli.process.exits import Exit, end_soon, exit_code
from vr_cli.showing.presenting import Presented, present, require_pages
from vr_cli.showing.wanted import Wanted

ESTIMATE = "infra_estimate"
"""The tool whose results estimates are."""
LOCAL = ("file_path", "directory")
"""Arguments that name a file or a folder of this machine."""
TYPED = (*LOCAL, "source", "file_paths")
"""Arguments whose paths a person may read, as they are typed by that person."""
KEPT = " Answers that were paid for are kept: the same command uses them again."


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
    estimate: bool = False,
) -> int:
    """Call a tool with the arguments of each source, one after another, and print how each ended.

    A call that fails, or whose arguments `check` refuses, does not stop the others. For several
    sources, JSON output is one object per line. With `estimate` it prints what each would cost.

    Returns:
        The highest of the exit codes.

    Raises:
        VrError: when the file or the page that is wanted cannot be made; then no call is begun.
    """
    codes, tool = [], kernel.tools[ESTIMATE if estimate else name]
    with at_work(kernel) as run:
        require_pages(kernel.services, wanted)
        target = require_target(tool, calls, wanted)
        for number, (source, arguments) in enumerate(calls.items(), 1):
            several = f"{number}/{len(calls)} {source}" if len(calls) > 1 else ""
            given = with_format(tool, arguments, target.ending) if target else arguments
            outcome = run(
                _call(kernel, name, given, check, ProgressLine(several), estimate=estimate)
            )
            outcome = limited(outcome, limit_of(tool, given))
            ready = run(prepared(kernel, tool, given, outcome, wanted, target))
            if ready is not None:
                ready.limits = raisable(tool, given)
                ready.spelled = partial(spelled, kernel, outcome.data, ready.limits)
            if several and wanted.as_json:
                codes.append(_print_line(kernel, source, outcome))
                continue
            if several:
                failed = outcome.error is not None
                click.echo(f"{_gap(number)}==> {visible(source)} <==", err=failed)
            codes.append(_print_outcome(kernel, outcome, ready, wanted))
    return max(codes)


async def _call(
    kernel: Kernel,
    name: str,
    arguments: Mapping[str, Any],
    check: Callable[[Mapping[str, Any]], None],
    line: ProgressLine,
    *,
    estimate: bool,
) -> Outcome:
    try:
        check(arguments)
        for path in typed_paths(arguments):
            with suppress(VrError):  # the tool says what is wrong with it
                kernel.services.policy.allow(path)
        tool, ask = kernel.tools[name], terminal_asker(line.finish)
        given = await whole_ids(kernel, tool, arguments)
        if estimate:
            return await kernel.preview(name, given)
        await require_agreement(kernel, tool, arguments, given, ask)
        return await kernel.run(name, given, line, ask=ask)
    except VrError as error:  # raised before the call began
        return Outcome("", error=error)
    except asyncio.CancelledError:
        kept = KEPT if Effects.PAID in kernel.tools[name].effects else ""
        end_soon(Exit.INTERRUPTED, f"Interrupted.{kept}\n")
        raise
    finally:
        line.finish()


def typed_paths(arguments: Mapping[str, Any]) -> Iterator[str]:
    """The paths that a person typed, and may read wherever they lie."""
    for name in TYPED:
        given = arguments.get(name)
        for each in given if isinstance(given, list) else [given]:
            if isinstance(each, str) and "://" not in each:
                yield each


def _gap(number: int) -> str:
    return "\n" if number > 1 else ""


def _print_line(kernel: Kernel, source: str, outcome: Outcome) -> int:
    """Print how one of several calls ended, as one line of JSON."""
    print_notes(outcome.notes, partial(spelled, kernel, outcome.data, {}))
    if outcome.error is None:
        print_json({"source": source, "result": outcome.data}, None)
        return Exit.OK
    error = outcome.error.as_dict(outcome.call_id)
    print_json({"source": source, "error": error}, None)
    print_error(outcome.error, outcome.call_id, spelled=partial(as_commands, kernel.tools))
    return exit_code(outcome.error)


def _print_outcome(
    kernel: Kernel, outcome: Outcome, ready: Presented | None, wanted: Wanted
) -> int:
    if ready is None or outcome.result is None:
        assert outcome.error is not None
        in_words = partial(as_commands, kernel.tools)
        print_error(outcome.error, outcome.call_id, as_json=wanted.as_json, spelled=in_words)
        return exit_code(outcome.error)
    return present(ready, kernel.services, wanted)
