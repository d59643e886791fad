"""The only retry loop: pauses, a shared budget, circuits and a total deadline."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from dataclasses import dataclass
from random import Random
from typing import TypeVar

from vr_kernel.config.model_settings import ModelsSettings
from vr_kernel.errors import Code, VrError
from vr_kernel.generation import Usage
from vr_kernel.models.circuit import NO_ROOM, NOT_ASKED, Circuit

T = TypeVar("T")
DEADLINE_EXCEEDED = "DEADLINE_EXCEEDED"
# The amounts of the AWS SDKs (botocore.retries.quota).
BUDGET = 500
RETRY_COST = 14
THROTTLED_RETRY_COST = 5
FIRST_TRY_GAIN = 1


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Limits of retries; times in seconds.

    Args:
        attempts: maximum number that one call makes.
        base_delay_s: longest pause before the second attempt; it doubles with each further one.
        max_delay_s: longest pause, unless the service itself asks for more.
        deadline_s: for all attempts, pauses and waits of a call together.
    """

    attempts: int = 3
    base_delay_s: float = 1.0
    max_delay_s: float = 60.0
    deadline_s: float = 600.0

    @classmethod
    def of(cls, settings: ModelsSettings) -> RetryPolicy:
        """The limits that are configured."""
        return cls(
            attempts=settings.attempts,
            base_delay_s=settings.retry_base_delay_s,
            max_delay_s=settings.retry_max_delay_s,
            deadline_s=settings.deadline_s,
        )


class Retrier:
    """Makes calls with retries. All callers of one retrier share its budget.

    The budget keeps retries from flooding a service that is down: it starts at `BUDGET`, a retry
    takes `RETRY_COST`, after a throttled answer `THROTTLED_RETRY_COST`. A retry that succeeds
    gives back what it took, a first try that succeeds gives `FIRST_TRY_GAIN`.

    Args:
        policy: called once per call, so that a changed setting applies to later calls.
        clock: a monotonic clock, in seconds.
        sleep: waits for seconds.
        random: draws the pauses, so that callers do not retry all at once.
    """

    def __init__(
        self,
        policy: Callable[[], RetryPolicy],
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
        random: Random | None = None,
    ) -> None:
        self._policy = policy
        self._clock = clock
        self._sleep = sleep
        self._random = random or Random()  # noqa: S311 - spreads callers, keeps no secret
        self._budget = BUDGET
        self._circuits: dict[str, Circuit] = {}

    @property
    def budget(self) -> int:
        """The amount that is left for retries."""
        return self._budget

    async def run(
        self,
        target: str,
        attempt: Callable[[int], Awaitable[T]],
        *,
        deadline_s: float | None = None,
        room: AbstractAsyncContextManager[object] | None = None,
    ) -> T:
        """Return the result of the first attempt that succeeds.

        The last error of a call carries in `usage` what all its attempts cost.

        Args:
            target: what is called; each target has its own circuit.
            attempt: makes one attempt, by its number from 1.
            deadline_s: replaces the policy's.
            room: held during each attempt, released during each pause.

        Raises:
            VrError: what the last attempt raised; UNAVAILABLE, category DEADLINE_EXCEEDED, when
                it was cut off, NO_ROOM when it waited for room until then; UNAVAILABLE,
                category CIRCUIT_OPEN, when none was made.
        """
        policy = self._policy()
        seconds = policy.deadline_s if deadline_s is None else deadline_s
        circuit = self._circuit(target)
        end = self._clock() + seconds
        with circuit.call() as probe:
            course = _Course(target, circuit, policy, seconds, end, room or nullcontext(), probe)
            number, taken = 1, 0
            usages: list[Usage | None] = []
            while True:
                try:
                    async with self._slot(course):
                        answer = await attempt(number)
                except VrError as error:
                    if error.category in NOT_ASKED:
                        self._give(taken)
                    usages.append(error.usage)
                    taken = await self._pause(course, number, error)
                    if not taken:
                        error.usage = _total(usages)
                        raise
                else:
                    self._give(taken or FIRST_TRY_GAIN)
                    return answer
                number += 1

    def rests(self, target: str) -> float | None:
        """Seconds until the circuit of `target` lets a probe through; None when closed."""
        return self._circuit(target).rests()

    def _circuit(self, target: str) -> Circuit:
        return self._circuits.setdefault(target, Circuit(target, self._clock))

    @asynccontextmanager
    async def _slot(self, course: _Course) -> AsyncIterator[None]:
        """Hold the room for one attempt, within the remaining time."""
        limit = asyncio.timeout(course.end - self._clock())
        waited = True
        try:
            async with limit, course.room:
                waited = False
                course.check()
                yield
        except TimeoutError as error:
            if not limit.expired():
                raise
            raise (course.crowded_out() if waited else course.too_late()) from error

    async def _pause(self, course: _Course, number: int, error: VrError) -> int:
        """Wait for the next attempt; returns its cost in the budget, 0 for no attempt."""
        cost = THROTTLED_RETRY_COST if error.code is Code.QUOTA else RETRY_COST
        pause = (error.retry_after or 0.0) + self._random.uniform(0, course.longest_pause(number))
        wanted = error.retryable and error.category not in NOT_ASKED
        wanted = wanted and number < course.policy.attempts
        in_time = self._clock() + pause < course.end
        if not (wanted and in_time and course.circuit.closed and cost <= self._budget):
            return 0
        self._budget -= cost
        made = False
        try:
            await self._sleep(pause)
            made = course.circuit.closed and self._clock() < course.end
        finally:
            if not made:
                self._give(cost)
        return cost if made else 0

    def _give(self, amount: int) -> None:
        self._budget = min(BUDGET, self._budget + amount)


@dataclass(frozen=True, slots=True)
class _Course:
    """The state that the attempts of one call share; `end` is a time of the retrier's clock."""

    target: str
    circuit: Circuit
    policy: RetryPolicy
    deadline_s: float
    end: float
    room: AbstractAsyncContextManager[object]
    probe: bool

    def check(self) -> None:
        if not self.probe:
            self.circuit.check()

    def longest_pause(self, number: int) -> float:
        return float(min(self.policy.max_delay_s, self.policy.base_delay_s * 2 ** (number - 1)))

    def too_late(self) -> VrError:
        return VrError(
            f"{self.target} gave no answer within {self.deadline_s:g} s.",
            Code.UNAVAILABLE,
            category=DEADLINE_EXCEEDED,
            hint="Ask for less at once, or raise the setting [models] deadline_s.",
            retryable=True,
        )

    def crowded_out(self) -> VrError:
        return VrError(
            f"{self.target} was not asked: {self.deadline_s:g} s went by behind other requests.",
            Code.UNAVAILABLE,
            category=NO_ROOM,
            hint="Ask for less at once, or raise the settings [models] concurrency or deadline_s.",
            retryable=True,
        )


def _total(usages: list[Usage | None]) -> Usage | None:
    paid = [usage for usage in usages if usage is not None]
    return sum(paid, Usage()) if paid else None
