"""Pulls records that only a Weaviate server has into the journal."""

from __future__ import annotations

import hashlib
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import click
from vr_kernel import Config, Kernel, Record, Store

from vr_plugin_knowledge.settings import KnowledgeSettings
from vr_plugin_knowledge.transfer.delivery import deliver
from vr_plugin_knowledge.transfer.fitting import fit_fields
from vr_plugin_knowledge.weaviate_store.foreign import ForeignObjects
from vr_plugin_knowledge.weaviate_store.names import RECORD
from vr_plugin_knowledge.weaviate_store.store import WeaviateStore

if TYPE_CHECKING:
    from vr_plugin_knowledge.weaviate_store.layout import Place

ORIGIN = "knowledge_migrate"
NAMED = 10
PAGE = 500
_COMMON = {"created_at", "source_tool"}


@dataclass(slots=True)
class Pulled:
    """Counts of the server's objects by outcome.

    Attributes:
        recorded: new records by collection.
        known: objects that the journal had.
        deleted: objects that were deleted here; they stay deleted.
        unfit: objects without a field that fits their kind, up to ten named.
        left: values that do not fit, by collection and property.
        others: collections that fit no kind.
    """

    recorded: Counter[str] = field(default_factory=Counter)
    known: int = 0
    deleted: int = 0
    unfit: int = 0
    unfit_ids: list[str] = field(default_factory=list)
    left: Counter[str] = field(default_factory=Counter)
    others: list[str] = field(default_factory=list)


class Puller:
    """Records what the journal of a kernel lacks; needs eight bytes of memory per known key.

    Args:
        kernel: whose journal.
        objects: the server's.
    """

    def __init__(self, kernel: Kernel, objects: ForeignObjects) -> None:
        self._kernel = kernel
        self._objects = objects
        self._known: set[int] = set()
        self._deleted: set[int] = set()
        self.pulled = Pulled()

    async def pull(self, *, everything: bool) -> Pulled:
        """Go through the server's collections.

        Raises:
            VrError: for errors of the server or the connection. What was recorded stays, and the
                same call continues from there.
        """
        await self._read_journal()
        places, self.pulled.others = await self._objects.places(everything=everything)
        for place in places:
            await self._pull(place)
        return self.pulled

    async def _read_journal(self) -> None:
        after, here = 0, self._kernel.config.store.workspace
        journal = self._kernel.services.journal
        while page := await journal.changes(after, PAGE, workspace=here):
            after = page[-1].seq
            for change in page:
                keys = self._known if change.fields is not None else self._deleted
                keys.add(_short(change.kind, change.key))

    async def _pull(self, place: Place) -> None:
        done = 0
        async with aclosing(self._objects.pages(place)) as pages:
            async for objects in pages:
                records = [fit for each in objects if (fit := self._new(place, each))]
                if records:
                    await self._kernel.services.archive.add(records, origin=ORIGIN)
                self.pulled.recorded[place.collection.name] += len(records)
                done += len(objects)
                if sys.stderr.isatty():
                    click.echo(f"\r{place.collection.name}: {done:,} objects", err=True, nl=False)
        click.echo(f"\r{place.collection.name}: {done:,} objects", err=True)

    def _new(self, place: Place, found: Any) -> Record | None:
        """The object as a record that the journal takes; None when there is none to add."""
        try:
            record = self._objects.record(place, found)
        except (ValueError, KeyError, TypeError):
            # It claims to be a record of ours, but is not.
            self._unfit(place, found)
            return None
        assert record.key is not None
        name = _short(record.kind, record.key)
        if name in self._known or name in self._deleted:
            self.pulled.known += name in self._known
            self.pulled.deleted += name in self._deleted
            return None
        fitted = fit_fields(self._kernel.services.archive.kinds[place.kind], record.fields)
        for unfit in fitted.left:
            self.pulled.left[f"{place.collection.name}.{unfit}"] += 1
        if not set(fitted.fields) - _COMMON and not found.properties.get(RECORD):
            self._unfit(place, found)
            return None
        self._known.add(name)
        return Record(record.kind, fitted.fields, record.key, record.provenance)

    def _unfit(self, place: Place, found: Any) -> None:
        self.pulled.unfit += 1
        if len(self.pulled.unfit_ids) < NAMED:
            self.pulled.unfit_ids.append(f"{place.collection.name}/{found.uuid}")


async def pull_all(config: Config, *, everything: bool) -> dict[str, Any]:
    """Record what the configured server has and the journal lacks, and index it.

    Raises:
        VrError: for errors of the server or the connection.
    """
    settings = config.section("plugins.knowledge", KnowledgeSettings)
    async with Kernel.open(config) as kernel:
        archive, here = kernel.services.archive, config.store.workspace
        objects = ForeignObjects(settings, archive.kinds, here)
        try:
            pulled = await Puller(kernel, objects).pull(everything=everything)
        finally:
            await objects.aclose()
        missing, store = 0, kernel.services.providers.get(Store)
        if isinstance(store, WeaviateStore):
            await archive.store.status()  # opens the store
            missing = await archive.missing(await store.positions())
            await archive.store.restart(empty=False)
        waiting = await deliver(kernel) if archive.store.available() else 0
    return {
        "workspace": here,
        "recorded": {name: count for name, count in pulled.recorded.items() if count},
        "known": pulled.known,
        "missing": missing,
        "deleted_here": pulled.deleted,
        "unfit": pulled.unfit,
        "unfit_objects": pulled.unfit_ids,
        "left_out": dict(pulled.left),
        "other_collections": pulled.others,
        "waiting_for_vectors": waiting,
    }


def pull_lines(pulled: dict[str, Any]) -> Iterator[str]:
    """The report as people read it."""
    yield from recorded_lines(pulled)
    if pulled["deleted_here"]:
        yield f"Deleted here, and not taken again: {pulled['deleted_here']:,}."
    for name, count in sorted(pulled["left_out"].items()):
        yield f"Does not fit and was left out: {name} of {count:,} objects."
    if pulled["unfit"]:
        named = ", ".join(pulled["unfit_objects"])
        yield f"Objects of which nothing fits: {pulled['unfit']:,}: {named}"
    if pulled["other_collections"]:
        yield f"Collections not looked at: {', '.join(pulled['other_collections'])}."


def recorded_lines(found: dict[str, Any]) -> Iterator[str]:
    """Say how many records are new, and how many were known."""
    recorded = found["recorded"]
    yield f"recorded: {sum(recorded.values()):,}, known before: {found['known']:,}"
    yield from (f"  {name}: {count:,}" for name, count in sorted(recorded.items()))
    if found["missing"]:
        yield (
            f"Changes that neither this journal nor the store has: {found['missing']:,}."
            " A backup of journal.db may have them."
        )


def _short(kind: str, key: str) -> int:
    digest = hashlib.blake2b(f"{kind}\n{key}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big")
