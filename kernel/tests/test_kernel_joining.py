"""Equal work of one process is done once, for as long as anybody waits for it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from vr_kernel import Joined


class Kitchen:
    """Cooks when it is told to, and counts."""

    def __init__(self) -> None:
        self.joined: Joined[int] = Joined()
        self.begun = self.ended = 0
        self.fire = asyncio.Event()

    async def cook(self) -> int:
        self.begun += 1
        try:
            await self.fire.wait()
        finally:
            self.ended += 1
        return self.begun

    async def order(self, cook: Callable[[], Awaitable[int]] | None = None) -> asyncio.Task[int]:
        """A caller who waits."""
        waiting = asyncio.create_task(self.joined.run("soup", cook or self.cook))
        await asyncio.sleep(0)
        return waiting


@pytest.fixture
def kitchen() -> Kitchen:
    return Kitchen()


async def test_equal_work_is_done_once_and_again_when_it_has_ended(kitchen: Kitchen) -> None:
    orders = [await kitchen.order() for _ in range(10)]
    assert "soup" in kitchen.joined
    kitchen.fire.set()
    assert await asyncio.gather(*orders) == [1] * 10
    assert "soup" not in kitchen.joined
    assert await kitchen.joined.run("soup", kitchen.cook) == 2


@pytest.mark.parametrize("leavers", [(0,), (1, 2), (2, 0)])
async def test_it_goes_on_while_anybody_waits(kitchen: Kitchen, leavers: tuple[int, ...]) -> None:
    orders = [await kitchen.order() for _ in range(3)]
    for number in leavers:
        orders[number].cancel()
    await asyncio.wait([orders[number] for number in leavers])
    kitchen.fire.set()
    stayed = [order for number, order in enumerate(orders) if number not in leavers]
    assert await asyncio.gather(*stayed) == [1] * len(stayed)
    assert kitchen.begun == 1


async def test_the_last_one_who_leaves_ends_it(kitchen: Kitchen) -> None:
    orders = [await kitchen.order() for _ in range(3)]
    for order in orders:
        order.cancel()
    await asyncio.wait(orders)
    assert all(order.cancelled() for order in orders)
    assert (kitchen.begun, kitchen.ended, "soup" in kitchen.joined) == (1, 1, False)


async def test_work_that_begins_while_the_old_one_still_ends_is_ended_like_any_other(
    kitchen: Kitchen,
) -> None:
    tidied = asyncio.Event()

    async def slow_to_stop() -> int:
        try:
            return await kitchen.cook()
        finally:
            await tidied.wait()

    first = await kitchen.order(slow_to_stop)
    await asyncio.sleep(0)
    first.cancel()
    await asyncio.sleep(0)
    second = await kitchen.order()
    await asyncio.sleep(0)
    second.cancel()
    await asyncio.wait([second])
    assert (kitchen.begun, kitchen.ended) == (2, 2)
    tidied.set()
    await asyncio.wait([first])
    assert first.cancelled()


async def test_all_who_wait_get_its_error(kitchen: Kitchen) -> None:
    async def burn() -> int:
        await kitchen.cook()
        raise ZeroDivisionError

    orders = [await kitchen.order(burn) for _ in range(3)]
    kitchen.fire.set()
    await asyncio.wait(orders)
    assert {type(order.exception()) for order in orders} == {ZeroDivisionError}
