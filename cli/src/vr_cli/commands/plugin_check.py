"""`vr plugin check`: what the kernel and its users would mind in a plugin."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict

import click
from vr_kernel import Config

from vr_cli.inspection.findings import Inspection, Level
from vr_cli.output import folded
from vr_cli.process.exits import Exit


@click.command("check", short_help="Check a plugin.")
@click.argument("path")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_obj
def check(config: Config, path: str, *, as_json: bool) -> int:
    """Check a plugin: the folder of its project, or the name of an installed one.

    Nothing is installed and no tool is called, but its module is imported. Exit code 1 when
    something keeps it, or a part of it, from being served.
    """
    from vr_cli.inspection.inspector import Inspector

    inspections = Inspector(config.kernel).inspect(path)
    if as_json:
        click.echo(json.dumps({"plugins": [_row(i) for i in inspections]}, indent=2))
    else:
        click.echo("\n\n".join("\n".join(_lines(inspection)) for inspection in inspections))
    failed = any(inspection.count(Level.ERROR) for inspection in inspections)
    return Exit.FAILURE if failed else Exit.OK


def _row(inspection: Inspection) -> dict[str, object]:
    return {
        "name": inspection.plugin,
        "distribution": inspection.distribution,
        "version": inspection.version,
        "errors": inspection.count(Level.ERROR),
        "warnings": inspection.count(Level.WARNING),
        "checks": [asdict(finding) for finding in inspection.findings],
    }


def _lines(inspection: Inspection) -> Iterator[str]:
    width = max(len(finding.check) for finding in inspection.findings)
    for finding in inspection.findings:
        yield from folded(f"{finding.level:<7}  {finding.check:<{width}}  ", finding.message)
        if finding.fix:
            yield from folded(f"{'':<7}  {'':<{width}}  ", f"Fix: {finding.fix}")
    errors, warnings = inspection.count(Level.ERROR), inspection.count(Level.WARNING)
    name = inspection.plugin or inspection.distribution or "the project"
    yield f"{name}: {_counted(errors, 'error')}, {_counted(warnings, 'warning')}."


def _counted(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"
