"""The contract of rows: tests that the tests of each implementation of `Rows` inherit."""

from __future__ import annotations

import asyncio
import random
import time
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from vr_kernel import Code, VrError
from vr_kernel.state import ROW_CHANGED, Delete, Place, Put, Row

from vr_testing.contracts.state.part import PartContract

PLACE = Place("diary", "home", "token:ann")
OTHERS = (
    Place("diary", "home"),
    Place("diary", "work", "token:ann"),
    Place("notes", "home", "token:ann"),
)
BAD_KEYS = {"empty": "", "nul": "a\0b", "half": "a\ud800", "long": "k" * 1001, "number": 7}
NOT_JSON = {"nan": float("nan"), "set": {1}, "bytes": b"x", "half": "\ud800", "deep": None}
UNFIT: dict[str, Any] = {
    "a version that is a row": Put("a", 1, expected=Row("a", 1, 1)),  # type: ignore[arg-type]
    "a version that is a text": Delete("a", expected="1"),  # type: ignore[arg-type]
    "a date": Put("a", 1, expires_at=datetime.now(UTC)),  # type: ignore[arg-type]
    "a span": Put("a", 1, expires_at=timedelta(1)),  # type: ignore[arg-type]
    "no number": Put("a", 1, expires_at=float("nan")),
    "a far time": Put("a", 1, expires_at=2**70),
    "a list of changes": [Put("a", 1)],
}
BAD_LISTS: dict[str, dict[str, Any]] = {
    "half a prefix": {"prefix": "a\ud800"},
    "a number behind": {"after": 7},
    "a negative limit": {"limit": -1},
    "a text for a limit": {"limit": "3"},
}
LETTERS = "a/_%é\U0001f600\ud7ff\ue000\U0010ffff'\n\x01 "
VALUES: tuple[Any, ...] = (
    None,
    True,
    -1,
    2**53,
    0.1,
    "",
    "\0\x1b é\U0001f600",
    [],
    {},
    [[1, {"\0": [None]}]],
)


