"""`vr doctor`: prints the faults of this installation, and how to mend them."""

from __future__ import annotations

import os
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from itertools import groupby
from pathlib import Path

import click
from vr_kernel import Level
from vr_kernel.text import spelled_json

from vr_cli.doctor.captured import captured
from vr_cli.doctor.check_runner import Result
from vr_cli.doctor.report import DoctorReport
from vr_cli.folding import folded
from vr_cli.output import finding_lines
from vr_cli.process.exits import Exit, end_soon
from vr_cli.process.streams import diverted_stdout

GROUP_WIDTH = len("configuration")


@click.command()
@click.option("--problems", is_flag=True, help="Show only what needs attention.")
@click.option("--full", is_flag=True, help="Say of each check what it found.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def doctor(ctx: click.Context, *, problems: bool, full: bool, as_json: bool) -> int:
    """Check this installation without the network; exit code 3 when there is a fault."""
    begun = time.monotonic()
    # Logs and plugins may write secrets that no redaction has removed.
    with captured(2), diverted_stdout():
        report = DoctorReport(ctx.find_root().params["settings"], os.environ, Path.cwd())
        try:
            results = report.results()
        finally:
            report.close()
    seconds = time.monotonic() - begun
    if as_json:
        click.echo(report_json(results, seconds, problems=problems))
    else:
        click.echo("\n".join(_report_lines(results, seconds, problems=problems, full=full)))
    faulty = any(result.level is Level.FAULT for result in results)
    code = Exit.CONFIGURATION if faulty else Exit.OK
    if not all(result.answered for result in results):
        sys.stdout.flush()
        end_soon(code)
    return code


def report_json(results: Sequence[Result], seconds: float, *, problems: bool = False) -> str:
    """The findings for programs; with `problems` without those that are fine."""
    shown = [it for it in results if not (problems and _is_fine(it))]
    found = [{**asdict(r), "seconds": round(r.seconds, 3)} for r in shown]
    count = Counter(result.level for result in results)
    counts = {"faults": count[Level.FAULT], "warnings": count[Level.WARNING]}
    return spelled_json({"checks": found, **counts, "seconds": round(seconds, 3)}, 2)


def _report_lines(
    results: Sequence[Result], seconds: float, *, problems: bool, full: bool
) -> Iterator[str]:
    """The lines of what needs attention, then the names of what is fine; in full each check."""
    if full and not problems:
        yield from _lines(results)
    else:
        yield from _lines([it for it in results if not _is_fine(it)])
        if not problems:
            yield from _fine(results)
    count = Counter(result.level for result in results)
    totals = f"faults: {count[Level.FAULT]}, warnings: {count[Level.WARNING]}"
    yield f"{len(results)} checks in {seconds:.1f} s; {totals}."


def _fine(results: Sequence[Result]) -> Iterator[str]:
    yield "fine (--full says more)"
    for group, found in groupby(results, key=lambda result: result.group):
        if names := [it.name for it in found if _is_fine(it)]:
            yield from folded(f"  {group:<{GROUP_WIDTH}}  ", ", ".join(names))


def _is_fine(result: Result) -> bool:
    return result.level is Level.OK


def _lines(results: Sequence[Result]) -> Iterator[str]:
    width = max((len(result.name) for result in results), default=0)
    for group, found in groupby(results, key=lambda result: result.group):
        yield group
        for result in found:
            head = f"  {result.level:<7}  {result.name:<{width}}  "
            yield from finding_lines(head, result.what, result.fix)
