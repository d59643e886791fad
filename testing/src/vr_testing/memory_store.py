"""A store without a file: a dictionary of all records, which every search scans."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Protocol

from vr_kernel.errors import Code, VrError
from vr_kernel.records import Change, RecordKind
from vr_kernel.stores import Hit, Query, StoredRecord

from vr_testing.filters import fulfils, groupable, groups_of
from vr_testing.words import words_of

Place = tuple[str, str, str]
"""Workspace, kind and key."""


class Embeddings(Protocol):
    """The part of `services.vectors` that the store uses."""

    @property
    def dimension(self) -> int:
        """Length of every vector."""

    def available(self) -> bool:
        """Check if an embedder is installed."""

    async def embed_documents(self, texts: Sequence[str]) -> list[list[float]]:
        """One unit-length vector per text, in order."""


@dataclass(slots=True)
class Item:
    """A record and its searchable text; `vector` is None until `text` is embedded."""

    record: StoredRecord
    words: frozenset[str] = frozenset()
    text: str = ""
    vector: list[float] = field(default_factory=list)


class MemoryStore:
    """A `Store` for tests: simple, exact, and empty again in the next kernel.

    A keyword search scores the share of the question's words that a record holds, a search by
    meaning the cosine of the vectors, a hybrid one both by `alpha`. Of equal scores the record
    that was written first wins.

    Args:
        vectors: what turns text into vectors; without an embedder it searches by keyword alone.
    """

    name = "memory"

    def __init__(self, vectors: Embeddings) -> None:
        self._vectors = vectors
        self._kinds: dict[str, RecordKind] = {}
        self._items: dict[Place, Item] = {}
        self._cursor = 0

    async def open(self, kinds: Sequence[RecordKind]) -> None:
        """Set the record kinds."""
        self._kinds.update({kind.name: kind for kind in kinds})

    async def aclose(self) -> None:
        """Do nothing: there is no file and no connection."""

    async def cursor(self) -> int:
        """The journal sequence number up to which changes were applied."""
        return self._cursor

    async def apply(self, changes: Sequence[Change]) -> None:
        """Apply the changes after the cursor, all or none, then embed them."""
        items, cursor = dict(self._items), self._cursor
        for change in changes:
            if change.seq > cursor:
                place = (change.workspace, change.kind, change.key)
                items.pop(place, None)
                if change.fields is not None:
                    items[place] = self._item(change, {**change.fields})
                cursor = change.seq
        self._items, self._cursor = items, cursor
        await self._embed()

    async def pending_vectors(self) -> int:
        """Number of records that wait for their vectors because the embedder failed."""
        return len(self._waiting())

    async def get(self, kind: str, key: str, workspace: str) -> StoredRecord | None:
        """One record, or None."""
        item = self._items.get((workspace, kind, key))
        return item.record if item else None

    async def search(self, query: Query) -> list[Hit]:
        """Best hits first, at most `query.limit` of each kind.

        A kind that cannot be filtered as asked is left out, or searched without that condition.

        Raises:
            VrError: INVALID_INPUT for a vector of another dimension, or a filter value of
                another type than its field.
        """
        vector = self._checked(query.vector)
        await self._embed()
        found = [
            (item, score(query, item, vector))
            for kind, item in self._live(query.workspace)
            if (not query.kinds or kind.name in query.kinds)
            and all(
                fulfils(kind, item.record.fields, wanted, lenient=query.lenient)
                for wanted in query.filters
            )
        ]
        return _best(found, query.limit)

    async def near(self, kind: str, key: str, workspace: str, limit: int) -> list[Hit]:
        """Records of that kind nearest in meaning, by cosine similarity, without itself."""
        await self._embed()
        this = self._items.get((workspace, kind, key))
        if this is None or not this.vector:
            return []
        return _best(
            [
                (item, cosine(this.vector, item.vector))
                for its_kind, item in self._live(workspace)
                if its_kind.name == kind and item is not this
            ],
            limit,
        )

    async def count(self, kind: str, workspace: str, group_by: str | None = None) -> dict[str, int]:
        """Counts by value of a filterable field; a date counts by day, a list by element.

        Raises:
            VrError: INVALID_INPUT for a field that the kind does not have or cannot group by.
        """
        own = [item for place, item in self._items.items() if place[:2] == (workspace, kind)]
        if group_by is None:
            return {"": len(own)}
        if kind not in self._kinds:
            return {}
        spec = groupable(self._kinds[kind], group_by)
        counted = Counter(name for item in own for name in groups_of(spec, item.record.fields))
        return dict(counted.most_common())

    def _item(self, change: Change, fields: dict[str, object]) -> Item:
        fields["created_at"] = change.created_at
        record = StoredRecord(change.kind, change.key, fields, change.provenance)
        kind = self._kinds.get(change.kind)
        if kind is None:
            return Item(record)
        words = frozenset(words_of(kind.search_text(fields)))
        return Item(record, words, kind.vector_text(fields))

    def _live(self, workspace: str) -> Iterator[tuple[RecordKind, Item]]:
        for (its_workspace, kind, _), item in self._items.items():
            if its_workspace == workspace and kind in self._kinds:
                yield self._kinds[kind], item

    def _waiting(self) -> list[Item]:
        if not self._vectors.available():
            return []
        return [i for i in self._items.values() if i.text.strip() and not i.vector]

    async def _embed(self) -> None:
        if waiting := self._waiting():
            # Written records are found by keyword even when the embedder fails.
            with suppress(VrError):
                vectors = await self._vectors.embed_documents([item.text for item in waiting])
                for item, vector in zip(waiting, vectors, strict=True):
                    item.vector = vector

    def _checked(self, vector: Sequence[float] | None) -> Sequence[float]:
        if vector is None or not self._vectors.available():
            return ()
        if len(vector) == self._vectors.dimension:
            return vector
        raise VrError(
            f"The vector has {len(vector)} numbers, those of the store {self._vectors.dimension}.",
            Code.INVALID_INPUT,
            hint="Embed the question with the embedder of the store.",
        )


def score(query: Query, item: Item, vector: Sequence[float]) -> float | None:
    """Score a record's answer; None when it does not answer."""
    asked = set(words_of(query.text))
    share = len(asked & item.words) / len(asked) if asked else 0.0
    meaning = cosine(vector, item.vector)
    if query.mode == "semantic":
        return meaning
    if query.mode == "keyword" or meaning is None:
        return share or None
    return (1 - query.alpha) * share + query.alpha * meaning


def cosine(one: Sequence[float], other: Sequence[float]) -> float | None:
    """The similarity of two vectors of unit length, from -1 to 1; None without either."""
    if not one or not other:
        return None
    return sum(a * b for a, b in zip(one, other, strict=True))


def _best(scored: Iterable[tuple[Item, float | None]], limit: int) -> list[Hit]:
    hits = [Hit(item.record, value) for item, value in scored if value is not None]
    taken: Counter[str] = Counter()
    best = []
    for hit in sorted(hits, key=lambda hit: -hit.score):
        taken[hit.record.kind] += 1
        if taken[hit.record.kind] <= limit:
            best.append(hit)
    return best
