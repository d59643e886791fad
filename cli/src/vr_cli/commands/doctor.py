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
from vr_cli.output import finding_lines
from vr_cli.process.exits import Exit, end_soon
from vr_cli.process.streams import diverted_stdout


@click.command()
@click.option("--problems", is_flag=True, help="Show only what needs attention.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def doctor(ctx: click.Context, *, problems: bool, as_json: bool) -> int:
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
    click.echo(printed(results, seconds, as_json=as_json, problems=problems))
    faulty = any(result.level is Level.FAULT for result in results)
    code = Exit.CONFIGURATION if faulty else Exit.OK
    if not all(result.answered for result in results):
        sys.stdout.flush()
        end_soon(code)
    return code


def printed(
    results: Sequence[Result], seconds: float, *, as_json: bool, problems: bool = False
) -> str:
    """The findings as text or JSON; with `problems` without those that are fine."""
    count = Counter(result.level for result in results)
    shown = [it for it in results if not problems or it.level is not Level.OK]
    if as_json:
        found = [{**asdict(r), "seconds": round(r.seconds, 3)} for r in shown]
        counts = {"faults": count[Level.FAULT], "warnings": count[Level.WARNING]}
        return spelled_json({"checks": found, **counts, "seconds": round(seconds, 3)}, 2)
    totals = f"faults: {count[Level.FAULT]}, warnings: {count[Level.WARNING]}"
    return "\n".join([*_lines(shown), f"{len(results)} checks in {seconds:.1f} s; {totals}."])


def _lines(results: Sequence[Result]) -> Iterator[str]:
    width = max((len(result.name) for result in results), default=0)
    for group, found in groupby(results, key=lambda result: result.group):
        yield group
        for result in found:
            head = f"  {result.level:<7}  {result.name:<{width}}  "
            yield from finding_lines(head, result.what, result.fix)
