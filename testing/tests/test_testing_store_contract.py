"""The contract of stores notices stores that do not keep it: one carelessness for each promise."""

from __future__ import annotations

import asyncio
import fnmatch
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from vr_kernel import Change, Hit, Provider, Query, RecordKind, Services, Store, VrError, hookimpl
from vr_testing import MemoryStore, StoreContract
from vr_testing.memory_store import cosine


class Spoilt(MemoryStore):
    """The store of the kit with something wrong about it."""

    name = "spoilt"

    def __init__(self, services: Services) -> None:
        super().__init__(services.vectors)
        self.folder = services.paths.state


class Forgetful(Spoilt):
    """Its cursor outlives its records."""

    @property
    def file(self) -> Path:
        return self.folder / "cursor.json"

    async def open(self, kinds: Sequence[RecordKind]) -> None:
        await super().open(kinds)
        if self.file.exists():
            self._cursor = json.loads(self.file.read_text("utf-8"))

    async def apply(self, changes: Sequence[Change]) -> None:
        await super().apply(changes)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.file.write_text(json.dumps(self._cursor), "utf-8")


class Replaying(Spoilt):
    async def apply(self, changes: Sequence[Change]) -> None:
        self._cursor = 0
        await super().apply(changes)


class Undying(Spoilt):
    async def apply(self, changes: Sequence[Change]) -> None:
        await super().apply([c if c.fields is not None else replace(c, fields={}) for c in changes])


class Halfway(Spoilt):
    """One change after the other, each by itself."""

    async def apply(self, changes: Sequence[Change]) -> None:
        for change in changes:
            if not all(isinstance(v, (str, int, list)) for v in (change.fields or {}).values()):
                raise TypeError(change.key)
            await super().apply([change])
            await asyncio.sleep(0)


class Racing(Spoilt):
    """It looks where it stands, and writes a moment later."""

    async def apply(self, changes: Sequence[Change]) -> None:
        behind = [change for change in changes if change.seq > self._cursor]
        await asyncio.sleep(0)
        if behind:
            self._cursor = behind[0].seq - 1
        await super().apply(behind)


class Stale(Spoilt):
    """A store that keeps the first vector of a record."""

    async def apply(self, changes: Sequence[Change]) -> None:
        before = dict(self._items)
        await super().apply(changes)
        for place, item in before.items():
            if place in self._items:
                self._items[place].vector = item.vector


class Choosy(Spoilt):
    async def apply(self, changes: Sequence[Change]) -> None:
        for change in changes:
            self._kinds[change.kind].validate(change.fields or {})
        await super().apply(changes)


class Ascii(Spoilt):
    async def apply(self, changes: Sequence[Change]) -> None:
        await super().apply(
            [
                replace(c, fields=json.loads(json.dumps(c.fields).encode("ascii", "ignore")))
                if c.key.isascii()
                else replace(c, key=c.key.encode("ascii", "ignore").decode())
                for c in changes
            ]
        )


class Late(Spoilt):
    """Its text is found when somebody has looked for it once."""

    searched = False

    async def search(self, query: Query) -> list[Hit]:
        self.searched, before = True, self.searched
        return await super().search(query) if before else []


class Fixed(Spoilt):
    """It keeps the kinds as they first were, for ever."""

    async def open(self, kinds: Sequence[RecordKind]) -> None:
        for kind in kinds:
            self._kinds.setdefault(kind.name, kind)


class Closing(Spoilt):
    closed = False

    async def aclose(self) -> None:
        if self.closed:
            raise RuntimeError("closed already")
        self.closed = True


class Upside(Spoilt):
    async def search(self, query: Query) -> list[Hit]:
        return (await super().search(query))[::-1]


class Total(Spoilt):
    async def search(self, query: Query) -> list[Hit]:
        return (await super().search(query))[: query.limit]


class Unlimited(Spoilt):
    async def search(self, query: Query) -> list[Hit]:
        return await super().search(replace(query, limit=max(query.limit, 1)))


class AllKinds(Spoilt):
    async def search(self, query: Query) -> list[Hit]:
        return await super().search(replace(query, kinds=()))


class AllWorkspaces(Spoilt):
    async def get(self, kind: str, key: str, workspace: str) -> Any:
        places = [place for place in self._items if place[1:] == (kind, key)]
        return self._items[places[0]].record if places else None


class Patterned(Spoilt):
    """A value is a pattern, as with SQL's LIKE."""

    async def search(self, query: Query) -> list[Hit]:
        loose = [f for f in query.filters if f.operator == "=" and f.field == "source"]
        strict = tuple(f for f in query.filters if f not in loose)
        return [
            hit
            for hit in await super().search(replace(query, filters=strict))
            if all(
                fnmatch.fnmatchcase(
                    str(hit.record.fields.get(f.field)),
                    f.value.replace("%", "*").replace("_", "?"),
                )
                for f in loose
            )
        ]


class Unfiltered(Spoilt):
    """A filter that a kind cannot be asked by is no filter."""

    async def search(self, query: Query) -> list[Hit]:
        known = {field.name for kind in self._kinds.values() for field in kind.all_fields}
        kept = tuple(f for f in query.filters if f.field in known)
        return await super().search(replace(query, filters=kept))


