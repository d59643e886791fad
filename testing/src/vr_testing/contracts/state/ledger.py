"""The contract of leases, jobs and steps: tests that each implementation inherits."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

from vr_kernel.state import JobEnd, State
from vr_kernel.state.jobs import JobState, job_scope

from vr_testing.contracts.state.part import LEASE_S, Clock, PartContract

JOBS = [f"{number:032x}" for number in range(20)]
REPLIES: tuple[Any, ...] = (
    None,
    False,
    0,
    "",
    [],
    {},
    {"text": "\0\x1b é\U0001f600", "numbers": [0.1, -1, None]},
)


class LeasesContract(PartContract):
    """The tests of `vr_kernel.state.LeaseTable`."""

    async def test_a_name_has_one_owner(self) -> None:
        """Of many that ask at once one gets it, until it gives it back; tokens rise."""
        async with self.opened() as state:
            asked = await asyncio.gather(*(state.leases.take("a") for _ in range(10)))
            (lease,) = [taken for taken in asked if taken is not None]
            other = await state.leases.take("b")
            assert other is not None
            assert await state.leases.is_owned("a")
            assert await state.leases.take("a") is None
            await state.leases.release([lease[0], lease[0]])
            assert not await state.leases.is_owned("a")
            again = await state.leases.take("a")
            assert again is not None
            assert again[0] > other[0] > 0
            assert again[0] > lease[0]

    async def test_an_owner_that_is_silent_too_long_is_followed(self) -> None:
        """Not before its term is over, and a renewal begins a new one."""
        clock = Clock()
        async with self.opened(clock) as state:
            first = await state.leases.take("a")
            assert first is not None
            assert first[1] <= state.leases.steady() + LEASE_S
            clock.now += LEASE_S - 1
            assert await state.leases.take("a") is None
            assert (await state.leases.renew([first[0]]))[0] == {first[0]}
            clock.now += LEASE_S - 1
            assert await state.leases.take("a") is None
            clock.now += 2
            second = await state.leases.take("a")
            assert second is not None
            assert (await state.leases.renew([first[0], second[0]]))[0] == {second[0]}
            await state.leases.release([first[0]])
            assert await state.leases.is_owned("a"), "a late release took the successor's lease"

    async def test_leases_that_could_not_be_released_are_returned(self) -> None:
        """With the next one that is taken, even where that is the same name."""
        async with self.opened() as state:
            first = await state.leases.take("a")
            assert first is not None
            assert await state.leases.take("a", returned=[first[0]]) is not None

    async def test_finished_work_leaves_no_steps(self) -> None:
        """They are removed together with the lease; those of others stay."""
        async with self.opened() as state:
            lease = await state.leases.take("work")
            assert lease is not None
            for scope in ("work", "other"):
                await state.steps.commit(scope, "1", "", scope, None)
            await state.leases.release([lease[0]], "work")
            assert await state.steps.find("work", "1", "") is None
            assert await state.steps.find("other", "1", "") == ("other",)


class StepsContract(PartContract):
    """The tests of `vr_kernel.state.StepTable`."""

    async def test_any_reply_comes_back_under_its_place(self) -> None:
        """Scope, key and version tell replies apart; None is a reply, too."""
        async with self.opened() as state:
            places = [(s, k, v) for s in ("s", "t") for k in ("1", "") for v in ("", "2")]
            for number, place in enumerate(places):
                assert await state.steps.find(*place) is None
                assert await state.steps.commit(*place, number, None) == (number, True)
            assert [await state.steps.find(*place) for place in places] == [
                (number,) for number in range(len(places))
            ]
            for number, reply in enumerate(REPLIES):
                await state.steps.commit("all", str(number), "", reply, None)
                assert await state.steps.find("all", str(number), "") == (reply,)

    async def test_the_first_reply_counts(self) -> None:
        """Also where many are committed at once."""
        async with self.opened() as state:
            work = [state.steps.commit("s", "1", "", number, None) for number in range(10)]
            kept = {reply for reply, _ in await asyncio.gather(*work)}
            assert len(kept) == 1
            assert await state.steps.find("s", "1", "") == (*kept,)

    async def test_a_late_owner_keeps_its_reply_and_is_told(self) -> None:
        """It was paid for; but where the successor has one, that one stays."""
        clock = Clock()
        async with self.opened(clock) as state:
            first, _ = await state.leases.take("s") or (0, 0)
            assert await state.steps.commit("s", "1", "", "mine", first) == ("mine", True)
            clock.now += LEASE_S + 1
            second, _ = await state.leases.take("s") or (0, 0)
            assert not await state.steps.owns(first)
            assert await state.steps.owns(second)
            assert await state.steps.commit("s", "2", "", "successor's", second)
            assert await state.steps.commit("s", "2", "", "late", first) == ("successor's", False)
            assert await state.steps.commit("s", "3", "", "late", first) == ("late", False)
            assert await state.steps.find("s", "3", "") == ("late",)

    async def test_steps_are_forgotten_by_work_key_and_age(self) -> None:
        """Those of a job stay until it is removed."""
        async with self.opened() as state:
            for scope in ("a", "b", job_scope(JOBS[0])):
                for key in "123":
                    await state.steps.commit(scope, key, "", key, None)
            await create(state, JOBS[0])
            await state.steps.drop("a", ["1", "2", "9"], "")
            await state.steps.forget("b")
            found = [await state.steps.find(scope, key, "") for scope in "ab" for key in "123"]
            assert found == [None, None, ("3",), None, None, None]
            assert await state.steps.prune(3600) == 0
            assert await state.steps.prune(-3600) == 1
            assert await state.steps.find(job_scope(JOBS[0]), "1", "") == ("1",)


class JobsContract(PartContract):
    """The tests of `vr_kernel.state.JobTable`."""

    async def test_a_job_goes_from_its_beginning_to_its_end(self) -> None:
        """As its owner and others see it; making it again changes nothing."""
        clock = Clock()
        async with self.opened(clock) as state:
            await create(state, JOBS[0])
            await create(state, JOBS[0], tool="another")
            token = await begin(state, JOBS[0])
            await state.jobs.report(JOBS[0], 1, float("inf"), "half\ud800")
            job = await state.jobs.find(JOBS[0], "ann")
            assert job is not None
            assert (job.tool, job.arguments) == ("zoo_echo", {"parts": [1, None, "é"]})
            assert (job.state, job.runs, job.done, job.total) == ("running", 1, 1.0, None)
            assert job.created_at == clock.now - 5
            clock.now += 1
            result = {"text": "done", "notes": []}
            assert await state.jobs.finish(JobEnd(JOBS[0], token, "done", result))
            ended = await state.jobs.find(JOBS[0], "ann")
            assert ended is not None
            assert (ended.state, ended.result, ended.updated_at) == ("done", result, clock.now)
            assert not await state.jobs.begin(JOBS[0])
            assert not await state.jobs.finish(JobEnd(JOBS[0], token, "failed"))

    async def test_jobs_of_others_count_as_missing(self) -> None:
        """They are neither found, nor listed, nor cancelled."""
        async with self.opened() as state:
            await create(state, JOBS[0])
            assert await state.jobs.find(JOBS[0], "bob") is None
            assert await state.jobs.find(JOBS[1], "ann") is None
            assert await state.jobs.list("bob", None, 50) == []
            await state.jobs.ask_cancel(JOBS[0], "bob")
            assert await state.jobs.cancel_asked(JOBS) == set()

    async def test_a_dead_owner_is_followed_and_changes_nothing_any_more(self) -> None:
        """Its job is interrupted, then its successor's; its late end is refused."""
        clock = Clock()
        async with self.opened(clock) as state:
            await create(state, JOBS[0])
            assert await state.jobs.orphans(9) == [], "a job that was just made is nobody's orphan"
            dead = await begin(state, JOBS[0])
            clock.now += LEASE_S + 1
            assert [job.id for job in await state.jobs.orphans(9)] == [JOBS[0]]
            alive = await begin(state, JOBS[0])
            late = JobEnd(JOBS[0], dead, "failed", error={"code": "INTERNAL"})
            assert not await state.jobs.finish(late)
            assert [job.state for job in await state.jobs.list("ann", None, 9)] == ["running"]
            assert await state.jobs.finish(replace(late, token=alive))
            (job,) = await state.jobs.list("ann", None, 9)
            assert job.state == "failed"
            assert (job.error, job.runs) == ({"code": "INTERNAL"}, 2)

    async def test_the_list_is_newest_first_by_states_with_a_limit(self) -> None:
        """States are as callers see them."""
        clock = Clock()
        async with self.opened(clock) as state:
            for job_id in JOBS[:5]:
                await create(state, job_id)
                clock.now += 1
            await begin(state, JOBS[1])
            await state.jobs.ask_cancel(JOBS[2], "ann")
            assert [it.id for it in await state.jobs.list("ann", None, 3)] == JOBS[4:1:-1]
            assert await those(state, "cancelled") == [JOBS[2]]
            clock.now += LEASE_S
            assert {*await those(state, "interrupted")} >= {JOBS[0], JOBS[3], JOBS[4]}
            assert await those(state) == []

    async def test_cancelling_asks_an_owner_and_ends_what_nobody_works_on(self) -> None:
        """An owner that dies when asked leaves a cancelled job, which nobody begins."""
        clock = Clock()
        async with self.opened(clock) as state:
            for job_id in JOBS[:2]:
                await create(state, job_id)
            await begin(state, JOBS[0])
            for job_id in JOBS[:2]:
                await state.jobs.ask_cancel(job_id, "ann")
            states = {it.id: it.state for it in await state.jobs.list("ann", None, 9)}
            assert states == {JOBS[0]: "running", JOBS[1]: "cancelled"}
            assert JOBS[0] in await state.jobs.cancel_asked(JOBS)
            clock.now += LEASE_S + 1
            assert await state.jobs.orphans(9) == []
            assert not await state.jobs.begin(JOBS[0])
            job = await state.jobs.find(JOBS[0], "ann")
            assert job is not None
            assert job.state == "cancelled"

    async def test_pruning_takes_what_ended_long_ago_with_its_steps(self) -> None:
        """A job that runs stays, however old."""
        clock = Clock()
        async with self.opened(clock) as state:
            for job_id in JOBS[:3]:
                await create(state, job_id)
                await state.steps.commit(job_scope(job_id), "1", "", 1, None)
            for job_id in JOBS[:2]:
                token = await begin(state, job_id)
                await state.jobs.finish(JobEnd(job_id, token, "done", {}))
                clock.now += 100
            assert await state.jobs.prune(150) == 1
            assert {it.id for it in await state.jobs.list("ann", None, 9)} == {*JOBS[1:3]}
            assert await state.steps.find(job_scope(JOBS[0]), "1", "") is None
            assert await state.steps.find(job_scope(JOBS[1]), "1", "") == (1,)


async def those(state: State, *states: JobState) -> list[str]:
    """List ann's jobs of these states, newest first."""
    return [job.id for job in await state.jobs.list("ann", states, 9)]


async def create(state: State, job_id: str, tool: str = "zoo_echo") -> None:
    """Add a job that was begun 5 seconds ago."""
    await state.jobs.create(
        id=job_id,
        tool=tool,
        arguments={"parts": [1, None, "é"]},
        principal="ann",
        workspace="default",
        version="",
        age_s=5.0,
    )


async def begin(state: State, job_id: str) -> int:
    """Own a job and begin it; returns the token."""
    taken = await state.leases.take(job_scope(job_id))
    assert taken is not None
    assert await state.jobs.begin(job_id)
    return taken[0]
