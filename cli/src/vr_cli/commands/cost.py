"""`vr cost`: prints the usage of language models."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

import click
from vr_kernel import Config, VrError, visible
from vr_kernel.models import Grouping, UsageReport, UsageRow, money, read_usage

from vr_cli.output import print_json, print_notes

HEADINGS = {
    "calls": "calls",
    "attempts": "attempts",
    "input_tokens": "in",
    "output_tokens": "out",
    "thinking_tokens": "thinking",
    "cached_tokens": "cached",
    "media_seconds": "media s",
    "maybe_paid": "maybe paid",
}
"""Fields of a row, each with the heading of its column; those that are 0 for all are left out."""
ALWAYS = frozenset({"calls", "attempts", "input_tokens", "output_tokens"})
UNPRICED = "≥ is without calls whose price is not known: set [models.prices] for them."


@click.command()
@click.option(
    "--by",
    type=click.Choice(["tool", "day", "model", "plugin", "provider", "principal"]),
    default="tool",
    show_default=True,
    help="What to sum together; days are UTC.",
)
@click.option(
    "--since",
    type=click.DateTime(["%Y-%m-%d"]),
    metavar="DATE",
    help="First day, YYYY-MM-DD, UTC.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_obj
def cost(config: Config, *, by: Grouping, since: datetime | None, as_json: bool) -> None:
    """Show what language models cost, and for what."""
    begin = None if since is None else since.replace(tzinfo=UTC)
    report, remarks = read_usage(config.paths.state, by, begin, _note)
    for remark in remarks:
        click.echo(remark, err=True)
    if as_json:
        print_json(report.model_dump(mode="json"))
    elif report.rows:
        click.echo("\n".join(_table(report)))
        if report.total.unpriced:
            click.echo(UNPRICED)
    else:
        click.echo("No model was used" + (f" since {since:%Y-%m-%d}." if since else " yet."))


def _note(damage: VrError) -> None:
    print_notes([f"{damage.message} {damage.hint}"])


def _table(report: UsageReport) -> list[str]:
    total = report.total
    told = [name for name in HEADINGS if name in ALWAYS or getattr(total, name)]
    if total.attempts == total.calls:
        told.remove("attempts")
    lines = [[report.by, "cost", *(HEADINGS[name] for name in told)]]
    lines += [_cells(row, told) for row in (*report.rows, total)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    return [
        "  ".join([line[0].ljust(widths[0]), *map(str.rjust, line[1:], widths[1:])])
        for line in lines
    ]


def _cells(row: UsageRow, told: Sequence[str]) -> list[str]:
    counts = [f"{getattr(row, name):,.0f}" for name in told]
    return [visible(row.key).strip() or "-", money(row), *counts]
