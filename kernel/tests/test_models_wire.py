"""Everything that goes wrong at the wire, as the models door reports it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any

import pytest
from paid_plugin import Capital
from paid_work import ASKED, Found, asked, paid_kernel, recorded
from vr_kernel import CALLS_OUT, READ_ONLY, Call, Code, Kernel, VrError, cache_key
from vr_kernel import tool as as_tool
from vr_kernel.files.artifacts import URI_PREFIX
from vr_testing import FakeGemini, Fault
from waiting import until

ANSWER = "The cat sat on the mat, and then it went out to look for the moon."
GOOD = {"city": "Paris", "people": 2_000_000}
KEY_PAGE = "https://aistudio.google.com/apikey"


async def failure(kernel: Kernel, tool: str = "paid_ask", **arguments: Any) -> VrError:
    """The error that a call ends with."""
    outcome = await kernel.run(tool, {"question": "Why?", **arguments})
    assert outcome.error is not None, outcome.result
    return outcome.error


async def ask(kernel: Kernel, tool: str = "paid_ask", **arguments: Any) -> Any:
    """The result of a call."""
    return await kernel.call(tool, **{"question": "Why?", **arguments})


async def usage(kernel: Kernel) -> Any:
    """The sums of the usage ledger."""
    return await kernel.call("infra_usage")


async def nothing_is_left(kernel: Kernel, environ: Mapping[str, str]) -> bool:
    """True when neither the journal nor the cache has anything."""
    return (
        not recorded(environ["VR_STATE_DIR"]) and (await kernel.services.cache.stats()).entries == 0
    )


def artifact_text(kernel: Kernel, hint: str) -> str:
    """The text of the artifact that a hint names."""
    uri = next(word for word in hint.split() if word.startswith(URI_PREFIX)).rstrip(".")
    return kernel.services.artifacts.find(uri.rpartition("/")[2]).path.read_text("utf-8")


# Throttled.


@pytest.mark.parametrize(
    "fault",
    [
        pytest.param(Fault.throttled(1.0), marks=pytest.mark.slow),
        pytest.param(Fault.throttled(retry_delay=1.0), marks=pytest.mark.slow),
        Fault.throttled(0.1, retry_delay=0.3),
    ],
    ids=["Retry-After", "RetryInfo", "both"],
)
async def test_throttled_call_waits_as_long_as_it_is_told(
    kernel: Kernel, gemini: FakeGemini, fault: Fault
) -> None:
    gemini.fail(fault)
    result = await ask(kernel)
    first, second = gemini.requests_of(ASKED)
    assert second.at - first.at >= 0.3
    assert result.usage == gemini.bill


async def test_second_key_is_used_at_once(open_kernel: Any, gemini: FakeGemini) -> None:
    kernel = await open_kernel(GEMINI_API_KEYS="a,b", GEMINI_API_KEY="")
    gemini.fail(Fault.throttled(60), when=lambda request: request.api_key == "a", times=None)
    for _ in range(2):
        assert (await ask(kernel)).text
    first, second, third = gemini.requests_of(ASKED)
    assert [r.api_key for r in (first, second, third)] == ["a", "b", "b"]
    assert third.at - first.at < 30


async def test_wait_that_is_longer_than_the_deadline_is_not_begun(
    open_kernel: Any, gemini: FakeGemini
) -> None:
    kernel = await open_kernel(VR_MODELS__DEADLINE_S="30")
    gemini.fail(Fault.throttled(3600), times=None)
    error = await failure(kernel)
    assert (error.code, error.category) == (Code.QUOTA, "API_QUOTA_EXCEEDED")
    assert error.retryable
    assert error.retry_after == pytest.approx(3600, abs=60)
    assert len(gemini.requests) == 1


# Refused.


@pytest.mark.parametrize(
    ("fault", "code", "category", "hint"),
    [
        (Fault.status(400), Code.INVALID_INPUT, "API_INVALID_ARGUMENT", "Change what was asked"),
        (Fault.invalid_key(), Code.AUTH, "API_PERMISSION_DENIED", KEY_PAGE),
        (Fault.status(401), Code.AUTH, "API_PERMISSION_DENIED", KEY_PAGE),
        (Fault.status(403), Code.AUTH, "API_PERMISSION_DENIED", "GEMINI_API_KEY"),
        (Fault.status(404), Code.NOT_FOUND, "API_NOT_FOUND", "'gemini-3.8-flash'"),
        (Fault.prompt_blocked(), Code.NOT_ALLOWED, "SAFETY_BLOCKED", "other words"),
        (Fault.answer_blocked(), Code.NOT_ALLOWED, "SAFETY_BLOCKED", "other words"),
    ],
    ids=lambda value: getattr(value, "name", str(value)),
)
async def test_refusal_is_told_and_never_tried_again(
    open_kernel: Any,
    environ: dict[str, str],
    gemini: FakeGemini,
    fault: Fault,
    code: Code,
    category: str,
    hint: str,
) -> None:
    kernel = await open_kernel(VR_MODELS__DEFAULT="gemini/gemini-3.8-flush")
    await ask(kernel, "paid_manner", question="What loads the SDK?")
    gemini.forget()
    gemini.fail(fault, times=None)
    error = await failure(kernel)
    assert (error.code, error.category, error.retryable) == (code, category, False)
    assert hint in error.hint
    assert len(gemini.requests) == 1
    assert await nothing_is_left(kernel, environ)


async def test_missing_key_is_named_before_anything_is_sent(
    open_kernel: Any, gemini: FakeGemini
) -> None:
    kernel = await open_kernel(GEMINI_API_KEY="")
    for tool in ("paid_ask", "paid_shape", "paid_stream", "paid_once"):
        error = await failure(kernel, tool)
        assert (error.code, error.retryable) == (Code.AUTH, False)
        assert "GEMINI_API_KEY" in error.hint
        assert KEY_PAGE in error.hint
    assert gemini.requests == []


# Failing for a while.


@pytest.mark.slow
async def test_thousand_calls_through_a_tenth_of_failures(
    open_kernel: Any, gemini: FakeGemini
) -> None:
    kernel = await open_kernel(VR_MODELS__CONCURRENCY="50")
    for fault in (Fault.status(500), Fault.status(503), Fault.reset()):
        gemini.fail(fault, rate=0.035)
    await ask(kernel, "paid_manner", question="What loads the SDK?")
    gemini.forget()
    limit = asyncio.Semaphore(50)

    async def one(number: int) -> bool:
        async with limit:
            outcome = await kernel.run("paid_manner", {"question": f"Question {number}"})
        return outcome.error is None

    succeeded = await asyncio.gather(*(one(number) for number in range(1000)))
    assert sum(succeeded) >= 995
    assert len(gemini.requests) <= 1200
    assert len(gemini.requests) > 1050, "the faults did happen"
    assert set(asked(gemini)) == {f"Question {number}" for number in range(1000)}


@pytest.mark.slow
async def test_dead_provider_is_left_alone_and_found_again(
    open_kernel: Any, gemini: FakeGemini
) -> None:
    kernel = await open_kernel(VR_MODELS__CONCURRENCY="100")
    assert (await ask(kernel)).text
    gemini.down = True

    async def attempts() -> int:
        total: int = (await usage(kernel)).total.attempts
        return total

    async def wave() -> list[VrError]:
        return await asyncio.gather(*(failure(kernel) for _ in range(100)))

    before = await attempts()
    errors = await wave()
    assert {error.code for error in errors} == {Code.UNAVAILABLE}
    first = await attempts() - before
    assert first <= 3 * 100
    later = [error for _ in range(5) for error in await wave()]
    assert await attempts() - before - first <= 1.2 * len(later)
    assert {error.category for error in later} <= {
        "CIRCUIT_OPEN",
        "NETWORK_ERROR",
        "SERVICE_UNREACHABLE",
    }
    assert all(error.retryable and error.hint for error in later)

    gemini.down = False

    async def is_well() -> bool:
        return (await kernel.run("paid_ask", {"question": "Well?"})).error is None

    await until(is_well)
    outcomes = await asyncio.gather(
        *(kernel.run("paid_ask", {"question": "Well?"}) for _ in range(20))
    )
    assert all(outcome.error is None for outcome in outcomes)


@pytest.mark.parametrize(
    "tool",
    ["paid_ask", *(pytest.param(t, marks=pytest.mark.slow) for t in ("paid_shape", "paid_stream"))],
)
async def test_hanging_service_is_given_up_at_the_deadline(
    open_kernel: Any, environ: dict[str, str], gemini: FakeGemini, tool: str
) -> None:
    await ask(await open_kernel(), "paid_manner", question="What loads the SDK?")
    kernel = await open_kernel(VR_MODELS__DEADLINE_S="0.3")
    gemini.fail(Fault.hang(), times=None)
    error = await failure(kernel, tool)
    assert (error.code, error.category) == (Code.UNAVAILABLE, "DEADLINE_EXCEEDED")
    assert "deadline_s" in error.hint
    await asyncio.to_thread(gemini.wait, lambda: gemini.in_flight == 0)
    report = await usage(kernel)
    assert (report.total.maybe_paid, report.total.attempts) == (1, 2)
    assert await nothing_is_left(kernel, environ)


async def test_stream_that_never_ends_is_given_up_at_the_deadline(
    open_kernel: Any, environ: dict[str, str], gemini: FakeGemini
) -> None:
    await ask(await open_kernel(), "paid_manner", question="What loads the SDK?")
    kernel = await open_kernel(VR_MODELS__DEADLINE_S="0.4")
    gemini.answer(ANSWER)
    gemini.pause = 0.2
    error = await failure(kernel, "paid_stream")
    assert error.category == "DEADLINE_EXCEEDED"
    await asyncio.to_thread(gemini.wait, lambda: gemini.cancelled == 1)
    assert (await usage(kernel)).total.maybe_paid == 1
    assert await nothing_is_left(kernel, environ)


# Broken off.


@pytest.mark.parametrize("ending", ["closed", "reset", "clean"])
@pytest.mark.parametrize("tool", ["paid_ask", "paid_stream", "paid_once"])
async def test_answer_that_breaks_off_is_an_error_and_leaves_nothing(
    kernel: Kernel, environ: dict[str, str], gemini: FakeGemini, tool: str, ending: Any
) -> None:
    gemini.answer(ANSWER)
    gemini.fail(Fault.truncated(ending), times=None)
    error = await failure(kernel, tool)
    assert error.code is Code.UNAVAILABLE
    assert error.retryable
    expected = (
        {"REPLY_TRUNCATED"} if tool == "paid_stream" else {"REPLY_UNREADABLE", "NETWORK_ERROR"}
    )
    assert error.category in expected
    assert await nothing_is_left(kernel, environ)
    assert (await usage(kernel)).total.maybe_paid + (
        error.usage.calls if error.usage else 0
    ) == len(gemini.requests)

    gemini.heal()
    gemini.answer(ANSWER)
    gemini.forget()
    assert (await ask(kernel, tool)).text == ANSWER
    assert len(gemini.requests) == 1, "the broken answer was not kept"
    assert len(recorded(environ["VR_STATE_DIR"])) == 1


async def test_empty_answer_is_asked_again_and_paid_twice(
    kernel: Kernel, gemini: FakeGemini
) -> None:
    gemini.fail(Fault.empty())
    result = await ask(kernel)
    assert result.text
    assert (result.usage, result.usage.calls) == (gemini.bill, 2)


async def test_answers_that_stay_empty_are_an_error_with_their_cost(
    kernel: Kernel, environ: dict[str, str], gemini: FakeGemini
) -> None:
    gemini.fail(Fault.empty(), times=None)
    error = await failure(kernel)
    assert (error.code, error.category) == (Code.UNAVAILABLE, "REPLY_EMPTY")
    assert (error.usage, len(gemini.requests)) == (gemini.bill, 3)
    assert await nothing_is_left(kernel, environ)


async def test_answer_that_reached_its_limit_is_kept_as_far_as_it_came(
    kernel: Kernel, environ: dict[str, str], gemini: FakeGemini
) -> None:
    gemini.answer(ANSWER)
    gemini.fail(Fault.max_tokens())
    error = await failure(kernel)
    assert (error.code, error.category) == (Code.TOO_LARGE, "REPLY_CUT_OFF")
    assert error.usage == gemini.bill
    assert ANSWER.startswith(artifact_text(kernel, error.hint))
    assert len(artifact_text(kernel, error.hint)) == len(ANSWER) // 2
    assert len(gemini.requests) == 1
    assert await nothing_is_left(kernel, environ)


# Answers that do not fit.


async def test_answer_that_is_no_json_is_corrected_once_without_its_media(
    kernel: Kernel, gemini: FakeGemini
) -> None:
    gemini.answer(GOOD)
    gemini.fail(Fault.invalid_json())
    result = await ask(kernel, "paid_manner", question="Which city?", mime="video/mp4", shaped=True)
    assert json.loads(result.text) == GOOD
    first, second = gemini.requests_of(ASKED)
    assert (len(first.media), len(second.media)) == (1, 0)
    broken = json.dumps(GOOD)[: len(json.dumps(GOOD)) // 2]
    assert broken in second.text
    assert "not JSON" in second.text
    assert "Which city?" not in second.text
    assert second.schema == first.schema
    assert (result.usage, result.usage.calls) == (gemini.bill, 2)


async def test_answer_in_a_code_block_is_read_as_it_is(kernel: Kernel, gemini: FakeGemini) -> None:
    gemini.answer(f"```json\n{json.dumps(GOOD)}\n```\n")
    result = await ask(kernel, "paid_shape", question="Which city?")
    assert result.capital.people == GOOD["people"]
    assert len(gemini.requests) == 1


async def test_model_is_told_what_does_not_fit(kernel: Kernel, gemini: FakeGemini) -> None:
    gemini.answer({"city": "Paris", "people": -1}, times=1)
    gemini.answer(GOOD)
    result = await ask(kernel, "paid_shape", question="Which city?")
    assert result.capital.people == GOOD["people"]
    assert "people: Input should be greater than or equal to 0" in gemini.requests[1].text


async def test_second_misfit_is_an_error_that_keeps_what_was_paid(
    kernel: Kernel, environ: dict[str, str], gemini: FakeGemini
) -> None:
    gemini.answer('{"city": 1}', times=1)
    gemini.answer('{"city": "Paris", "people": "many"}')
    error = await failure(kernel, "paid_shape")
    assert (error.code, error.category) == (Code.UNAVAILABLE, "REPLY_INVALID")
    assert "people" in error.message
    assert (error.usage, error.usage and error.usage.calls) == (gemini.bill, 2)
    assert artifact_text(kernel, error.hint) == '{"city": "Paris", "people": "many"}'
    assert len(gemini.requests) == 2
    assert await nothing_is_left(kernel, environ)


@pytest.mark.parametrize("fault", [Fault.status(400), Fault.prompt_blocked(), Fault.reset()])
async def test_correction_that_fails_keeps_the_first_answer(
    kernel: Kernel, gemini: FakeGemini, fault: Fault
) -> None:
    gemini.answer("Paris, I think.")
    gemini.fail(fault, when=lambda request: "corrected" in request.text, times=None)
    with pytest.raises(VrError) as caught:
        await kernel.services.models.generate_structured("Which city?", {"type": "object"})
    assert artifact_text(kernel, caught.value.hint) == "Paris, I think."
    assert caught.value.usage == gemini.bill


@as_tool(effects=READ_ONLY | CALLS_OUT)
async def odd_shape(call: Call) -> Found:
    """Ask for a shape, once."""

    async def produce(shared: Call) -> Found:
        found = await shared.services.models.generate_structured("Which city?", Capital)
        return Found(text=found.value.city)

    return await call.once(cache_key(odd="shape"), Found, produce)


async def test_interrupted_correction_is_all_that_is_asked_again(
    environ: dict[str, str], gemini: FakeGemini, make_plugin: Any
) -> None:
    gemini.answer('{"city": 1}', when=lambda request: request.text == "Which city?", times=None)
    gemini.answer(GOOD)
    async with paid_kernel(environ, gemini, plugin=make_plugin([odd_shape])) as kernel:
        gemini.fail(Fault.hang(), when=lambda request: "corrected" in request.text)
        first = asyncio.create_task(kernel.run("odd_shape", {}))
        await asyncio.to_thread(gemini.wait, lambda: len(gemini.requests) == 2)
        first.cancel()
        await asyncio.wait({first})
        again = await kernel.run("odd_shape", {})
    assert again.result == Found(text="Paris")
    assert [request.text == "Which city?" for request in gemini.requests] == [True, False, False]
    assert again.usage == gemini.bill


async def test_new_ask_after_a_correction_that_did_not_fit_is_a_new_one(
    environ: dict[str, str], gemini: FakeGemini, make_plugin: Any
) -> None:
    gemini.answer('{"city": 1}', times=2)
    gemini.answer(GOOD)
    async with paid_kernel(environ, gemini, plugin=make_plugin([odd_shape])) as kernel:
        first = await kernel.run("odd_shape", {})
        assert first.error is not None
        assert first.error.category == "REPLY_INVALID"
        assert await kernel.call("odd_shape") == Found(text="Paris")
    assert [request.text == "Which city?" for request in gemini.requests] == [True, False, True]


@pytest.mark.parametrize("text", ["NaN", '{"city": Infinity}', "1e999", "Sorry."])
async def test_json_that_nobody_can_keep_does_not_fit(
    kernel: Kernel, gemini: FakeGemini, text: str
) -> None:
    gemini.answer(text)
    error = await failure(kernel, "paid_custom", output_schema={})
    assert error.category == "REPLY_INVALID"
    assert error.usage == gemini.bill


async def test_the_server_goes_on_while_an_answer_is_held_against_its_schema(
    kernel: Kernel, gemini: FakeGemini
) -> None:
    schema = {"allOf": [{"properties": {"x": {"$ref": "#"}}}] * 2}
    value: Any = 1
    for _ in range(13):
        value = {"x": value}
    gemini.answer(value)
    reading = asyncio.create_task(kernel.services.models.generate_structured("Which one?", schema))
    turns = 0
    while not reading.done():
        await asyncio.sleep(0.01)
        turns += gemini.bill.calls  # the answer is there, and held against the schema
    assert (await reading).value == value
    assert turns > 5
