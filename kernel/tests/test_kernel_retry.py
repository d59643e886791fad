"""Retries: attempts, pauses, the shared budget, circuits and deadlines, in virtual time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from random import Random

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from virtual_time import run_virtually
from vr_kernel import Code, VrError
from vr_kernel.generation import Usage
from vr_kernel.models.circuit import FAILED_CALLS, PROBE_PAUSE_S, Circuit
from vr_kernel.models.retry import BUDGET, Retrier, RetryPolicy

quick = settings(max_examples=30)
Step = BaseException | str


def down(*, usage: Usage | None = None) -> VrError:
    return VrError("503", Code.UNAVAILABLE, retryable=True, usage=usage)


def throttled(retry_after: float | None = None) -> VrError:
    return VrError("429", Code.QUOTA, retryable=True, retry_after=retry_after)


def retrier(**policy: float) -> Retrier:
    """On the clock of the running loop."""
    return Retrier(
        lambda: RetryPolicy(**policy),  # type: ignore[arg-type]
        clock=asyncio.get_running_loop().time,
        random=Random(7),
    )


def script(*steps: Step) -> tuple[Callable[[int], Awaitable[str]], list[tuple[int, float]]]:
    """An attempt that does one step after another, the last one for ever; and when it did."""
    made: list[tuple[int, float]] = []

    async def attempt(number: int) -> str:
        made.append((number, asyncio.get_running_loop().time()))
        step = steps[min(len(made), len(steps)) - 1]
        if isinstance(step, BaseException):
            raise step
        return step

    return attempt, made


async def fails(retry: Retrier, *steps: Step, target: str = "m", **options: float) -> VrError:
    with pytest.raises(VrError) as caught:
        await retry.run(target, script(*steps)[0], **options)
    return caught.value


async def open_circuit(retry: Retrier, target: str = "m") -> None:
    for _ in range(FAILED_CALLS):
        assert retry.rests(target) is None
        await fails(retry, down(), target=target)
    assert retry.rests(target) == PROBE_PAUSE_S


# How many attempts, and how long between them.


@quick
@given(attempts=st.integers(1, 10), failing=st.integers(0, 12))
def test_a_retryable_failure_is_tried_as_often_as_the_policy_says(
    attempts: int, failing: int
) -> None:
    async def check() -> None:
        attempt, made = script(*[down()] * failing, "answer")
        call = retrier(attempts=attempts).run("m", attempt)
        if failing < attempts:
            assert await call == "answer"
        else:
            with pytest.raises(VrError, match="503"):
                await call
        assert [number for number, _ in made] == list(range(1, min(failing + 1, attempts) + 1))

    run_virtually(check())


@pytest.mark.parametrize(
    "error",
    [
        VrError("400", Code.INVALID_INPUT),
        VrError("401", Code.AUTH),
        VrError("404", Code.NOT_FOUND),
        VrError("gone", Code.UNAVAILABLE),
        ValueError("a bug"),
        TimeoutError("of the attempt itself"),
        asyncio.CancelledError(),
    ],
)
def test_what_is_not_retryable_is_tried_once_and_raised_as_it_is(error: BaseException) -> None:
    async def check() -> None:
        attempt, made = script(error)
        with pytest.raises(type(error)) as caught:
            await retrier().run("m", attempt)
        assert caught.value is error
        assert made == [(1, 0.0)]

    run_virtually(check())


@quick
@given(base=st.floats(0.01, 60), longest=st.floats(0.01, 600), seed=st.integers(0, 1000))
def test_pauses_are_drawn_from_a_range_that_doubles(base: float, longest: float, seed: int) -> None:
    pauses: list[float] = []

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)

    async def check() -> None:
        policy = RetryPolicy(6, base, longest, 86_400)
        retry = Retrier(lambda: policy, sleep=sleep, random=Random(seed))
        await fails(retry, down())

    run_virtually(check())
    same = Random(seed)
    assert pauses == [same.uniform(0, min(longest, base * 2**n)) for n in range(5)]


def test_pauses_use_the_whole_range() -> None:
    async def check() -> list[float]:
        firsts: list[float] = []
        retry = retrier(attempts=2)
        for _ in range(400):
            attempt, made = script(down(), "answer")
            await retry.run("m", attempt)
            firsts.append(made[1][1] - made[0][1])
        return firsts

    firsts = run_virtually(check())
    assert 0 <= min(firsts) < 0.05
    assert 0.95 < max(firsts) <= 1
    assert sum(firsts) / len(firsts) == pytest.approx(0.5, abs=0.06)


@quick
@given(asked=st.floats(0, 100), code=st.sampled_from([Code.QUOTA, Code.UNAVAILABLE]))
def test_a_retry_waits_at_least_as_long_as_it_is_told(asked: float, code: Code) -> None:
    async def check() -> None:
        attempt, made = script(VrError("x", code, retryable=True, retry_after=asked), "answer")
        assert await retrier().run("m", attempt) == "answer"
        assert asked <= made[1][1] <= asked + 1

    run_virtually(check())


@pytest.mark.parametrize("asked", [600, 601, 1e9, float("inf"), float("nan")])
def test_a_wait_past_the_deadline_is_not_begun(asked: float) -> None:
    async def check() -> None:
        retry = retrier(deadline_s=600)
        attempt, made = script(throttled(asked))
        with pytest.raises(VrError, match="429") as caught:
            await retry.run("m", attempt)
        assert made == [(1, 0.0)]
        assert (caught.value.retryable, caught.value.retry_after) == (True, asked)
        assert asyncio.get_running_loop().time() == 0
        assert retry.budget == BUDGET

    run_virtually(check())


def test_the_policy_is_asked_for_each_call() -> None:
    async def check() -> None:
        attempts = [1, 4]
        retry = Retrier(lambda: RetryPolicy(attempts=attempts.pop()))
        for expected in (4, 1):
            attempt, made = script(down())
            with pytest.raises(VrError):
                await retry.run(f"m{expected}", attempt)
            assert len(made) == expected

    async def instantly(seconds: float) -> None: ...

    run_virtually(check())


# What was paid.


@quick
@given(tokens=st.lists(st.none() | st.integers(0, 10**9), min_size=1, max_size=8))
@example(tokens=[None, None])
def test_the_last_error_carries_what_all_attempts_were_paid(tokens: Sequence[int | None]) -> None:
    async def check() -> None:
        usages = [None if n is None else Usage(calls=1, input_tokens=n) for n in tokens]
        errors = [down(usage=usage) for usage in usages]
        error = await fails(retrier(attempts=len(errors)), *errors)
        assert error is errors[-1]
        known = [n for n in tokens if n is not None]
        expected = Usage(calls=len(known), input_tokens=sum(known)) if known else None
        assert error.usage == expected

    run_virtually(check())


def test_a_deadline_keeps_what_was_paid_before_it() -> None:
    async def check() -> None:
        async def attempt(number: int) -> str:
            if number == 1:
                raise down(usage=Usage(calls=1, output_tokens=5))
            await asyncio.sleep(10_000)
            return "too late"

        with pytest.raises(VrError) as caught:
            await retrier().run("m", attempt)
        assert caught.value.category == "DEADLINE_EXCEEDED"
        assert caught.value.usage == Usage(calls=1, output_tokens=5)

    run_virtually(check())


# The budget that all callers share.


@quick
@given(
    calls=st.lists(
        st.tuples(st.text("dt", max_size=4), st.sampled_from(["ok", "fail", "refuse"])),
        max_size=80,
    )
)
def test_the_budget_follows_its_rules_exactly(calls: list[tuple[str, str]]) -> None:
    """A retry after `d` costs 14, after `t` 5; then the call ends."""

    async def check() -> None:
        retry = retrier(attempts=5, deadline_s=1e9)
        budget = BUDGET
        for number, (failures, end) in enumerate(calls):
            steps: list[Step] = [throttled() if f == "t" else down() for f in failures]
            ends: dict[str, Step] = {"ok": "answer", "fail": down()}
            steps.append(ends.get(end, VrError("no", Code.AUTH)))
            attempt, made = script(*steps)
            taken, expected = 0, 1
            for failure in failures:
                cost = 5 if failure == "t" else 14
                if cost > budget:
                    break
                budget, taken, expected = budget - cost, cost, expected + 1
            else:
                if end == "ok":
                    budget = min(BUDGET, budget + (taken or 1))
                while end == "fail" and expected < 5 and budget >= 14:
                    budget, expected = budget - 14, expected + 1
            with suppress(VrError):
                await retry.run(f"target {number}", attempt)
            assert (retry.budget, len(made)) == (budget, expected)

    run_virtually(check())


def test_an_empty_budget_stops_retries_and_successes_fill_it_again() -> None:
    async def check() -> None:
        retry = retrier(attempts=10, deadline_s=1e9)
        for number in range(10):
            await fails(retry, down(), target=str(number))
        assert retry.budget == BUDGET % 14
        attempt, made = script(throttled())
        with pytest.raises(VrError):
            await retry.run("quota", attempt)
        assert len(made) == 3  # two throttled retries took the last 10
        assert retry.budget == 0
        for _ in range(14):
            await retry.run("well", script("answer")[0])
        attempt, made = script(down(), "answer")
        assert await retry.run("well", attempt) == "answer"

    run_virtually(check())


def test_a_first_try_never_fills_the_budget_above_its_size() -> None:
    async def check() -> None:
        retry = retrier()
        await retry.run("m", script(down(), down(), "answer")[0])
        assert retry.budget == BUDGET - 14
        for gained in range(1, 30):
            await retry.run("m", script("answer")[0])
            assert retry.budget == min(BUDGET, BUDGET - 14 + gained)

    run_virtually(check())


# A circuit for each target.


def test_a_dead_target_is_left_alone_and_found_again_when_it_is_well() -> None:
    """100 callers who come back every half second; the target is well from 30 s on."""

    async def check() -> tuple[int, int, float]:
        loop = asyncio.get_running_loop()
        retry = retrier(attempts=3)
        calls = attempts = 0
        answered: list[float] = []

        async def attempt(_number: int) -> str:
            nonlocal attempts
            attempts += 1
            await asyncio.sleep(0.05)
            if loop.time() < 30:
                raise down()
            return "answer"

        async def caller(offset: float) -> None:
            nonlocal calls
            await asyncio.sleep(offset)
            while loop.time() < 40:
                calls += 1
                try:
                    await retry.run("m", attempt)
                except VrError:
                    await asyncio.sleep(0.5)
                else:
                    answered.append(loop.time())
                    return

        await asyncio.gather(*(caller(n / 200) for n in range(100)))
        assert len(answered) == 100
        return calls, attempts, max(answered)

    calls, attempts, last = run_virtually(check())
    assert calls > 5000
    assert attempts <= 1.2 * calls
    assert attempts < 400  # the first wave, then one every 3 s
    assert 30 < last <= 36


def test_a_dead_target_costs_few_attempts_when_all_calls_come_at_once() -> None:
    async def check() -> int:
        retry = retrier()
        made = 0

        async def attempt(_number: int) -> str:
            nonlocal made
            made += 1
            await asyncio.sleep(0.1)
            raise down()

        for _ in range(10):
            await asyncio.gather(
                *(retry.run("m", attempt) for _ in range(100)), return_exceptions=True
            )
        return made

    assert run_virtually(check()) <= 1.2 * 1000


def test_a_throttling_target_is_not_pressed_and_works_again_at_once() -> None:
    """100 callers of a target that answers all of them with 429, to come back in 2 s."""

    async def check() -> None:
        loop = asyncio.get_running_loop()
        retry = retrier()
        made: list[float] = []

        async def attempt(_number: int) -> str:
            made.append(loop.time())
            await asyncio.sleep(0.1)
            if loop.time() < 100:
                raise throttled(2)
            return "answer"

        async def wave() -> list[str | BaseException]:
            calls = (retry.run("m", attempt) for _ in range(100))
            return await asyncio.gather(*calls, return_exceptions=True)

        await wave()
        assert retry.budget == 0
        assert len(made) == 200
        assert not [moment for moment in made[100:] if moment < 2.1]
        for _ in range(5):
            await wave()
        assert len(made) == 700
        assert retry.rests("m") is None
        await asyncio.sleep(100)
        assert await wave() == ["answer"] * 100

    run_virtually(check())


@pytest.mark.parametrize("at_once", [1, 32])
def test_a_tenth_of_failures_is_hidden_from_callers(at_once: int) -> None:
    async def check() -> tuple[int, int]:
        retry = retrier()
        gate, dice = asyncio.Semaphore(at_once), Random(11)
        made = succeeded = 0

        async def attempt(_number: int) -> str:
            nonlocal made
            made += 1
            await asyncio.sleep(dice.uniform(0.5, 2))
            if dice.random() < 0.1:
                raise down()
            return "answer"

        async def call() -> None:
            nonlocal succeeded
            async with gate:
                await retry.run("m", attempt)
                succeeded += 1

        await asyncio.gather(*(call() for _ in range(1000)), return_exceptions=True)
        return succeeded, made

    succeeded, made = run_virtually(check())
    assert succeeded >= 995
    assert made <= 1200


def test_a_circuit_counts_calls_of_its_own_target_that_say_it_is_not_well() -> None:
    async def check() -> None:
        retry = retrier(attempts=1)
        neutral = [throttled(), VrError("x", Code.AUTH), VrError("x", Code.INVALID_INPUT)]
        for _ in range(3):
            for error in neutral:
                await fails(retry, error)
        for _ in range(FAILED_CALLS - 1):
            await fails(retry, down())
            await fails(retry, down(), target="other")
        assert retry.rests("m") is None
        await fails(retry, throttled())
        await fails(retry, down())
        assert retry.rests("m") == PROBE_PAUSE_S
        assert retry.rests("other") is None
        assert await retry.run("other", script("answer")[0]) == "answer"
        for _ in range(FAILED_CALLS - 1):
            await fails(retry, down(), target="other")
        assert retry.rests("other") is None  # the success began the count anew

    run_virtually(check())


# Room for a few at a time.


def test_a_pause_leaves_its_room_to_others() -> None:
    async def check() -> None:
        retry, room = retrier(), asyncio.Semaphore(1)
        attempt, made = script(throttled(60), "answer")
        pausing = asyncio.create_task(retry.run("m", attempt, room=room))
        await asyncio.sleep(1)
        assert await retry.run("other", script("answer")[0], room=room) == "answer"
        assert asyncio.get_running_loop().time() == 1
        assert await pausing == "answer"
        assert len(made) == 2
        assert not room.locked()

    run_virtually(check())


def test_waiting_for_room_counts_towards_the_deadline_but_not_against_the_target() -> None:
    async def check() -> None:
        retry, room = retrier(), asyncio.Semaphore(0)
        attempt, made = script("answer")
        for _ in range(FAILED_CALLS):
            before = asyncio.get_running_loop().time()
            with pytest.raises(VrError, match="m was not asked: 2 s went by") as caught:
                await retry.run("m", attempt, deadline_s=2, room=room)
            assert (caught.value.category, caught.value.retryable) == ("NO_ROOM", True)
            assert asyncio.get_running_loop().time() == before + 2
        room.release()
        assert await retry.run("m", attempt, deadline_s=2, room=room) == "answer"
        assert len(made) == 1

    run_virtually(check())


def test_a_retry_that_finds_no_room_costs_nothing() -> None:
    async def check() -> None:
        retry, room = retrier(), asyncio.Semaphore(1)
        attempt, made = script(throttled(5), "answer")
        pausing = asyncio.create_task(retry.run("m", attempt, deadline_s=10, room=room))
        await asyncio.sleep(1)
        await room.acquire()
        with pytest.raises(VrError) as caught:
            await pausing
        assert (caught.value.category, len(made), retry.budget) == ("NO_ROOM", 1, BUDGET)

    run_virtually(check())


def test_who_waited_for_room_does_not_ask_what_has_failed_meanwhile() -> None:
    async def check() -> None:
        retry, room = retrier(attempts=1), asyncio.Semaphore(0)
        attempt, made = script("answer")
        waiting = [asyncio.create_task(retry.run("m", attempt, room=room)) for _ in range(10)]
        await asyncio.sleep(0)
        await open_circuit(retry)
        room.release()
        ended = await asyncio.gather(*waiting, return_exceptions=True)
        assert {getattr(error, "category", None) for error in ended} == {"CIRCUIT_OPEN"}
        assert made == []

    run_virtually(check())


def test_an_open_circuit_refuses_at_once_and_says_until_when() -> None:
    async def check() -> None:
        retry = retrier(attempts=1)
        await open_circuit(retry)
        await asyncio.sleep(1)
        attempt, made = script("answer")
        with pytest.raises(VrError) as caught:
            await retry.run("m", attempt)
        error = caught.value
        assert (error.code, error.category) == (Code.UNAVAILABLE, "CIRCUIT_OPEN")
        assert (error.retryable, error.retry_after) == (True, 2.0)
        assert made == []
        await asyncio.sleep(2)
        assert retry.rests("m") == 0
        assert await retry.run("m", attempt) == "answer"
        assert retry.rests("m") is None

    run_virtually(check())


@pytest.mark.parametrize("end", ["fails", "is throttled", "breaks", "is cancelled", "hangs"])
def test_one_probe_at_a_time_and_none_leaves_the_circuit_stuck(end: str) -> None:
    async def check() -> None:
        retry = retrier(attempts=3)
        await open_circuit(retry)
        await asyncio.sleep(retry.rests("m") or 0)

        async def attempt(_number: int) -> str:
            await asyncio.sleep(1e9 if end in ("hangs", "is cancelled") else 1)
            raise {"fails": down(), "is throttled": throttled()}.get(end, ValueError("a bug"))

        probe = asyncio.ensure_future(retry.run("m", attempt))
        await asyncio.sleep(0.5)
        for _ in range(20):
            assert (await fails(retry, "answer")).category == "CIRCUIT_OPEN"
        if end == "is cancelled":
            probe.cancel()
        if end == "hangs":
            assert retry.rests("m") == 2.5
        else:
            await asyncio.wait({probe})
            assert retry.rests("m") == PROBE_PAUSE_S
        await asyncio.sleep(retry.rests("m") or 0)
        assert await retry.run("m", script("answer")[0]) == "answer"
        assert retry.rests("m") is None
        probe.cancel()
        await asyncio.wait({probe})
        assert retry.rests("m") is None

    run_virtually(check())


def test_a_probe_is_one_attempt() -> None:
    async def check() -> None:
        retry = retrier(attempts=3)
        await open_circuit(retry)
        budget = retry.budget
        await asyncio.sleep(PROBE_PAUSE_S)
        attempt, made = script(down())
        with pytest.raises(VrError, match="503"):
            await retry.run("m", attempt)
        assert len(made) == 1
        assert asyncio.get_running_loop().time() == made[0][1]  # nor does it wait for another
        assert retry.budget == budget

    run_virtually(check())


@quick
@given(events=st.lists(st.tuples(st.sampled_from("sfqc"), st.floats(0, 4)), max_size=60))
def test_the_circuit_follows_its_state_machine(events: list[tuple[str, float]]) -> None:
    """Calls that succeed, fail, are throttled or cancelled, some seconds apart."""
    now = 0.0
    circuit = Circuit("m", lambda: now)
    failures, probe_at = 0, None
    for end, pause in events:
        now += pause
        assert circuit.rests() == (None if probe_at is None else max(0.0, probe_at - now))
        refused = probe_at is not None and now < probe_at
        error = {"f": down(), "q": throttled(), "c": asyncio.CancelledError()}.get(end)
        if refused:
            with pytest.raises(VrError, match="left alone"), circuit.call():
                pass
            continue
        with suppress(VrError, asyncio.CancelledError), circuit.call():
            if error:
                raise error
        failures = 0 if end == "s" else failures + (end == "f")
        if end == "s":
            probe_at = None
        elif probe_at is not None or failures >= FAILED_CALLS:
            probe_at = now + PROBE_PAUSE_S


# Cancelled, and too late.


def test_a_cancelled_pause_gives_back_what_it_took() -> None:
    async def check() -> None:
        retry = retrier(base_delay_s=50)
        attempt, made = script(throttled(10))
        call = asyncio.ensure_future(retry.run("m", attempt))
        await asyncio.sleep(5)
        assert retry.budget == BUDGET - 5
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert retry.budget == BUDGET
        assert len(made) == 1

    run_virtually(check())


def test_who_waits_when_the_circuit_opens_does_not_try_again() -> None:
    async def check() -> None:
        retry = retrier()
        attempt, made = script(throttled(10))
        waiting = asyncio.ensure_future(retry.run("m", attempt))
        await asyncio.sleep(0)
        for _ in range(FAILED_CALLS):
            await fails(retry, VrError("cut", Code.UNAVAILABLE, retryable=True, retry_after=1e9))
        with pytest.raises(VrError, match="429"):
            await waiting
        assert len(made) == 1
        assert retry.budget == BUDGET

    run_virtually(check())


@quick
@given(attempts=st.lists(st.floats(0.1, 400), min_size=1, max_size=5), deadline_s=st.floats(1, 900))
def test_the_deadline_covers_attempts_and_pauses(attempts: list[float], deadline_s: float) -> None:
    async def check() -> float:
        async def attempt(number: int) -> str:
            await asyncio.sleep(attempts[number - 1])
            raise down()

        retry = retrier(attempts=len(attempts), base_delay_s=30)
        with pytest.raises(VrError) as caught:
            await retry.run("m", attempt, deadline_s=deadline_s)
        assert caught.value.retryable
        assert caught.value.code is Code.UNAVAILABLE
        took = asyncio.get_running_loop().time()
        if caught.value.category == "DEADLINE_EXCEEDED":
            assert took == pytest.approx(deadline_s)
            assert "[models] deadline_s" in caught.value.hint
        return took

    assert run_virtually(check()) <= deadline_s * 1.001


def test_a_target_that_hangs_opens_its_circuit() -> None:
    async def check() -> None:
        retry = retrier()
        for _ in range(FAILED_CALLS):
            with pytest.raises(VrError, match=r"m gave no answer within 2 s\."):
                await retry.run("m", lambda _number: asyncio.sleep(1e9), deadline_s=2)
        assert retry.rests("m") == PROBE_PAUSE_S

    run_virtually(check())


async def test_a_hang_is_cut_in_real_time_and_leaves_nothing_running() -> None:
    retry = Retrier(RetryPolicy)
    ended: list[str] = []

    async def attempt(_number: int) -> str:
        try:
            await asyncio.get_running_loop().create_future()
            return "never"
        finally:
            ended.append("cancelled")

    with pytest.raises(VrError) as caught:
        await retry.run("m", attempt, deadline_s=0.1)
    assert caught.value.category == "DEADLINE_EXCEEDED"
    assert ended == ["cancelled"]
    assert len(asyncio.all_tasks()) == 1
