"""The contract of cached results: tests that each implementation of `CacheTable` inherits."""

from __future__ import annotations

from typing import Any

import pytest
from vr_kernel.state import CacheEntry, CacheRow, CacheStats, UselessRow

from vr_testing.contracts.state.part import PartContract

VALUES: tuple[dict[str, Any], ...] = (
    {},
    {"": None},
    {"\0": "\0\x1b é\U0001f600", "n": [2**53, -0.1, True, {"deep": [[]]}]},
    {"answer": "x" * 2_000_000},
)
NAMES = ("", "\0", "a\0b", "é\U0001f600 '\"%_", "k" * 5000)
UNFIT: dict[str, CacheRow] = {
    "half a pair as key": CacheRow("a\ud800", {}),
    "half a pair as value": CacheRow("a", {"answer": "\udfff"}),
    "half a pair as name": CacheRow("a", {}, content_id="\ud800"),
    "a set": CacheRow("a", {"answer": {1}}),
    "bytes": CacheRow("a", {"answer": b"x"}),
}


class CacheContract(PartContract):
    """The tests of `vr_kernel.state.CacheTable`."""

    async def test_what_was_put_is_found(self) -> None:
        """Any object under any key; the first of several keys that has one."""
        async with self.opened() as state:
            table = state.cache()
            await table.check()
            for number, value in enumerate(VALUES):
                for name in NAMES:
                    row = CacheRow(f"{number} {name}", value, name, name, name, 7.5)
                    await table.put(row, paid=bool(number))
                    found = await table.find(["none", row.key, "0 "], 7)
                    assert (found.key, found.value, found.useless) == (row.key, value, [])
            assert (await table.find(["none", ""], 7)).value is None
            assert (await table.stats()).entries == len(VALUES) * len(NAMES)

    async def test_a_new_value_replaces_the_old_one(self) -> None:
        """Unless the old one is to stay, which it does while it is new enough."""
        async with self.opened() as state:
            table = state.cache()
            for number, since, left in ((1, None, 1), (2, None, 2), (3, 4, 2), (4, 5, 4)):
                row = CacheRow("key", {"answer": number}, cached_at=5)
                await table.put(row, unless_since=since)
                assert (await table.find(["key"], 0)).value == {"answer": left}
            assert (await table.stats()).entries == 1

    async def test_old_rows_are_useless_and_removed_unless_they_were_replaced(self) -> None:
        """They are named together with their time."""
        async with self.opened() as state:
            table = state.cache()
            for key, moment in (("a", 1.5), ("b", 2.5), ("c", 3.5)):
                await table.put(CacheRow(key, {"answer": key}, cached_at=moment))
            found = await table.find(["a", "b", "c"], 2.5)
            assert (found.key, found.value) == ("c", {"answer": "c"})
            assert found.useless == [UselessRow("a", 1.5), UselessRow("b", 2.5)]
            await table.put(CacheRow("b", {"answer": 2}, cached_at=4.5))
            await table.remove(found.useless)
            assert (await table.find(["a"], 0)).useless == []
            assert (await table.find(["a", "b"], 0)).value == {"answer": 2}

    async def test_a_moved_row_keeps_its_time(self) -> None:
        """It replaces what was there; nothing happens when there is none."""
        async with self.opened() as state:
            table = state.cache()
            await table.put(CacheRow("a", {"answer": 1}, "talk", "t", "m", 1.5))
            await table.put(CacheRow("b", {"answer": 2}, cached_at=9))
            await table.move("a", "b")
            await table.move("none", "b")
            assert (await table.find(["a", "b"], 1)).value == {"answer": 1}
            entries = await table.entries(9)
            assert entries == [CacheEntry("talk", "t", "m", 1.5, entries[0].size)]

    async def test_a_removed_row_is_gone_and_others_stay(self) -> None:
        """One row, those of a content, or all."""
        async with self.opened() as state:
            table = state.cache()
            for key, content in (("a", "talk"), ("b", "talk"), ("c", "film"), ("d", "")):
                await table.put(CacheRow(key, {}, content))
            await table.delete("a")
            await table.delete("a")
            assert await table.clear("talk") == 1
            assert await table.clear("talk") == 0
            assert await table.clear("")
            assert await table.stats() == CacheStats(0, 0)

    async def test_results_that_name_an_artifact_are_forgotten(self) -> None:
        """Wherever they name it; others stay."""
        names = [f"{number:064x}.png" for number in range(3)]
        async with self.opened() as state:
            table = state.cache()
            await table.forget_naming(names)
            deep: dict[str, Any] = {"a": [{"path": f"/state/artifacts/{names[0]}"}]}
            values = {"a": deep, "b": {"uri": f"vr://artifacts/{names[1]}"}, "c": {"n": names[2]}}
            for key, value in values.items():
                await table.put(CacheRow(key, value, cached_at=1))
            await table.forget_naming(names[:2])
            found = await table.find(["a", "b", "c"], 0)
            assert (found.key, found.useless) == ("c", [])

    async def test_the_list_has_the_newest_first_and_keeps_its_limit(self) -> None:
        """Of all contents or of one."""
        async with self.opened() as state:
            table = state.cache()
            for number in (3, 0, 4, 1, 2):
                row = CacheRow(f"k{number}", {}, f"c{number % 2}", "t", "m", number)
                await table.put(row)
            assert [entry.cached_at for entry in await table.entries(2)] == [4, 3]
            assert [entry.cached_at for entry in await table.entries(9, "c1")] == [3, 1]
            assert await table.entries(9, "none") == []
            assert (await table.stats()).size == sum(it.size for it in await table.entries(9))

    @pytest.mark.parametrize("row", UNFIT.values(), ids=UNFIT)
    async def test_what_cannot_be_kept_is_refused(self, row: CacheRow) -> None:
        """Before anything is written."""
        async with self.opened() as state:
            table = state.cache()
            with pytest.raises((ValueError, TypeError)):
                await table.put(row)
            assert await table.stats() == CacheStats(0, 0)

    async def test_the_table_can_be_used_after_it_was_closed(self) -> None:
        """A call that ends late finds it again."""
        async with self.opened() as state:
            table = state.cache()
            await table.put(CacheRow("a", {"answer": 1}, cached_at=2))
            table.close()
            table.close()
            assert (await table.find(["a"], 1)).value == {"answer": 1}
