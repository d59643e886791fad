"""The contract of the end of a call: tests that each implementation inherits."""

from __future__ import annotations

from typing import Any

import pytest
from vr_kernel import VrError
from vr_kernel.state import CacheRow, Entry
from vr_kernel.state.call_end import CachePut, CallEnd, JobEnd
from vr_kernel.state.jobs import job_scope

from vr_testing.contracts.state.ledger import JOBS, begin, create
from vr_testing.contracts.state.part import LEASE_S, Clock, PartContract


class CallEndContract(PartContract):
    """The tests of `vr_kernel.state.State.finish`."""

    async def test_everything_of_an_end_is_written(self) -> None:
        """Entries, results, the job; leases are free, and steps of finished work are gone."""
        async with self.opened() as state:
            await create(state, JOBS[0])
            job = await begin(state, JOBS[0])
            work, _ = await state.leases.take("work") or (0, 0)
            other, _ = await state.leases.take("other") or (0, 0)
            for scope in ("work", "other", job_scope(JOBS[0])):
                await state.steps.commit(scope, "1", "", scope, None)
            end = CallEnd(
                "default",
                entries=[Entry("Notes", "a", {"text": "x"}), Entry("Notes", "gone", None)],
                cache=[CachePut(CacheRow("key", {"n": 1}, cached_at=1.0))],
                fence=job,
                leases=[work, other, job],
                finished={work: "work"},
                job=JobEnd(JOBS[0], job, "done", {"n": 1}),
            )
            done = await state.finish(end)
            assert (done.owned, done.unrecorded, done.uncached) == (True, None, None)
            assert done.seq == await state.journal.last_seq()
            assert await state.journal.has("default", [("Notes", "a")])
            assert (await state.cache().find(["key"], 0.0)).value == {"n": 1}
            assert not [n for n in ("work", "other") if await state.leases.is_owned(n)]
            assert await state.steps.find("work", "1", "") is None
            assert await state.steps.find("other", "1", "") == ("other",)
            ended = await state.jobs.find(JOBS[0], "ann")
            assert ended is not None
            assert (ended.state, ended.result) == ("done", {"n": 1})

    async def test_nothing_is_written_for_an_owner_that_was_followed(self) -> None:
        """Neither entries nor results; its successor's lease and job stay."""
        clock = Clock()
        async with self.opened(clock) as state:
            await create(state, JOBS[0])
            late = await begin(state, JOBS[0])
            clock.now += LEASE_S + 1
            await begin(state, JOBS[0])
            what: dict[str, Any] = {
                "entries": [Entry("Notes", "a", {"text": "late"})],
                "cache": [CachePut(CacheRow("key", {"n": 1}, cached_at=1.0))],
                "leases": [late],
                "job": JobEnd(JOBS[0], late, "failed"),
            }
            done = await state.finish(CallEnd("default", fence=late, **what))
            assert not done.owned
            assert await state.journal.last_seq() == 0
            assert (await state.cache().find(["key"], 0.0)).value is None
            assert await state.leases.is_owned(job_scope(JOBS[0]))
            done = await state.finish(CallEnd(job=JobEnd(JOBS[0], late, "failed")))
            assert not done.owned
            job = await state.jobs.find(JOBS[0], "ann")
            assert job is not None
            assert job.state == "running"

    async def test_an_owner_that_was_followed_leaves_results(self) -> None:
        """A result that may replace another one replaces none of a successor's."""
        clock, late_row = Clock(), CacheRow("key", {"by": "late"}, cached_at=1.0)
        async with self.opened(clock) as state:
            late, _ = await state.leases.take("work") or (0, 0)
            cache = state.cache()
            await cache.put(CacheRow("key", {"by": "owner"}, cached_at=1.0), fence=late)
            clock.now += LEASE_S + 1
            follower, _ = await state.leases.take("work") or (0, 0)
            await cache.put(CacheRow("key", {"by": "follower"}, cached_at=1.0), fence=follower)
            for paid in (True, False):
                with pytest.raises(VrError, match="Another process owns") as caught:
                    await cache.put(late_row, paid=paid, fence=late)
                assert caught.value.category == "LEASE_LOST"
            assert (await cache.find(["key"], 0.0)).value == {"by": "follower"}

    async def test_an_owner_that_was_followed_leaves_entries_and_steps(self) -> None:
        """Whenever it was stopped: each write looks for its lease."""
        clock = Clock()
        async with self.opened(clock) as state:
            late, _ = await state.leases.take("work") or (0, 0)
            await state.steps.commit("work", "1", "", "paid", late)
            how: dict[str, Any] = {"workspace": "default", "provenance": {}, "fence": late}
            seq = await state.journal.commit([Entry("Notes", "a", {"text": "x"})], **how)
            clock.now += LEASE_S + 1
            assert await state.leases.take("work")
            with pytest.raises(VrError, match="Another process owns") as caught:
                await state.journal.commit([Entry("Notes", "a", {"text": "late"})], **how)
            assert caught.value.category == "LEASE_LOST"
            assert await state.journal.last_seq() == seq
            await state.leases.release([late], "work")
            assert await state.steps.find("work", "1", "") == ("paid",)

    async def test_an_end_may_be_written_again(self) -> None:
        """By who died before it was told: the same entries and results stay, once."""
        async with self.opened() as state:
            end = CallEnd(
                "default",
                entries=[Entry("Notes", "a", {"text": "x"})],
                cache=[CachePut(CacheRow("key", {"n": 1}, cached_at=1.0))],
            )
            for _ in range(3):
                assert (await state.finish(end)).owned
            changes = await state.journal.changes(0)
            assert [change.fields for change in changes] == [{"text": "x"}]
            assert (await state.cache().stats()).entries == 1
