"""The contract of limits and signals: tests that each implementation inherits."""

from __future__ import annotations

import asyncio

from vr_testing.contracts.state.part import PartContract


class LimitsContract(PartContract):
    """The tests of `vr_kernel.state.LimitTable`."""

    async def test_a_limit_is_never_passed(self) -> None:
        """Of many that reserve at once as many are served as fit; what was used counts after."""
        async with self.opened() as state:
            token, _ = await state.leases.take("owner") or (0, 0)
            asked = [state.limits.reserve("day", 3.0, 10.0, token) for _ in range(20)]
            served = [each for each in await asyncio.gather(*asked) if each is not None]
            assert len(served) == 3  # noqa: PLR2004
            assert await state.limits.used("day") == (0.0, 9.0)
            assert await state.limits.used("other") == (0.0, 0.0)
            for reservation in served[:2]:
                for _ in range(2):
                    await state.limits.settle(reservation, "day", 1.0)
            assert await state.limits.used("day") == (2.0, 3.0)
            assert await state.limits.reserve("day", 5.5, 10.0, token) is None
            assert await state.limits.reserve("day", 5.0, 10.0, token) is not None
            assert await state.limits.reserve("day", 1.0, 20.0, token) is not None

    async def test_what_the_dead_reserved_is_free_again(self) -> None:
        """But what they turn out to have used counts."""
        async with self.opened() as state:
            dead, _ = await state.leases.take("dead") or (0, 0)
            alive, _ = await state.leases.take("alive") or (0, 0)
            reservation = await state.limits.reserve("day", 10.0, 10.0, dead)
            assert reservation is not None
            assert await state.limits.reserve("day", 1.0, 10.0, alive) is None
            await state.leases.release([dead])
            assert await state.limits.used("day") == (0.0, 0.0)
            assert await state.limits.reserve("day", 1.0, 10.0, alive) is not None
            await state.limits.settle(reservation, "day", 4.0)
            assert await state.limits.used("day") == (4.0, 1.0)
            await state.limits.forget("day")
            assert await state.limits.used("day") == (0.0, 0.0)


class SignalsContract(PartContract):
    """The tests of `vr_kernel.state.Signals`."""

    async def test_a_signal_wakes_all_that_wait_for_its_name(self) -> None:
        """Others wait on until their time is over; one that comes before is no signal."""
        async with self.opened() as state:
            state.signals.send("a")
            waiting = [asyncio.create_task(state.signals.wait("a", 60)) for _ in range(3)]
            other = asyncio.create_task(state.signals.wait("b", 0.01))
            assert not await other
            assert not any(task.done() for task in waiting)
            await asyncio.to_thread(state.signals.send, "a")
            assert await asyncio.gather(*waiting) == [True] * 3