class Dropping(Spoilt):
    """A search that is lenient with one condition is so with all."""

    async def search(self, query: Query) -> list[Hit]:
        return await super().search(replace(query, filters=() if query.lenient else query.filters))


class Fragile(Spoilt):
    async def search(self, query: Query) -> list[Hit]:
        if '"' in query.text:
            raise ValueError("fts5: syntax error")
        return await super().search(query)


class Wordy(Spoilt):
    async def search(self, query: Query) -> list[Hit]:
        return await super().search(replace(query, mode="keyword"))


class AnyLength(Spoilt):
    async def search(self, query: Query) -> list[Hit]:
        fitting = query.vector is None or len(query.vector) == self._vectors.dimension
        return await super().search(query if fitting else replace(query, vector=None))


class Selfish(Spoilt):
    async def near(self, kind: str, key: str, workspace: str, limit: int) -> list[Hit]:
        this = self._items.get((workspace, kind, key))
        found = await super().near(kind, key, workspace, limit)
        own = [Hit(this.record, cosine(this.vector, this.vector) or 0)] if this else []
        return (own + found)[:limit]


class Lenient(Spoilt):
    async def count(self, kind: str, workspace: str, group_by: str | None = None) -> dict[str, int]:
        if group_by == "no_field":
            return {}
        return await super().count(kind, workspace, group_by)


class Moody(Spoilt):
    turn = 0

    async def search(self, query: Query) -> list[Hit]:
        hits = await super().search(query)
        self.turn += 1
        return sorted(hits, key=lambda h: (-h.score, h.record.key), reverse=self.turn % 2 == 0)


class Unready(Spoilt):
    async def cursor(self) -> int:
        if not self._items:
            raise LookupError("no cursor yet")
        return await super().cursor()


CARELESS = (AssertionError, LookupError, RuntimeError, ValueError, VrError)
"""The end of a broken contract: its own error, or one that a store let through."""
BROKEN: Sequence[tuple[type[Spoilt], str]] = [
    (Unready, "test_an_empty_store_answers"),
    (Ascii, "test_a_record_comes_back_as_it_was"),
    (Late, "test_text_is_found_as_soon_as_it_is_applied"),
    (Stale, "test_the_newest_state_counts"),
    (Undying, "test_what_is_deleted_is_gone"),
    (Replaying, "test_a_replay_changes_nothing"),
    (Undying, "test_changes_in_one_batch_keep_their_order"),
    (Halfway, "test_a_batch_that_fails_leaves_nothing_behind"),
    (Halfway, "test_a_cancelled_batch_is_there_whole_or_not_at_all"),
    (Racing, "test_two_may_apply_the_same"),
    (Choosy, "test_a_kind_that_nobody_declared_is_no_obstacle"),
    (AllWorkspaces, "test_workspaces_do_not_see_each_other"),
    (Forgetful, "test_cursor_and_records_survive_together"),
    (Fixed, "test_a_kind_may_grow"),
    (Closing, "test_closing_twice_is_harmless"),
    (Upside, "test_best_hits_come_first"),
    (Total, "test_a_limit_counts_per_kind"),
    (Unlimited, "test_a_limit_counts_per_kind"),
    (AllKinds, "test_only_the_kinds_asked_for_answer"),
    (Patterned, "test_filters_are_taken_literally"),
    (Unfiltered, "test_what_a_filter_cannot_hold_for_is_left_out"),
    (Dropping, "test_a_lenient_search_drops_what_cannot_hold"),
    (Fragile, "test_odd_questions_are_answered"),
    (Wordy, "test_meaning_is_found_by_vector"),
    (AnyLength, "test_a_vector_of_another_length_is_refused"),
    (Selfish, "test_kin_of_a_record_are_near_it"),
    (Lenient, "test_records_are_counted"),
    (Moody, "test_a_question_has_one_answer"),
]


def contract(build: type[Spoilt]) -> StoreContract:
    """The contract of a store, as its plugin's tests have it."""

    @hookimpl
    def vr_providers() -> list[Provider[Any]]:
        return [Provider(Store, "spoilt", build)]

    class Contract(StoreContract):
        plugins = {"spoilt": SimpleNamespace(vr_providers=vr_providers)}  # noqa: RUF012
        provider = "spoilt"
        durable = False

    return Contract()


@pytest.mark.parametrize(("kind", "test"), BROKEN)
async def test_a_careless_store_fails(kind: type[Spoilt], test: str) -> None:
    with pytest.raises(CARELESS):
        await getattr(contract(kind), test)()


def test_every_promise_has_a_careless_store() -> None:
    tests = {name for name in dir(StoreContract) if name.startswith("test_")}
    assert tests == {test for _, test in BROKEN}


async def test_a_store_that_is_to_be_durable_may_not_forget() -> None:
    strict = contract(Spoilt)
    strict.durable = True  # type: ignore[misc]
    with pytest.raises(AssertionError, match="cursor"):
        await strict.test_cursor_and_records_survive_together()
