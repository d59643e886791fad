"""A follower in virtual time: woken, tried again with growing pauses, its trouble told once."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, cast

from virtual_time import run_virtually
from vr_kernel import Follower, Log


class Lines:
    """A log that keeps its lines, with their levels."""

    def __init__(self) -> None:
        self.lines: list[tuple[str, str]] = []

    def warning(self, event: str, **fields: Any) -> None:
        self.lines.append(("warning", fields["error"]))

    def debug(self, event: str, **fields: Any) -> None:
        self.lines.append(("debug", fields["error"]))


class Work:
    """Work that fails as often as it is told to."""

    def __init__(self, *failures: Exception) -> None:
        self.log = Lines()
        self.times: list[float] = []
        self.failures = [*failures]
        self.progresses = False
        self.follower = Follower(
            self.catch_up,
            name="test",
            log=cast("Log", self.log),
            complaint="work failed",
            on_failure=self.look_again,
            first_pause_s=1.0,
            longest_pause_s=4.0,
        )
        self.looks = 0

    async def catch_up(self) -> None:
        self.times.append(asyncio.get_running_loop().time())
        self.follower.progressed = self.progresses
        if self.failures:
            raise self.failures.pop(0)

    async def look_again(self) -> None:
        self.looks += 1


def run(check: Coroutine[Any, Any, None]) -> None:
    run_virtually(check)


def test_nothing_is_done_before_it_is_woken() -> None:
    async def check() -> None:
        work = Work()
        assert await work.follower.settled(1)
        assert (work.times, work.follower.began) == ([], False)
        work.follower.wake()
        work.follower.wake()
        assert await work.follower.settled(1)
        assert len(work.times) == 1
        work.follower.wake()
        assert await work.follower.settled(1)
        assert len(work.times) == 2

    run(check())


def test_pauses_double_up_to_the_longest() -> None:
    async def check() -> None:
        work = Work(*[OSError("away")] * 4)
        work.follower.wake()
        assert not await work.follower.settled(10)
        assert await work.follower.settled(2)
        assert work.times == [0, 1, 3, 7, 11]
        assert (work.looks, work.follower.trouble) == (4, "")

    run(check())


def test_progress_makes_the_pause_the_first_one() -> None:
    async def check() -> None:
        work = Work(*[OSError("away")] * 3)
        work.progresses = True
        work.follower.wake()
        assert await work.follower.settled(10)
        assert work.times == [0, 1, 2, 3]

    run(check())


def test_a_trouble_is_told_once_and_another_one_again() -> None:
    async def check() -> None:
        work = Work(OSError("away"), OSError("away"), ValueError("odd"))
        work.follower.wake()
        assert not await work.follower.settled(0.5)
        assert work.follower.trouble == "OSError: away"
        await work.follower.settled(20)
        told = [
            ("warning", "OSError: away"),
            ("debug", "OSError: away"),
            ("warning", "ValueError: odd"),
        ]
        assert work.log.lines == told

    run(check())


def test_a_wake_during_the_work_is_not_lost() -> None:
    async def check() -> None:
        work = Work()

        async def wait_a_little() -> None:
            work.times.append(0)
            if len(work.times) == 1:
                assert not await follower.woken(1)
                assert await follower.woken(60)

        follower = Follower(wait_a_little, name="test", log=cast("Log", work.log), complaint="")
        follower.wake()
        await asyncio.sleep(2)
        follower.wake()
        assert await follower.settled(1)
        assert len(work.times) == 2

    run(check())


def test_closing_stops_what_goes_on() -> None:
    async def check() -> None:
        work = Work(OSError("away"))
        work.follower.wake()
        assert not await work.follower.settled(0.5)
        await work.follower.aclose()
        assert not work.follower.began
        await asyncio.sleep(10)
        assert len(work.times) == 1

    run(check())
