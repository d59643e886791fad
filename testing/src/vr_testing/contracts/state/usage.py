"""The contract of the ledger of usage: tests that each implementation of `UsageTable` inherits."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from vr_kernel import Usage
from vr_kernel.state import (
    Attempt,
    Grouping,
    Limit,
    LimitReachedError,
    Spent,
    UsageRow,
    UsageTable,
)
from vr_kernel.state.usage import UNHEARD_S

from vr_testing.contracts.state.part import PartContract

FIRST = Attempt("call", "video_analyze", "video", "ann", "gemini", "flash", "generate", 1)
MIDNIGHT = datetime(2026, 3, 1, tzinfo=UTC).timestamp()
NAMES = ("", "\0", "a\0b", "é\U0001f600 '\"%_", "k" * 5000)


class UsageContract(PartContract):
    """The tests of `vr_kernel.state.UsageTable`."""

    async def test_models_are_summed_by_who_answered(self) -> None:
        """Groups with most tokens come first, equal ones by name; cached tokens count no more."""
        async with self.opened(lambda: MIDNIGHT) as state:
            table = state.usage
            await pay(table, Usage(input_tokens=5, cost_usd=0.25))
            local = Usage(input_tokens=7, cost_usd=0.0)
            await pay(table, local, provider="ollama", media_seconds=1.5)
            thought = Usage(input_tokens=1, output_tokens=2, thinking_tokens=3, cost_usd=0.5)
            await pay(table, thought)
            await pay(table, Usage(cached_tokens=9), provider="zoo")
            failed = await table.begin(replace(FIRST, model="pro"))
            await table.end(failed, "free", Usage(), code="QUOTA")
            rows = await table.sums("model", -math.inf, math.inf)
            assert rows == [
                UsageRow(
                    key="gemini/flash-001",
                    calls=2,
                    attempts=2,
                    input_tokens=6,
                    output_tokens=2,
                    thinking_tokens=3,
                    cost_usd=0.75,
                ),
                UsageRow(
                    key="ollama/flash-001", calls=1, attempts=1, input_tokens=7, media_seconds=1.5
                ),
                UsageRow(key="gemini/pro", attempts=1),
                UsageRow(key="zoo/flash-001", calls=1, attempts=1, cached_tokens=9, unpriced=1),
            ]
            assert [row.attempts for row in await sums(table, "plugin")] == [5]
            assert [row.key for row in await sums(table, "provider")] == ["gemini", "ollama", "zoo"]
            assert [row.key for row in await sums(table, "principal")] == ["ann"]

    async def test_an_attempt_ends_once(self) -> None:
        """The first end stands; the end of an unknown one changes nothing."""
        async with self.opened(lambda: MIDNIGHT) as state:
            table = state.usage
            number = await pay(table, Usage(input_tokens=5))
            await table.end(number, "maybe_paid", Usage(), code="CANCELLED")
            await table.end(number, "paid", Usage(input_tokens=9), model="other")
            await table.end(number + 1, "paid", Usage(input_tokens=9))
            await table.end(0, "paid", Usage(input_tokens=9))
            assert await sums(table, "tool") == [
                UsageRow(key="video_analyze", calls=1, attempts=1, input_tokens=5, unpriced=1)
            ]

    async def test_the_newest_attempts_come_first(self) -> None:
        """Each as it was begun and ended; their numbers rise."""
        async with self.opened(lambda: MIDNIGHT) as state:
            table = state.usage
            first = await table.begin(replace(FIRST, call_id="one"))
            second = await table.begin(replace(FIRST, call_id="two", number=2))
            await table.end(second, "paid", Usage(output_tokens=3), code="REPLY_TRUNCATED")
            third = await pay(table, Usage(calls=1, input_tokens=4), call_id="three")
            assert first < second < third
            found = await table.newest(9)
            assert [it.call_id for it in found] == ["three", "two", "one"]
            assert [it.state for it in found] == ["paid", "paid", "sent"]
            assert [it.code for it in found] == ["", "REPLY_TRUNCATED", ""]
            assert [it.number for it in found] == [1, 2, 1]
            assert [it.model.partition("/")[2] for it in found] == ["flash-001", "flash", "flash"]
            assert found[1].usage == Usage(calls=1, output_tokens=3)
            assert {it.at.timestamp() for it in found} == {MIDNIGHT}
            assert await table.newest(1) == found[:1]

    async def test_an_attempt_nobody_reported_on_counts_as_maybe_paid_after_an_hour(self) -> None:
        """Until somebody reports on it after all."""
        now = MIDNIGHT
        async with self.opened(lambda: now) as state:
            table = state.usage
            number = await table.begin(FIRST)
            await pay(table, Usage())
            assert [(it.attempts, it.maybe_paid) for it in await sums(table)] == [(2, 0)]
            now += UNHEARD_S + 1
            assert [(it.attempts, it.maybe_paid) for it in await sums(table)] == [(2, 1)]
            assert [it.state for it in await table.newest(2)] == ["paid", "maybe_paid"]
            await table.end(number, "paid", Usage(input_tokens=2), model="flash")
            assert [(it.calls, it.maybe_paid) for it in await sums(table)] == [(2, 0)]

    async def test_days_are_utc_and_bounds_are_kept(self) -> None:
        """The begin of a time is part of it, its end is not."""
        now = 0.0
        async with self.opened(lambda: now) as state:
            table = state.usage
            for number, offset in enumerate((-86_400, -0.5, 0, 86_399.5), start=1):
                now = MIDNIGHT + offset
                await pay(table, Usage(input_tokens=number))
            rows = [(row.key, row.input_tokens) for row in await sums(table, "day")]
            assert rows == [("2026-03-01", 7), ("2026-02-28", 3)]
            bounds = ((MIDNIGHT, math.inf), (-math.inf, MIDNIGHT), (MIDNIGHT + 86_400, math.inf))
            for (since, until), keys in zip(bounds, rows, strict=False):
                found = await table.sums("day", since, until)
                assert [row.key for row in found] == [keys[0]]
            assert await table.sums("day", *bounds[2]) == []

    async def test_each_principal_has_sums_of_its_own(self) -> None:
        """Those of all are the sum of all."""
        async with self.opened(lambda: MIDNIGHT) as state:
            table = state.usage
            for number, principal in enumerate(("ann", "bob", "token:ann", ""), start=1):
                await pay(table, Usage(input_tokens=number), principal=principal)
            for number, principal in enumerate(("ann", "bob", "token:ann", ""), start=1):
                rows = await table.sums("tool", -math.inf, math.inf, principal)
                assert [row.input_tokens for row in rows] == [number]
            assert await table.sums("tool", -math.inf, math.inf, "eve") == []
            assert [row.input_tokens for row in await sums(table)] == [10]

    async def test_nothing_begins_that_could_pass_a_limit(self) -> None:
        """The most of an open attempt counts until its cost is known; that of a lost one stays."""
        async with self.opened(lambda: MIDNIGHT) as state:
            table = state.usage
            day = Limit("day", 1.0, MIDNIGHT)
            large = replace(FIRST, most_usd=0.6)
            first = await table.begin(large, [day])
            assert await table.spent(day) == Spent(0.6, 0.6)
            with pytest.raises(LimitReachedError) as caught:
                await table.begin(large, [Limit("call", 9.0, call_id="other"), day])
            assert (caught.value.limit, caught.value.spent) == (day, Spent(0.6, 0.6))
            await table.end(first, "paid", Usage(cost_usd=0.25))
            assert await table.spent(day) == Spent(0.25, 0.0)
            lost = await table.begin(large, [day])
            await table.end(lost, "maybe_paid", Usage())
            assert await table.spent(day) == Spent(0.85, 0.0)
            with pytest.raises(LimitReachedError):
                await table.begin(replace(large, most_usd=0.2), [day])
            assert await table.begin(replace(large, most_usd=0.15), [day])
            assert [it.state for it in await table.newest(9)] == ["sent", "maybe_paid", "paid"]

    async def test_a_limit_counts_a_call_a_principal_or_a_time(self) -> None:
        """Only the attempts that it is for."""
        now = MIDNIGHT - 1
        async with self.opened(lambda: now) as state:
            table = state.usage
            for changes in ({}, {"call_id": "two"}, {"principal": "bob"}):
                await pay(table, Usage(cost_usd=0.5), **changes)
            now = MIDNIGHT
            await pay(table, Usage(cost_usd=0.125))
            free = await table.begin(replace(FIRST, most_usd=4.0))
            await table.end(free, "free", Usage())
            counted = {
                Limit("all", 1.0): 1.625,
                Limit("day", 1.0, MIDNIGHT): 0.125,
                Limit("call", 1.0, call_id="two"): 0.5,
                Limit("principal", 1.0, principal="ann"): 1.125,
                Limit("nobody", 1.0, principal="eve"): 0.0,
            }
            for limit, usd in counted.items():
                assert await table.spent(limit) == Spent(usd, 0.0)

    async def test_attempts_of_one_tool_come_with_what_was_foreseen(self) -> None:
        """Their tokens before they were sent, and the model that was asked."""
        async with self.opened(lambda: MIDNIGHT) as state:
            table = state.usage
            await pay(table, Usage(), tokens=7)
            await pay(table, Usage(), tool="video_chat")
            (found,) = await table.newest(9, "video_analyze")
            assert (found.asked, found.tokens) == ("gemini/flash", 7)

    async def test_odd_names_are_kept_or_refused(self) -> None:
        """Half of a surrogate pair is refused, before anything is written."""
        async with self.opened(lambda: MIDNIGHT) as state:
            table = state.usage
            for name in NAMES:
                await pay(table, Usage(), tool=name, model=name, call_id=name)
            assert {row.key for row in await sums(table)} == {*NAMES}
            assert {it.call_id for it in await table.newest(9)} == {*NAMES}
            with pytest.raises(ValueError, match="surrogate"):
                await table.begin(replace(FIRST, tool="\ud800"))
            assert len(await table.newest(9)) == len(NAMES)


async def pay(table: UsageTable, usage: Usage, **changes: object) -> int:
    """Begin an attempt that differs so from the first one, and end it as paid."""
    number = await table.begin(replace(FIRST, **changes))  # type: ignore[arg-type]
    await table.end(number, "paid", usage, model="flash-001")
    return number


async def sums(table: UsageTable, by: Grouping = "tool") -> list[UsageRow]:
    """Sum all attempts."""
    return await table.sums(by, -math.inf, math.inf)