class RowsContract(PartContract):
    """The tests of `vr_kernel.state.Rows`."""

    async def test_what_is_put_is_found_in_its_place_alone(self) -> None:
        """Namespace, workspace and principal keep rows apart."""
        async with self.opened() as state:
            space = state.rows
            put = await space.of(PLACE).put("day/1", {"mood": ["fine", None, 1.5]})
            assert await space.of(PLACE).get("day/1") == put
            assert put == Row("day/1", {"mood": ["fine", None, 1.5]}, put.version, None)
            for place in OTHERS:
                assert await space.of(place).get("day/1") is None
                assert await space.of(place).list() == []
                assert not await space.of(place).delete("day/1")
            assert await space.of(OTHERS[0]).within("home", "token:ann").get("day/1") == put

    async def test_a_stale_version_changes_nothing(self) -> None:
        """Of two writers that read the same row, the second is refused."""
        async with self.opened() as state:
            space = state.rows
            rows = space.of(PLACE)
            first = await rows.put("day", 1, expected=0)
            second = await rows.put("day", 2, expected=first.version)
            assert second.version > first.version
            await refused(rows.put("day", 3, expected=first.version))
            await refused(rows.put("day", 3, expected=0))
            await refused(rows.delete("day", expected=first.version))
            assert await rows.get("day") == second
            assert await rows.delete("day", expected=second.version)
            again = await rows.put("day", 1, expected=0)
            assert again.version > second.version, "a former version would fit the new row"

    async def test_changes_are_made_together_or_not_at_all(self) -> None:
        """One stale version among them undoes the others."""
        async with self.opened() as state:
            space = state.rows
            rows = space.of(PLACE)
            await rows.write(Put("a", 1), Put("b/1", 1), Put("b/2", 2), Put("c", 1))
            await refused(rows.write(Put("a", 2), Delete("b", below=True), Put("c", 2, expected=0)))
            assert [row.value for row in await rows.list()] == [1, 1, 2, 1]
            put = await rows.write(Delete("b/", below=True), Put("a", 2), Delete("none"))
            assert [(row.key, row.value) for row in put] == [("a", 2)]
            assert [row.key for row in await rows.list()] == ["a", "c"]

    async def test_one_of_many_writers_wins(self) -> None:
        """Of writers at the same moment that expect the same version, exactly one is served."""
        async with self.opened() as state:
            space = state.rows
            rows = space.of(PLACE)

            async def write(number: int) -> bool:
                with suppress(VrError):
                    return bool(await rows.put("day", number, expected=0))
                return False

            assert sum(await asyncio.gather(*map(write, range(20)))) == 1

    async def test_pages_are_sorted_and_whole(self) -> None:
        """The last key of a page begins the next one; expired rows do not count."""
        async with self.opened() as state:
            space = state.rows
            rows = space.of(PLACE)
            names = [f"day/{number:03}" for number in range(25)]
            await rows.write(*(Put(name, name) for name in [*names, "dawn", "day", "daz"]))
            await rows.put("day/0101", 1, expires_at=time.time() - 1)
            found: list[str] = []
            while page := await rows.list("day/", after=found[-1] if found else "", limit=10):
                found += [row.key for row in page]
            assert found == names

    async def test_expired_rows_count_as_missing(self) -> None:
        """They are not found, and may be put as if they had never been."""
        async with self.opened() as state:
            space = state.rows
            rows = space.of(PLACE)
            await rows.put("day", 1, expires_at=time.time() - 1)
            kept = await rows.put("night", 1, expires_at=time.time() + 3600)
            assert await rows.get("day") is None
            assert await rows.list() == [kept]
            assert await rows.put("day", 2, expected=0)

    @pytest.mark.parametrize("change", UNFIT.values(), ids=UNFIT)
    async def test_changes_that_cannot_be_are_refused(self, change: Any) -> None:
        """A version or a time of another type is a mistake, no conflict and no damage."""
        async with self.opened() as state:
            rows = state.rows.of(PLACE)
            kept = await rows.put("a", 0)
            await refused(rows.write(Put("b", 1), change), Code.INVALID_INPUT)
            assert await rows.list() == [kept]

    @pytest.mark.parametrize("asked", BAD_LISTS.values(), ids=BAD_LISTS)
    async def test_lists_that_cannot_be_are_refused(self, asked: dict[str, Any]) -> None:
        """No prefix, place or limit is taken that no list can have; any high limit is."""
        async with self.opened() as state:
            rows = state.rows.of(PLACE)
            kept = await rows.put("a", 0)
            await refused(rows.list(**asked), Code.INVALID_INPUT)
            assert await rows.list(limit=10**30) == [kept]

    @pytest.mark.parametrize("key", BAD_KEYS.values(), ids=BAD_KEYS)
    async def test_bad_keys_and_places_are_refused(self, key: Any) -> None:
        """Every door refuses them, and nothing is written."""
        async with self.opened() as state:
            space = state.rows
            rows = space.of(PLACE)
            for call in (
                rows.get(key),
                rows.put(key, 1),
                rows.delete(key),
                rows.write(Put("a", 1), Put(key, 1)),
            ):
                await refused(call, Code.INVALID_INPUT)
            assert await rows.list() == []
            for place in (
                Place(key),
                Place("diary", key or "\0"),
                Place("diary", "home", key or "\0"),
            ):
                with pytest.raises(VrError) as error:
                    space.of(place)
                assert error.value.code is Code.INVALID_INPUT

    async def test_values_that_are_no_json_or_too_large_are_refused(self) -> None:
        """With nothing written; a value of just 1 MB is kept."""
        deep: list[Any] = []
        for _ in range(100_000):
            deep = [deep]
        async with self.opened() as state:
            space = state.rows
            rows = space.of(PLACE)
            for value in {**NOT_JSON, "deep": deep}.values():
                await refused(rows.write(Put("a", 1), Put("b", value)), Code.INVALID_INPUT)
            await refused(rows.write(Put("a", 1), Put("b", "é" * 500_000)), Code.TOO_LARGE)
            assert await rows.list() == []
            await rows.put("b", "é" * 499_999)

    async def test_rows_behave_as_a_dictionary_does(self) -> None:
        """Any JSON under any key comes back, sorted by code points."""
        draw = random.Random(7)  # noqa: S311 - no secret
        known: dict[str, Any] = {}
        async with self.opened() as state:
            space = state.rows
            rows = space.of(PLACE)
            for _ in range(300):
                key = "".join(draw.choices(LETTERS, k=draw.randint(1, 3)))
                if draw.choice("pppd") == "d":
                    assert await rows.delete(key) == (known.pop(key, self) is not self)
                else:
                    known[key] = draw.choice(VALUES)
                    assert (await rows.put(key, known[key])).value == known[key]
                if draw.choice("pppppppppd") == "d":
                    start = "".join(draw.choices(LETTERS, k=draw.randint(0, 2)))
                    await rows.write(Delete(start, below=True))
                    known = {k: it for k, it in known.items() if not k.startswith(start)}
                found = {row.key: row.value for row in await rows.list()}
                assert found == known
                assert list(found) == sorted(known)


async def refused(work: Any, code: Code = Code.CONFLICT) -> None:
    """Await work that must be refused with that code, and its own category for a conflict."""
    with pytest.raises(VrError) as error:
        await work
    assert error.value.code is code
    assert code is not Code.CONFLICT or error.value.category == ROW_CHANGED
