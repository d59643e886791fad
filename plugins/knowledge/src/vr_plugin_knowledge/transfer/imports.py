"""Imports records from foreign files into the journal."""

from __future__ import annotations

import asyncio
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click
from vr_kernel import Record, VrError

from vr_plugin_knowledge.transfer.passages import PASSAGES, passage_ids

if TYPE_CHECKING:
    from vr_kernel import Kernel

BATCH = 500
ORIGIN = "knowledge_import"
GAPS = 1000
"""Most passages of one file that may have been deleted one by one."""


async def record_all(kernel: Kernel, records: Iterator[Record]) -> Counter[str]:
    """Record all; return the number of each kind.

    Raises:
        VrError: as `records` does; the records before the error are recorded.
    """
    counts: Counter[str] = Counter()
    while True:
        batch, wrong = await asyncio.to_thread(_take, records)
        if batch:
            await kernel.services.archive.add(batch, origin=ORIGIN)
            counts.update(record.kind for record in batch)
        if wrong is not None:
            raise wrong
        if len(batch) < BATCH:
            return counts
        if sys.stderr.isatty():
            click.echo(f"\r{counts.total():,} records", err=True, nl=False)


async def forget_rest(kernel: Kernel, files: Mapping[Path, int]) -> Counter[str]:
    """Delete passages that Markdown files had at an earlier import and have no longer.

    Args:
        kernel: where they were recorded.
        files: number of passages of each file now, by its whole path.
    """
    if not files:
        return Counter()
    links = {path.as_uri(): path for path in files}
    there: defaultdict[Path, set[str]] = defaultdict(set)
    async for change in kernel.services.archive.records([PASSAGES]):
        if path := links.get((change.fields or {}).get("link", "")):
            there[path].add(change.key)
    stale = [
        each
        for path, keys in there.items()
        if len(keys) > files[path]
        for each in passage_ids(path, files[path], len(keys) + GAPS)
        if each[1] in keys
    ]
    if stale:
        await kernel.services.archive.forget(stale, origin=ORIGIN)
    return Counter(kind for kind, _ in stale)


def _take(records: Iterator[Record]) -> tuple[list[Record], VrError | None]:
    """Read the next records, and the error of the one after them."""
    batch: list[Record] = []
    try:
        while len(batch) < BATCH and (record := next(records, None)):
            batch.append(record)
    except VrError as error:
        return batch, error
    return batch, None
