"""`vr clean`: shows all that can be removed, asks, removes it."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence
from typing import Any

import click
from vr_kernel import Config, VrError
from vr_kernel.cleanup import KINDS, Removable, find_removable

from vr_cli.process.exits import Exit

SECONDS_PER_DAY = 86_400
BYTES_PER_MB = 1_000_000
NOTHING_TO_CLEAN = (
    "Note: --logs and --jobs have no effect: logs go to stderr, and jobs that have ended go by"
    " themselves (job_ttl_days in [kernel])."
)


@click.command()
@click.option("--artifacts", is_flag=True, help="Pictures, reports and other files of results.")
@click.option("--cache", is_flag=True, help="Results that are kept to be given again.")
@click.option("--downloads", is_flag=True, help="Files that were fetched from the web.")
@click.option("--logs", is_flag=True, hidden=True)
@click.option("--jobs", is_flag=True, hidden=True)
@click.option("--damaged", is_flag=True, help="Damaged files that were set aside.")
@click.option("--adopted", is_flag=True, help="Files of an earlier version, after a month.")
@click.option(
    "--older-than",
    type=click.IntRange(0, 100_000),
    default=0,
    metavar="DAYS",
    help="Only what was not changed for so many days.",
)
@click.option("--dry-run", is_flag=True, help="Only show what would be removed.")
@click.option("--yes", is_flag=True, help="Remove without being asked.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_obj
def clean(
    config: Config,
    /,
    *,
    older_than: int,
    dry_run: bool,
    yes: bool,
    as_json: bool,
    **chosen: bool,
) -> int:
    """Remove files that are not needed any more: of all kinds, or of those that are named.

    Records, the journal, the store, usage, models and settings are never removed, nor artifacts
    that records cite, until these are forgotten.
    """
    before = time.time() - older_than * SECONDS_PER_DAY
    if chosen["logs"] or chosen["jobs"]:
        click.echo(NOTHING_TO_CLEAN, err=True)
    wanted = [kind for kind in KINDS if chosen[kind] or not any(chosen.values())]
    whose: Any = {"workspace": config.store.workspace, "store": config.store.backend}
    found = [find_removable(config.paths, kind, before, **whose) for kind in wanted]
    present = [each for each in found if each.count]
    if not as_json:
        click.echo("\n".join(_lines(found)))
    removing = bool(present) and not dry_run and (yes or _agreed())
    failures = {each.kind: each.unread for each in found if each.unread}
    if removing:
        failures |= _remove(present)
    if as_json:
        click.echo(json.dumps(_report(found, failures, removed=removing), indent=2))
    elif removing:
        gone = sum(it.size for it in present if it.kind not in failures)
        click.echo(f"Removed {_size(gone)}.")
    for kind, reason in failures.items():
        click.echo(f"Error: {kind}: {reason}", err=True)
    return Exit.FAILURE if failures else Exit.OK


def _agreed() -> bool:
    """Ask on a terminal.

    Raises:
        click.UsageError: when nobody can answer.
    """
    if not sys.stdin.isatty():
        raise click.UsageError("Nobody can be asked here. Add --yes, or --dry-run to only look.")
    return click.confirm("Remove all this?", default=False, err=True)


def _remove(present: Sequence[Removable]) -> dict[str, str]:
    """Remove what can be removed; what needs free space is tried again after the rest made some."""
    failures = _remove_each(present)
    if len(failures) in (0, len(present)):
        return failures
    return _remove_each([it for it in present if it.kind in failures])


def _remove_each(present: Sequence[Removable]) -> dict[str, str]:
    failures: dict[str, str] = {}
    for each in present:
        try:
            each.remove()
        except VrError as error:
            failures[each.kind] = error.told
        except OSError as error:
            told = f"{error.filename or 'A file'} cannot be removed: {error.strerror}."
            failures[each.kind] = f"{told} Check that its folder may be written."
    return failures


def _lines(found: Sequence[Removable]) -> list[str]:
    lines = []
    for it in found:
        lines.append(f"{it.kind:<10} {it.count:>7,}  {_size(it.size):>11}")
        if it.count:
            lines.append(f"           {it.note}")
        if it.kept:
            lines.append(f"           {_kept(it.kept)}")
    total = sum(it.size for it in found)
    return [*lines, f"{'in all':<10} {sum(it.count for it in found):>7,}  {_size(total):>11}"]


def _kept(count: int) -> str:
    files, them = ("file is", "it") if count == 1 else ("files are", "them")
    return f"{count:,} {files} kept: records cite {them}; forget the records to free {them}."


def _report(
    found: Sequence[Removable], failures: dict[str, str], *, removed: bool
) -> dict[str, Any]:
    items = [
        {
            "kind": it.kind,
            "count": it.count,
            "bytes": it.size,
            "note": it.note,
            "kept": it.kept,
            "removed": removed and it.count > 0 and it.kind not in failures,
            "error": failures.get(it.kind, ""),
        }
        for it in found
    ]
    return {"items": items, "bytes": sum(it.size for it in found), "removed": removed}


def _size(size: int) -> str:
    return f"{size / BYTES_PER_MB:,.1f} MB"
