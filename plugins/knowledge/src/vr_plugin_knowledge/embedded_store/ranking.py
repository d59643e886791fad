"""Ranks the items of the database that answer a question."""

from __future__ import annotations

import heapq
import sqlite3
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from vr_kernel import Hit, Query, RecordKind, StoredRecord

from vr_plugin_knowledge.embedded_store.conditions import Condition, build_condition
from vr_plugin_knowledge.embedded_store.fragments import Fragments
from vr_plugin_knowledge.embedded_store.items import STORED, load_row
from vr_plugin_knowledge.embedded_store.keywords import Keywords
from vr_plugin_knowledge.embedded_store.matrix import Matrix, Space
from vr_plugin_knowledge.embedded_store.rows import select_by
from vr_plugin_knowledge.embedded_store.schema import require_sound_scopes, scope_of
from vr_plugin_knowledge.matching.facets import conditions_for
from vr_plugin_knowledge.matching.fusion import CANDIDATES, fuse
from vr_plugin_knowledge.matching.headings import CANDIDATES as HEADED
from vr_plugin_knowledge.matching.headings import raised
from vr_plugin_knowledge.matching.terms import split_terms

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Part:
    """One kind in one workspace, and the condition that its hits must fulfil."""

    scope: int
    kind: RecordKind
    condition: Condition | None


