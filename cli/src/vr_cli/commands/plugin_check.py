"""`vr plugin check`: prints what is wrong with a plugin."""

from __future__ import annotations

import json
from collections.abc import Iterator

import click
from vr_kernel import Config, Diagnosis, Level

from vr_cli.inspection.findings import Inspection
from vr_cli.output import finding_lines, one_line
from vr_cli.process.exits import Exit


@click.command("check", short_help="Check a plugin.")
@click.argument("path")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_obj
def check(config: Config, path: str, *, as_json: bool) -> int:
    """Check a plugin: the folder of its project, or the name of an installed one.

    Nothing is installed and no tool is called, but its module is imported. Exit code 1 when the
    plugin, or a part of it, cannot be served.
    """
    from vr_cli.inspection.inspector import Inspector

    inspections = Inspector(config).inspect(path)
    if as_json:
        click.echo(json.dumps({"plugins": [_row(i) for i in inspections]}, indent=2))
    else:
        click.echo("\n\n".join("\n".join(_lines(inspection)) for inspection in inspections))
    failed = any(inspection.count(Level.FAULT) for inspection in inspections)
    return Exit.FAILURE if failed else Exit.OK


def _row(inspection: Inspection) -> dict[str, object]:
    return {
        "name": inspection.plugin,
        "distribution": inspection.distribution,
        "version": inspection.version,
        "errors": inspection.count(Level.FAULT),
        "warnings": inspection.count(Level.WARNING),
        "checks": [_check_row(*finding) for finding in inspection.findings],
    }


def _check_row(check: str, found: Diagnosis) -> dict[str, str]:
    what, fix = one_line(found.what), one_line(found.fix)
    return {"check": check, "level": _level(found), "message": what, "fix": fix}


def _level(found: Diagnosis) -> str:
    """The word for a level: to a plugin's author a fault is an error."""
    return "error" if found.level is Level.FAULT else found.level.value


def _lines(inspection: Inspection) -> Iterator[str]:
    width = max(len(check) for check, _ in inspection.findings)
    for check, found in inspection.findings:
        head = f"{_level(found):<7}  {check:<{width}}  "
        yield from finding_lines(head, found.what, found.fix)
    errors, warnings = inspection.count(Level.FAULT), inspection.count(Level.WARNING)
    name = inspection.plugin or inspection.distribution or "the project"
    yield f"{name}: {_counted(errors, 'error')}, {_counted(warnings, 'warning')}."


def _counted(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"
