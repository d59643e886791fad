"""`vr knowledge migrate`: fill a store from the journal and compare both, or pull the other way."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Iterator
from typing import Any

import click
from vr_kernel import Config, Kernel, Store

from vr_plugin_knowledge.transfer.comparing import Comparing, Comparison
from vr_plugin_knowledge.transfer.delivery import deliver


@click.command("migrate")
@click.option("--to", "target", metavar="STORE", help="Fill this store and not the configured one.")
@click.option(
    "--from",
    "origin",
    type=click.Choice(["weaviate", "embedded"]),
    help="Record what this store has and the journal has not.",
)
@click.option(
    "--all", "everything", is_flag=True, help="With --from: collections of similar names as well."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def migrate(
    context: click.Context,
    *,
    target: str | None,
    origin: str | None,
    everything: bool,
    as_json: bool,
) -> None:
    """Fill the store from the journal, and compare both. It can be interrupted and run again."""
    if (target and origin) or (everything and origin != "weaviate"):
        raise click.UsageError("Give --to, or --from; --all belongs to --from weaviate.")
    if origin == "embedded":
        from vr_plugin_knowledge.transfer.pulling import recorded_lines
        from vr_plugin_knowledge.transfer.recovering import recover_all

        found = asyncio.run(recover_all(context.obj))
        click.echo(json.dumps(found) if as_json else "\n".join(recorded_lines(found)))
        return
    if origin:
        from vr_plugin_knowledge.transfer.pulling import pull_all, pull_lines

        pulled = asyncio.run(pull_all(context.obj, everything=everything))
        click.echo(json.dumps(pulled) if as_json else "\n".join(pull_lines(pulled)))
        return
    report = asyncio.run(_migrate(context.obj, target))
    click.echo(json.dumps(report) if as_json else "\n".join(_lines(report, target)))
    if not report["same"]:
        context.exit(1)


async def _migrate(config: Config, target: str | None) -> dict[str, Any]:
    if target:
        config = config.with_flags({"store.backend": target})
    async with Kernel.open(config) as kernel:
        store = kernel.services.archive.store
        began = await store.status()
        waiting = await deliver(kernel)
        status = await store.status()
        shared = getattr(kernel.services.providers.get(Store), "shared", False)
        upto = status.delivered
        with click.progressbar(length=upto, label="Compared", file=sys.stderr) as bar:
            comparing = Comparing(kernel, upto, shared=shared, moved=bar.update)
            rows = await comparing.compare()
        return {
            "store": store.name,
            "sent": status.delivered - began.delivered,
            "waiting_for_vectors": waiting,
            "refused": status.refused,
            "shared": shared,
            "same": all(row.same for row in rows),
            "journal_lacks": await kernel.services.journal.continuity.lacks(),
            "collections": [_row(row) for row in rows],
        }


def _row(row: Comparison) -> dict[str, Any]:
    return {
        "workspace": row.workspace,
        "collection": row.kind,
        "journal": row.journal,
        "store": row.store,
        "journal_checksum": f"{row.journal_sum:032x}",
        "store_checksum": None if row.store is None else f"{row.store_sum:032x}",
        "same": row.same,
        "differing": row.differing,
        "keys": row.keys,
    }


def _lines(report: dict[str, Any], target: str | None) -> Iterator[str]:
    rows = report["collections"]
    yield f"{report['store']}: {report['sent']:,} changes sent"
    table = [("workspace", "collection", "journal", "store", "checksum"), *map(_cells, rows)]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for cells in table:
        first = [cell.ljust(width) for cell, width in zip(cells[:2], widths, strict=False)]
        counts = [cell.rjust(width) for cell, width in zip(cells[2:4], widths[2:], strict=False)]
        yield "  ".join([*first, *counts, cells[4]])
    if report["waiting_for_vectors"]:
        yield f"Not found by meaning yet: {report['waiting_for_vectors']:,}."
    for row in rows:
        if not row["same"]:
            yield f"{row['collection']} ({row['workspace']}): {_difference(row)}"
    if not report["same"]:
        yield from _advice(report, f"VR_STORE__BACKEND={target} " if target else "")


def _difference(row: dict[str, Any]) -> str:
    if not row["differing"]:
        count = _surplus(row)
        return f"{count:,} {'is' if count == 1 else 'are'} only in the store, not in this journal"
    return f"{row['differing']:,} differ or are missing: {', '.join(row['keys'])}"


def _surplus(row: dict[str, Any]) -> int:
    return max(0, int(row["store"] or 0) - int(row["journal"]))


def _cells(row: dict[str, Any]) -> tuple[str, str, str, str, str]:
    if row["store"] is None:
        says = "not compared: its plugin is not installed"
    else:
        says = f"{'same' if row['same'] else 'differs'} {row['store_checksum'][:8]}"
    stored = "" if row["store"] is None else f"{row['store']:,}"
    return row["workspace"], row["collection"], f"{row['journal']:,}", stored, says


def _advice(report: dict[str, Any], prefix: str) -> Iterator[str]:
    if report["refused"]:
        yield f"It refused {report['refused']:,} records: `{prefix}vr store failed` says why,"
        yield f"`{prefix}vr store retry --all` sends them again."
    if report["journal_lacks"]:
        yield report["journal_lacks"]
        return  # such a journal cannot refill the store
    if report["store"] == "embedded" and any(map(_surplus, report["collections"])):
        yield f"`{prefix}vr knowledge migrate --from embedded` records what only the store has."
    differing = dict.fromkeys(r["collection"] for r in report["collections"] if r["differing"])
    if differing:
        names = " ".join(f"--collection {name}" for name in differing)
        unless = ", also over what another machine wrote since" if report["shared"] else ""
        yield f"`{prefix}vr knowledge reindex {names}` sends these collections again{unless}."