@dataclass(frozen=True, slots=True)
class Ranking:
    """Answers one question from one snapshot of the database.

    Args:
        connection: of a transaction that is open for reading.
        kinds: the record kinds of this process by name.
        matrix: the vectors in memory.
        space: the vectors to search by meaning; None searches by keyword alone.
    """

    connection: sqlite3.Connection
    kinds: Mapping[str, RecordKind]
    matrix: Matrix
    space: Space | None

    def answer(self, query: Query) -> list[Hit]:
        """Best hits first, at most `query.limit` of each kind.

        The scores are BM25 for a keyword search, cosine similarities for a search by meaning, and
        0..1 for a hybrid one.
        """
        parts = self._parts(query)
        limit = max(CANDIDATES, query.limit)
        by_meaning = self.space is not None and query.vector is not None
        if query.mode == "semantic" or (by_meaning and query.alpha >= 1):
            with self._by_meaning(parts, query.vector, limit) as nearest:
                return self._hits(parts, nearest(), query.limit)
        terms = split_terms(query.text)
        if not by_meaning:
            scores = self._by_word(parts, terms, limit)[0]
            return self._hits(parts, self._headed(parts, scores, terms), query.limit)
        with self._by_meaning(parts, query.vector, limit) as nearest:
            words, whole = self._by_word(parts, terms, limit)
            scores = fuse(words, nearest(), alpha=query.alpha, whole=whole)
        hits = self._hits(parts, self._headed(parts, scores, terms), query.limit)
        return [replace(hit, score=min(1.0, hit.score)) for hit in hits]

    def neighbours(self, kind: str, key: str, workspace: str, limit: int) -> list[Hit]:
        """The items of that kind nearest to one of them, without itself."""
        if self.space is None:
            return []
        row = self.connection.execute(
            "SELECT i.id, v.value FROM scope s JOIN item i ON i.scope = s.id"
            " JOIN vector v ON v.item = i.id AND v.live = 1"
            " WHERE s.workspace = ? AND s.kind = ? AND i.key = ? AND v.embedder = ?",
            (workspace, kind, key, self.space.embedder),
        ).fetchone()
        if row is None:
            return []
        parts = self._parts(Query("", kinds=(kind,), workspace=workspace))
        vector = array("f", row[1]).tolist()
        with self._by_meaning(parts, vector, limit + 1) as nearest:
            scores = nearest()
        scores.pop(row[0], None)
        return self._hits(parts, scores, limit)

    def _parts(self, query: Query) -> list[Part]:
        require_sound_scopes(self.connection)
        rows = self.connection.execute(
            "SELECT id, kind FROM scope s WHERE workspace = ?"
            " AND EXISTS (SELECT 1 FROM item i WHERE i.scope = s.id)",
            (query.workspace,),
        )
        kinds = [
            (scope, self.kinds[kind])
            for scope, kind in rows
            if kind in self.kinds and (not query.kinds or kind in query.kinds)
        ]
        return [
            Part(scope, kind, build_condition(kind, scope, filters))
            for scope, kind in kinds
            if (filters := conditions_for(kind, query)) is not None
        ]

    def _by_word(
        self, parts: Sequence[Part], terms: Sequence[str], limit: int
    ) -> tuple[dict[int, float], float]:
        """Scores of the best of each part, and the score of a text that holds the whole question.

        Words that no text holds are searched as parts of words; all words are when no item here
        holds any.
        """
        if not terms:
            return {}, 0.0
        words = Keywords(self.connection, terms)
        found = [words.best(part.scope, part.condition, limit) for part in parts]
        lost = words.lost if any(found) else terms
        if not lost:
            return _joined(found), words.whole()
        pieces = Fragments(self.connection, lost)
        more = [pieces.best(part.scope, part.condition, limit) for part in parts]
        if not any(more):
            return _joined(found), words.whole()
        both = [_added(*scores, limit) for scores in zip(found, more, strict=True)]
        return _joined(both), words.whole(besides=lost) + pieces.whole

    @contextmanager
    def _by_meaning(
        self, parts: Sequence[Part], vector: Sequence[float] | None, limit: int
    ) -> Iterator[Callable[[], dict[int, float]]]:
        """Find the nearest vectors while the block runs, which asks for them at its end."""
        if self.space is None or vector is None:
            yield dict
            return
        self.matrix.follow(self.connection, self.space)
        wanted = [(part.scope, self._permitted(part.condition)) for part in parts]
        with self.matrix.comparing(vector, wanted, limit) as nearest:
            yield nearest

    def _headed(
        self, parts: Sequence[Part], scores: dict[int, float], terms: Sequence[str]
    ) -> dict[int, float]:
        """The scores, those of passages raised by what their headings name of the question."""
        headed = {part.scope: part.kind for part in parts if part.kind.headings}
        best = heapq.nlargest(HEADED, scores, key=scores.__getitem__) if headed and terms else []
        own = [item for item in best if scope_of(item) in headed]
        if not own:
            return scores
        weights = Keywords(self.connection, terms).weights
        records = self._records(own, {scope: kind.name for scope, kind in headed.items()})
        return scores | {
            item: scores[item] * raised(headed[scope_of(item)], record.fields, weights)
            for item, record in records.items()
        }

    def _permitted(self, condition: Condition | None) -> NDArray[np.int64] | None:
        import numpy as np

        if condition is None:
            return None
        # One row of text is read three times as fast as many rows of one number.
        sql = f"SELECT group_concat(item) FROM ({condition.sql})"  # noqa: S608 - values are bound
        (items,) = self.connection.execute(sql, condition.values).fetchone()
        return np.fromstring(items or "", np.int64, sep=",")

    def _hits(self, parts: Sequence[Part], scores: Mapping[int, float], limit: int) -> list[Hit]:
        names = {part.scope: part.kind.name for part in parts}
        # Of equal scores the older item comes first; a reverse sort is stable.
        ranked = sorted(sorted(scores), key=scores.__getitem__, reverse=True)
        best = _first_of_each(names, ranked, limit)
        records = self._records(best, names)
        if len(records) < len(best):
            # The matrix may be ahead of this snapshot, and have items that it lacks.
            records = self._records(ranked, names)
            best = _first_of_each(names, [item for item in ranked if item in records], limit)
        return [Hit(records[item], scores[item]) for item in best]

    def _records(self, items: Sequence[int], names: Mapping[int, str]) -> dict[int, StoredRecord]:
        sql = f"SELECT i.id, {STORED} FROM item i WHERE i.id"  # noqa: S608 - constant text
        return {
            item: StoredRecord(names[scope_of(item)], *load_row(stored))
            for item, *stored in select_by(self.connection, sql, (), items)
        }


def _joined(lists: Iterable[Mapping[int, float]]) -> dict[int, float]:
    return {item: score for scores in lists for item, score in scores.items()}


def _added(one: Mapping[int, float], other: Mapping[int, float], limit: int) -> dict[int, float]:
    """The best of two lists, by the sum of their scores."""
    sums = {item: one.get(item, 0.0) + other.get(item, 0.0) for item in {**one, **other}}
    return dict(sorted(sums.items(), key=lambda each: -each[1])[:limit])


def _first_of_each(scopes: Iterable[int], items: Iterable[int], limit: int) -> list[int]:
    left = dict.fromkeys(scopes, limit)
    first: list[int] = []
    for item in items:
        scope = scope_of(item)
        if left[scope]:
            left[scope] -= 1
            first.append(item)
            if not any(left.values()):
                break
    return first
