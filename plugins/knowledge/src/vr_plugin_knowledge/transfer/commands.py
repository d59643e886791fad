"""`vr knowledge import`, `export` and `reindex`."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, get_args

import click
from vr_kernel import Config, Kernel

from vr_plugin_knowledge.catalogue import find_kind, find_kinds
from vr_plugin_knowledge.transfer.exports import export_rows
from vr_plugin_knowledge.transfer.imports import forget_rest, record_all
from vr_plugin_knowledge.transfer.installations import require_another
from vr_plugin_knowledge.transfer.readers import Format, Reader

if TYPE_CHECKING:
    from vr_plugin_knowledge.graph.network import Network

Counts = Mapping[str, Mapping[str, int]]
"""Numbers of records by what was done to them, then by collection or workspace."""
Report = tuple[Counts, list[str]]
"""Counts, and notes on them; empty counts are left out."""
OTHERS = "Records of other workspaces were left out: `--workspace NAME` writes those of one."
DELIVERY_S = 600.0
collection_option = click.option(
    "--collection", "collections", multiple=True, metavar="NAME", help="Only these; repeatable."
)


@click.command("import")
@click.argument("path", type=click.Path(path_type=Path))
@click.option(
    "--format",
    "form",
    type=click.Choice(get_args(Format)),
    required=True,
    help="jsonl, a BEIR folder, Markdown files, a folder of notes, or another state folder.",
)
@click.option("--collection", default="DocumentPassages", show_default=True, metavar="NAME")
@click.option(
    "--workspace", metavar="NAME", help="Of the other installation; left out: of the same name."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_obj
def import_records(
    config: Config,
    path: Path,
    *,
    form: Format,
    collection: str,
    workspace: str | None,
    as_json: bool,
) -> None:
    """Record what PATH holds. Importing it again repeats nothing."""
    if workspace and form != "store":
        raise click.UsageError("--workspace belongs to --format store.")
    own = config.store.workspace
    source, there = path.expanduser(), workspace or own
    if form == "store":
        require_another(source, config.paths.journal)

    async def work(kernel: Kernel) -> Report:
        kinds = kernel.services.archive.kinds
        find_kind(kinds, collection)
        graph = await _graph(kernel) if form == "notes" else None
        reader = Reader(collection, kinds, there, graph)
        counts = await record_all(kernel, reader.read(source, form))
        forgotten = await forget_rest(kernel, reader.files)
        _, waiting = await indexed(kernel)
        for file in reader.derived:
            click.echo(f"Not read, for it was made of what a model wrote: {file}", err=True)
        rest = {"forgotten": forgotten, "left_in_other_workspaces": reader.left}
        done = {"imported": counts, **{verb: each for verb, each in rest.items() if each}}
        into = "" if there == own else f"From the workspace {there!r} there into {own!r} here."
        return done, [into, waiting, await kernel.services.journal.continuity.lacks()]

    _tell(_run(config, work), as_json=as_json)


@click.command("export")
@click.argument("path", type=click.Path(path_type=Path))
@collection_option
@click.option("--workspace", metavar="NAME", help="Another one than the configured.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_obj
def export_records(
    config: Config,
    path: Path,
    *,
    collections: tuple[str, ...],
    workspace: str | None,
    as_json: bool,
) -> None:
    """Write all records of a workspace to PATH, an object a line; `import --format jsonl` reads it.

    While the journal lacks records, nothing is written; and an empty export never replaces a file.
    """
    target, there = path.expanduser().absolute(), workspace or config.store.workspace

    async def work(kernel: Kernel) -> Report:
        archive = kernel.services.archive
        find_kinds(archive.kinds, collections)
        await archive.store.catch_up()  # the store may know that the journal lacks records
        exported = await export_rows(kernel, target, collections, there)
        others = await archive.elsewhere(collections, there)
        if not others:
            return {"exported": exported}, []
        return {"exported": exported, "left_in_other_workspaces": others}, [OTHERS]

    _tell(_run(config, work), as_json=as_json)


@click.command("reindex")
@collection_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_obj
def reindex(config: Config, *, collections: tuple[str, ...], as_json: bool) -> None:
    """Have the store reindex records, with the present embedder."""

    async def work(kernel: Kernel) -> Report:
        find_kinds(kernel.services.archive.kinds, collections)
        sent = await kernel.services.archive.resend(collections)
        left, waiting = await indexed(kernel)
        return {"reindexed": {"records": sent, "pending": left}}, [waiting]

    _tell(_run(config, work), as_json=as_json)


async def indexed(kernel: Kernel) -> tuple[int, str]:
    """Count the changes that the store does not accept, with a note that says why."""
    store = kernel.services.archive.store
    if not (left := await store.catch_up(DELIVERY_S)):
        return 0, ""
    then = "they are recorded, and a server or command that runs later indexes them"
    return left, f"Not indexed yet: {left:,} changes; {then}. {store.trouble}".strip()


def _run(config: Config, work: Callable[[Kernel], Awaitable[Report]]) -> Report:
    async def run() -> Report:
        async with Kernel.open(config) as kernel:
            return await work(kernel)

    return asyncio.run(run())


async def _graph(kernel: Kernel) -> Network:
    from vr_plugin_knowledge.graph.identity import CONCEPTS, EDGES
    from vr_plugin_knowledge.graph.network import Network

    network = Network()
    async for change in kernel.services.archive.records((CONCEPTS, EDGES)):
        network.apply(change)
    return network


def _tell(report: Report, *, as_json: bool) -> None:
    done, notes = report[0], [note for note in report[1] if note]
    if as_json:
        click.echo(json.dumps({**done, "notes": notes} if notes else done))
    else:
        click.echo("\n".join(_lines(done)))
    for note in notes:
        click.echo(f"Note: {note}", err=True)


def _lines(done: Counts) -> Iterator[str]:
    for verb, counts in done.items():
        yield f"{verb.replace('_', ' ')}: {sum(counts.values()):,}"
        yield from (f"  {name}: {count:,}" for name, count in sorted(counts.items()))
