"""`vr knowledge import`, `export` and `reindex`."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, get_args

import click
from vr_kernel import Code, Config, Kernel, Record, VrError

from vr_plugin_knowledge.catalogue import find_kind, find_kinds
from vr_plugin_knowledge.transfer.readers import Format, Reader

if TYPE_CHECKING:
    from vr_kernel import Change

    from vr_plugin_knowledge.graph.network import Network

BATCH = 500
ORIGIN = "knowledge_import"
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
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_obj
def import_records(
    config: Config, path: Path, *, form: Format, collection: str, as_json: bool
) -> None:
    """Record what PATH holds. Importing it again repeats nothing."""
    source = path.expanduser()

    async def work(kernel: Kernel) -> dict[str, int]:
        archive = kernel.archive
        find_kind(archive.kinds, collection)
        graph = await _graph(kernel) if form == "notes" else None
        records = Reader(collection, archive.kinds, graph).read(source, form)
        counts: dict[str, int] = {}
        while batch := await asyncio.to_thread(lambda: list(islice(records, BATCH))):
            await archive.add(batch, origin=ORIGIN)
            _count(counts, batch)
            if sys.stderr.isatty():
                click.echo(f"\r{sum(counts.values()):,} records", err=True, nl=False)
        left = await archive.store.catch_up(DELIVERY_S)
        if left:
            click.echo(f"Not indexed yet: {left:,} changes.", err=True)
        return counts

    _tell("imported", _run(config, work), as_json=as_json)


@click.command("export")
@click.argument("path", type=click.Path(path_type=Path))
@collection_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_obj
def export_records(
    config: Config, path: Path, *, collections: tuple[str, ...], as_json: bool
) -> None:
    """Write all records to PATH, an object a line; `import --format jsonl` reads it."""
    target = path.expanduser()

    async def work(kernel: Kernel) -> dict[str, int]:
        find_kinds(kernel.archive.kinds, collections)
        return await _write(target, kernel.archive.records(collections))

    _tell("exported", _run(config, work), as_json=as_json)


@click.command("reindex")
@collection_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_obj
def reindex(config: Config, *, collections: tuple[str, ...], as_json: bool) -> None:
    """Have the store index records anew, with the present embedder."""

    async def work(kernel: Kernel) -> dict[str, int]:
        find_kinds(kernel.archive.kinds, collections)
        sent = await kernel.archive.resend(collections)
        left = await kernel.archive.store.catch_up(DELIVERY_S)
        return {"records": sent, "pending": left}

    _tell("reindexed", _run(config, work), as_json=as_json)


def _run(config: Config, work: Callable[[Kernel], Awaitable[dict[str, int]]]) -> dict[str, int]:
    async def run() -> dict[str, int]:
        async with Kernel.open(config) as kernel:
            return await work(kernel)

    return asyncio.run(run())


async def _write(path: Path, changes: AsyncIterator[Change]) -> dict[str, int]:
    """Write beside the file first, so that a failure leaves what was there."""
    counts: dict[str, int] = {}
    part = path.with_name(f".{path.name}.part")
    try:
        with part.open("w", encoding="utf-8") as file:
            async for change in changes:
                row = {
                    "collection": change.kind,
                    "object_id": change.key,
                    "properties": change.fields,
                    "provenance": change.provenance,
                }
                file.write(json.dumps(row, ensure_ascii=False) + "\n")
                counts[change.kind] = counts.get(change.kind, 0) + 1
        part.replace(path)
    except OSError as error:
        raise VrError(
            f"{path} cannot be written: {error.strerror}.",
            Code.NOT_ALLOWED,
            hint="Name a file in a folder that exists and has room.",
        ) from error
    finally:
        part.unlink(missing_ok=True)
    return counts


async def _graph(kernel: Kernel) -> Network:
    from vr_plugin_knowledge.graph.identity import CONCEPTS, EDGES
    from vr_plugin_knowledge.graph.network import Network

    network = Network()
    async for change in kernel.archive.records((CONCEPTS, EDGES)):
        network.apply(change)
    return network


def _count(counts: dict[str, int], batch: list[Record]) -> None:
    for record in batch:
        counts[record.kind] = counts.get(record.kind, 0) + 1


def _tell(verb: str, counts: dict[str, int], *, as_json: bool) -> None:
    click.echo(json.dumps({verb: counts}) if as_json else "\n".join(_lines(verb, counts)))


def _lines(verb: str, counts: dict[str, int]) -> Iterator[str]:
    yield f"{verb}: {sum(counts.values()):,}"
    yield from (f"  {name}: {count:,}" for name, count in sorted(counts.items()))
