"""Estimates: what a call would cost, told before it is made."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from random import Random
from typing import Any

import pytest
from paid_work import Found, paid_kernel, recorded
from vr_kernel import (
    PAID,
    READ_ONLY,
    WRITES_LOCAL,
    Call,
    Code,
    Kernel,
    Record,
    RecordField,
    RecordKind,
    VrError,
    cache_key,
)
from vr_kernel import tool as as_tool
from vr_testing import FakeGemini, MemoryState, open_kernel

WITHIN = 0.15
"""Part of the real cost by which nine of ten estimates may be wrong."""
ANSWERS = RecordKind("PaidAnswers", "Answers.", (RecordField("text"),), rerank="text")
TASKS = ("task_ask", "task_listen", "task_batch", "task_twice", "task_vectors")


@as_tool(effects=READ_ONLY | PAID)
async def task_ask(call: Call, text: str) -> Found:
    """Ask once, of all callers together."""

    async def produce(own: Call) -> Found:
        reply = await own.services.models.generate(text)
        own.record(Record("PaidAnswers", {"text": reply.text}))
        return Found(text=reply.text)

    key = cache_key(task="ask", text=text, **call.services.models.identity())
    return await call.once(key, Found, produce)


@as_tool(effects=READ_ONLY | PAID, long=True)
async def task_listen(call: Call, text: str) -> Found:
    """Listen to a stream."""
    said = [piece.text async for piece in call.services.models.stream(text)]
    return Found(text="".join(said))


@as_tool(effects=READ_ONLY | PAID)
async def task_batch(call: Call, text: str, items: int = 4) -> Found:
    """Ask about several things at once."""
    ask = call.services.models.generate
    replies = await asyncio.gather(
        *(ask(f"{number}: {text}") for number in range(items)), return_exceptions=True
    )
    for reply in replies:
        if isinstance(reply, BaseException):
            raise reply
    return Found(text="all")


@as_tool(effects=READ_ONLY | PAID)
async def task_twice(call: Call, text: str) -> Found:
    """Ask, and ask about the answer."""
    first = await call.services.models.generate(text)
    return Found(text=(await call.services.models.generate(f"{text} {first.text}")).text)


@as_tool(effects=READ_ONLY | PAID)
async def task_vectors(call: Call, text: str) -> Found:
    """Turn texts into vectors."""
    made = await call.services.models.embed([text, f"{text}!"], "document")
    return Found(text=made.model)


@as_tool(effects=WRITES_LOCAL | PAID)
async def task_keep(call: Call, text: str) -> Found:
    """Keep something, by services that outlive the call as well, and ask nobody."""
    await call.services.rows.put("kept", text)
    return Found(text=text)


@as_tool(effects=WRITES_LOCAL | PAID)
async def task_send(call: Call, text: str, how: str) -> Found:
    """Send something to others than models, whatever comes of it, and then ask a model."""
    with suppress(VrError):
        if how == "post":
            await call.services.http.post(text, {})
        elif how == "job":
            await call.services.jobs.begin("task_listen", {"text": text}, call.principal)
        else:
            await call.services.vectors.embed_query(text)
    return Found(text=(await call.services.models.generate(text)).text)


@as_tool(effects=READ_ONLY | PAID)
async def task_wait(call: Call, text: str, so_long: bool = False) -> Found:
    """Ask, perhaps after something that does not end."""
    if so_long:
        await asyncio.Event().wait()
    return Found(text=(await call.services.models.generate(text)).text)


@as_tool(effects=READ_ONLY)
async def task_free(call: Call) -> Found:
    """Ask nobody."""
    call.note("it ran")
    return Found(text="free")


@pytest.fixture
async def tasks(
    environ: dict[str, str], gemini: FakeGemini, make_plugin: Any
) -> AsyncIterator[Kernel]:
    """A kernel with the tasks, at a model whose answers differ in length by a tenth."""
    chance = Random(7)
    gemini.answer(lambda _: "word " * round(400 * chance.uniform(0.9, 1.1)), times=None)
    tools = [task_ask, task_listen, task_batch, task_twice, task_vectors, task_free]
    tools += [task_keep, task_send, task_wait]
    async with paid_kernel(environ, gemini, plugin=make_plugin(tools, [ANSWERS])) as kernel:
        yield kernel


async def preview(kernel: Kernel, tool: str, **arguments: Any) -> Any:
    """The estimate of a call."""
    return (await kernel.preview(tool, arguments)).result


def dollars(gemini: FakeGemini) -> float:
    """The bill so far."""
    return gemini.bill.cost_usd or 0.0


async def test_estimates_are_near_the_bill(tasks: Kernel, gemini: FakeGemini) -> None:
    """Nine of ten within 15 %, once a tool was used a few times, for questions of any length."""
    chance = Random(3)
    errors = []
    for task in TASKS:
        for number in range(30):
            text = f"{number} {'word ' * chance.randint(20, 2_000)}"
            found = await preview(tasks, task, text=text)
            before = dollars(gemini)
            await tasks.run(task, {"text": text})
            real = dollars(gemini) - before
            assert found.most_usd >= real or task == "task_twice"
            if number >= 5:
                assert found.basis == "like calls"
                errors.append(abs(found.cost_usd - real) / real)
    assert sorted(errors)[round(0.9 * len(errors))] <= WITHIN


async def test_a_preview_sends_records_and_caches_nothing(
    tasks: Kernel, gemini: FakeGemini, environ: dict[str, str]
) -> None:
    """A call that is made meanwhile does not wait for it, nor get its end."""
    first, made, second = await asyncio.gather(
        preview(tasks, "task_ask", text="Why?"),
        tasks.run("task_ask", {"text": "Why?"}),
        preview(tasks, "task_ask", text="Why?"),
    )
    assert made.error is None
    assert len(gemini.requests) == 1
    assert len(recorded(environ["VR_STATE_DIR"])) == 1
    assert {first.basis, second.basis} <= {"unknown", "like calls", "cached"}
    again = await preview(tasks, "task_ask", text="Why?")
    assert (again.basis, again.cost_usd, again.requests) == ("cached", 0.0, 0)
    other = await preview(tasks, "task_listen", text="Why not?")
    assert (other.basis, other.cost_usd) == ("unknown", None)
    assert 0 < other.low_usd < other.most_usd
    usage = await tasks.call("infra_usage")
    assert usage.total.attempts == len(gemini.requests) == 1


async def test_a_preview_keeps_nothing(tasks: Kernel) -> None:
    found = await preview(tasks, "task_keep", text="fox")
    assert (found.basis, found.cost_usd) == ("cached", 0.0)
    rows = tasks.services.rows_of("paid", tasks.identity.workspace, tasks.identity.mark)
    assert await rows.list() == []
    await tasks.call("task_keep", text="fox")
    assert [row.value for row in await rows.list()] == ["fox"]


async def test_a_preview_writes_no_rows_in_memory_either(make_plugin: Any) -> None:
    plugins = {"paid": make_plugin([task_keep])}
    async with open_kernel(plugins, state=MemoryState()) as kernel:
        assert (await preview(kernel, "task_keep", text="fox")).basis == "cached"
        identity = kernel.identity
        rows = kernel.services.rows_of("paid", identity.workspace, identity.mark)
        assert await rows.list() == []


@pytest.mark.parametrize("how", ["post", "job", "vector"])
async def test_a_preview_sends_nothing_elsewhere(
    tasks: Kernel, gemini: FakeGemini, how: str
) -> None:
    """Neither to a service, nor as a job, nor to an embedder; what comes after it is noted."""
    found = await preview(tasks, "task_send", text=gemini.url, how=how)
    assert found.requests == 1
    assert gemini.requests == []
    assert (await tasks.call("job_list")).jobs == []


@pytest.mark.slow
async def test_what_takes_too_long_is_estimated_by_earlier_calls(
    tasks: Kernel, gemini: FakeGemini
) -> None:
    waiting = await preview(tasks, "task_wait", text="Why?", so_long=True)
    assert (waiting.basis, waiting.cost_usd) == ("unknown", None)
    for number in range(3):
        await tasks.call("task_wait", text=f"Why {number}?")
    found = await preview(tasks, "task_wait", text="Why?", so_long=True)
    assert (found.basis, found.earlier_calls) == ("like calls", 3)
    assert found.cost_usd == pytest.approx(dollars(gemini) / 3)
    assert "longer than 20 s" in found.notes[0]


async def test_a_tool_that_asks_no_model_is_not_run(tasks: Kernel) -> None:
    outcome = await tasks.preview("task_free", {})
    assert (outcome.result.cost_usd, outcome.result.basis) == (0.0, "cached")
    assert outcome.result.notes == ["This tool asks no model."]
    assert outcome.notes == ()


@pytest.mark.parametrize(
    ("tool", "arguments", "code"),
    [
        ("task_asks", {"text": "Why?"}, Code.NOT_FOUND),
        ("task_ask", {}, Code.INVALID_INPUT),
        ("task_ask", {"text": 1}, Code.INVALID_INPUT),
    ],
)
async def test_a_call_that_could_not_be_made_has_no_estimate(
    tasks: Kernel, tool: str, arguments: dict[str, Any], code: Code
) -> None:
    error = (await tasks.preview(tool, arguments)).error
    assert isinstance(error, VrError)
    assert error.code is code


async def test_an_unknown_price_is_said(
    environ: dict[str, str], gemini: FakeGemini, make_plugin: Any
) -> None:
    environ = {**environ, "VR_MODELS__DEFAULT": "gemini/gemini-9"}
    async with paid_kernel(environ, gemini, plugin=make_plugin([task_ask])) as kernel:
        found = await preview(kernel, "task_ask", text="Why?")
        assert (found.basis, found.cost_usd, found.most_usd) == ("unknown", None, None)
        assert any("price" in note for note in found.notes)


PRO, LITE = "gemini/gemini-3.1-pro-preview", "gemini/gemini-3.5-flash-lite"
REFUSED = "This call would be refused."


@pytest.mark.parametrize(
    ("models", "usd", "counted", "said"),
    [
        ([PRO], 0.01, PRO, f"{REFUSED} The rest of the budget is too small"),
        ([PRO, LITE], 0.01, LITE, f"{PRO} would not be asked: The rest of the budget is too small"),
        (
            ["gemini/gemini-9"],
            0.01,
            "gemini/gemini-9",
            f"{REFUSED} The price of gemini/gemini-9 is not",
        ),
        ([PRO], 3, PRO, ""),
    ],
)
async def test_what_a_budget_refuses_is_said(
    environ: dict[str, str],
    gemini: FakeGemini,
    make_plugin: Any,
    models: list[str],
    usd: float,
    counted: str,
    said: str,
) -> None:
    limits = {"VR_MODELS__DEFAULT": ",".join(models), "VR_MODELS__CALL_BUDGET_USD": str(usd)}
    plugin = make_plugin([task_ask], [ANSWERS])
    async with paid_kernel({**environ, **limits}, gemini, plugin=plugin) as kernel:
        found = await preview(kernel, "task_ask", text="Why?")
        assert found.models == [counted]
        assert any(note.startswith(said) for note in found.notes or [""])
        outcome = await kernel.run("task_ask", {"text": "Why?"})
        assert (outcome.error is not None) == said.startswith(REFUSED)
