"""Samples for the tests of this folder: kinds, a real embedder, a journal, texts."""

from __future__ import annotations

import asyncio
import hashlib
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from struct import pack
from typing import Any

import structlog
from vr_kernel import (
    Change,
    Code,
    Embedder,
    Provider,
    Query,
    RecordField,
    RecordKind,
    VrError,
    hookimpl,
)
from vr_kernel.generation import Purpose
from vr_kernel.stores import Store
from vr_plugin_knowledge import plugin as knowledge
from vr_plugin_knowledge.embedded_store.store import EmbeddedStore

DIMENSION = 32
NOTES = RecordKind(
    "Notes",
    "Notes taken by hand.",
    (
        RecordField("title", description="Title", vectorised=True, searchable=True),
        RecordField("text", description="Body", vectorised=True, searchable=True),
        RecordField("video_id", description="Video", filterable=True),
        RecordField("tags", "text[]", "Tags", searchable=True, filterable=True),
        RecordField("stars", "int", "Rating", filterable=True, range=True),
        RecordField("start", "number", "Seconds", filterable=True, range=True),
        RecordField("done", "bool", "Finished", filterable=True),
        RecordField("due", "date", "Due", filterable=True, range=True),
        RecordField("url", description="Link"),
        RecordField("raw", description="Raw JSON"),
    ),
    rerank="text",
    source="video_id",
    link="url",
    locator=("start",),
)
CARDS = RecordKind(
    "Cards",
    "Index cards.",
    (
        RecordField("text", description="Body", vectorised=True, searchable=True),
        RecordField("category", description="Drawer", filterable=True),
    ),
    rerank="text",
)
WORDS = [
    "fox",
    "owl",
    "bear",
    "lynx",
    "otter",
    "heron",
    "newt",
    "toad",
    "river",
    "forest",
    "meadow",
    "mountain",
    "snow",
    "rain",
    "storm",
    "sunrise",
    "bridge",
    "tower",
    "harbour",
    "market",
    "violin",
    "cello",
    "drum",
    "flute",
]


def embed_words(text: str) -> list[float]:
    """A bag of words, hashed into a vector of unit length."""
    vector = [0.0] * DIMENSION
    for word in text.lower().split():
        digest = hashlib.sha256(word.encode()).digest()
        vector[digest[0] % DIMENSION] += 1.0 + digest[1] / 512
    length = math.sqrt(sum(value * value for value in vector))
    return [value / length for value in vector] if length else vector


class WordEmbedder:
    """A deterministic embedder: texts that share words are near each other."""

    dimension = DIMENSION
    accepts = frozenset({"text"})

    def __init__(self, name: str = "words-1") -> None:
        self.id = name

    async def embed(self, items: Sequence[str], purpose: Purpose) -> list[list[float]]:
        """One vector a text."""
        assert purpose in ("document", "query")
        return [embed_words(item) for item in items]


class WordVectors:
    """An embedder as the store is handed it, with switches for what may go wrong."""

    dimension = DIMENSION

    def __init__(self, name: str = "words-1") -> None:
        self.embedder_id = name
        self.installed = True
        self.outage = False
        self.refused: set[str] = set()
        self.embedded: list[str] = []

    def available(self) -> bool:
        """True when an embedder is installed."""
        return self.installed

    async def embed_documents(self, texts: Sequence[str]) -> list[list[float]]:
        """One vector a text; raises when switched to."""
        if self.outage:
            raise VrError("The embedder is away.", Code.UNAVAILABLE)
        if bad := self.refused.intersection(texts):
            raise ValueError(f"cannot embed {bad}")
        self.embedded.extend(texts)
        return [embed_words(text) for text in texts]

    async def packed_documents(self, texts: Sequence[str]) -> list[bytes]:
        """The same as 32-bit numbers."""
        return [pack(f"{len(each)}f", *each) for each in await self.embed_documents(texts)]


OpenStore = Callable[[WordVectors], AbstractAsyncContextManager[EmbeddedStore]]


class Ledger:
    """A journal in memory: the newest state of every key under a rising number."""

    def __init__(self) -> None:
        self.seq = 0
        self.rows: dict[tuple[str, str, str], Change] = {}

    def write(
        self, kind: str, key: str, fields: Mapping[str, Any] | None, workspace: str = "default"
    ) -> Change:
        """Record a state of a key; None deletes it."""
        self.seq += 1
        change = Change(
            seq=self.seq,
            workspace=workspace,
            kind=kind,
            key=key,
            fields=None if fields is None else dict(fields),
            provenance={"tool": "sample_write"},
            created_at=f"2026-01-01T00:00:00.{self.seq:06d}+00:00",
        )
        self.rows.pop((workspace, kind, key), None)
        self.rows[workspace, kind, key] = change
        return change

    def after(self, cursor: int) -> list[Change]:
        """Changes since then, in order."""
        return [change for change in self.rows.values() if change.seq > cursor]

    def live(self, kind: str, workspace: str = "default") -> dict[str, Mapping[str, Any]]:
        """Key and fields of what is not deleted."""
        return {
            change.key: change.fields
            for change in self.rows.values()
            if change.kind == kind and change.workspace == workspace and change.fields is not None
        }


class SampleKinds:
    """A third party's plugin that declares two kinds and nothing else."""

    @hookimpl
    def vr_record_kinds(self) -> list[RecordKind]:
        """Its kinds."""
        return [NOTES, CARDS]


class SampleEmbedder:
    """A third party's plugin that provides an embedder and nothing else."""

    @hookimpl
    def vr_providers(self) -> list[Provider[Any]]:
        """Its embedder."""
        return [Provider(Embedder, "words", lambda _services: WordEmbedder())]


def all_plugins() -> dict[str, object]:
    """The knowledge plugin with a third party's kinds and embedder."""
    return {"knowledge": knowledge, "sample": SampleKinds(), "words": SampleEmbedder()}


async def deliver(store: Store, ledger: Ledger) -> None:
    """Carry a ledger's changes to a store, as the kernel does, and await their vectors."""
    while changes := ledger.after(await store.cursor())[:50]:
        await store.apply(changes)
    query = Query("", embed_words("fox"), "semantic")
    async with asyncio.timeout(30):
        while await store.pending_vectors():
            await store.search(query)


def quiet_log() -> Any:
    """A logger that says nothing."""
    return structlog.wrap_logger(structlog.ReturnLogger())


def scripted_changes(count: int) -> Iterator[tuple[str, dict[str, Any] | None]]:
    """Keys and fields, the same in every process: new records, updates, deletes."""
    for number in range(count):
        key = f"k{(number * 7) % (count // 2)}"
        if number % 5 == 4:
            yield key, None
        else:
            first, second = WORDS[number % len(WORDS)], WORDS[(number * 5 + 1) % len(WORDS)]
            yield key, {"title": first, "text": f"{second} number {number}", "stars": number}
