"""The models door: who answers, what it costs, and what is refused before anything is sent."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import paid_plugin
import pytest
from fastmcp import Client
from paid_work import ASKED, Found, paid_kernel, paying, recorded
from vr_kernel import (
    CALLS_OUT,
    ERROR_META,
    READ_ONLY,
    Call,
    Code,
    Embeddings,
    Kernel,
    Media,
    ModelInfo,
    ModelProvider,
    Options,
    Provider,
    Purpose,
    Reply,
    ReplyPiece,
    Request,
    Role,
    Text,
    Usage,
    VrError,
    cache_key,
    load_config,
)
from vr_kernel import tool as as_tool
from vr_server import USAGE_META, build_server
from vr_testing import FakeGemini, Fault

FLASH, LITE = "gemini/gemini-3.8-flash", "gemini/gemini-3.5-flash-lite"
GOOD = {"city": "Paris", "people": 2_000_000}


async def ask(kernel: Kernel, tool: str = "paid_manner", **arguments: Any) -> Any:
    """Call a tool; its outcome."""
    return await kernel.run(tool, {"question": "Why?", **arguments})


async def failure(kernel: Kernel, tool: str = "paid_manner", **arguments: Any) -> VrError:
    """The error that a call ends with."""
    outcome = await ask(kernel, tool, **arguments)
    assert outcome.error is not None, outcome.result
    assert isinstance(outcome.error, VrError)
    return outcome.error


async def report(kernel: Kernel, **arguments: Any) -> Any:
    """The usage ledger, summed."""
    return await kernel.call("infra_usage", **arguments)


async def holding(gemini: FakeGemini, number: int) -> None:
    """Wait until so many requests wait for an answer."""
    await asyncio.to_thread(gemini.wait, lambda: gemini.in_flight == number)


# The cost.


def tokens(sums: Any) -> Usage:
    """The sums of a report, as usage."""
    shown = type(sums).model_fields
    return Usage.model_validate(
        {name: getattr(sums, name) for name in Usage.model_fields if name in shown}
    )


async def test_every_account_of_what_was_paid_is_the_bill_of_the_service(
    kernel: Kernel, gemini: FakeGemini
) -> None:
    """A hundred calls of all kinds; only what was cancelled is known to the service alone."""
    gemini.answer("neither JSON nor long", when=lambda r: "misfit" in r.text, times=None)
    for fault, rate in (
        (Fault.status(503), 0.05),
        (Fault.status(429), 0.03),
        (Fault.reset(), 0.03),
        (Fault.empty(), 0.05),
        (Fault.invalid_json(), 0.2),
        (Fault.max_tokens(), 0.05),
        (Fault.answer_blocked(), 0.02),
    ):
        gemini.fail(fault, rate=rate)
    mix: list[tuple[str, dict[str, Any]]] = [
        ("paid_ask", {"question": "a {n}"}),
        ("paid_shape", {"question": "b {n}"}),
        ("paid_shape", {"question": "misfit {n}"}),
        ("paid_stream", {"question": "c {n}"}),
        ("paid_once", {"question": "d {n}"}),
        ("paid_once", {"question": "one of a few, {few}"}),
        ("paid_batch", {"name": "e {n}", "items": 1}),
    ]
    limit = asyncio.Semaphore(16)

    async def one(number: int) -> Any:
        tool, arguments = mix[number % len(mix)]
        filled = {
            name: value.format(n=number, few=number % 3) if isinstance(value, str) else value
            for name, value in arguments.items()
        }
        async with limit:
            return await kernel.run(tool, filled)

    outcomes = await asyncio.gather(*(one(number) for number in range(105)))
    paid = [outcome.usage for outcome in outcomes if outcome.usage is not None]
    assert sum(paid, Usage()) == gemini.bill
    for outcome in outcomes:
        shown = outcome.error or outcome.result
        assert getattr(shown, "usage", outcome.usage) == outcome.usage
    assert sum(outcome.error is None for outcome in outcomes) > 50
    assert any(outcome.data.get("cached") for outcome in outcomes)

    for by in ("tool", "model", "day", "plugin", "provider", "principal"):
        assert tokens((await report(kernel, by=by)).total) == gemini.bill
    assert (await report(kernel)).total.attempts == len(gemini.requests_of(*PAID_ACTIONS))


@pytest.mark.parametrize(("pause", "told"), [(None, 60.0), (0.02, 0.02)])
async def test_a_quota_without_a_time_says_to_come_back_in_a_minute(
    kernel: Kernel, gemini: FakeGemini, pause: float | None, told: float
) -> None:
    gemini.fail(Fault.throttled(retry_delay=pause), times=None)
    error = (await kernel.run("paid_ask", {"question": "Why?"})).error
    assert error is not None
    assert (error.code, error.category) == (Code.QUOTA, "API_QUOTA_EXCEEDED")
    assert told / 2 < error.as_dict("")["retry_after_seconds"] <= told
    assert len(gemini.requests) > 1  # the loop itself does not wait that long


PAID_ACTIONS = ("generateContent", "streamGenerateContent")


async def test_cancelled_calls_are_on_the_bill_as_perhaps_paid(
    kernel: Kernel, gemini: FakeGemini
) -> None:
    tools = ("paid_ask", "paid_shape", "paid_stream", "paid_once")
    with gemini.hold():
        calls = [asyncio.create_task(ask(kernel, tool)) for tool in tools]
        await holding(gemini, len(tools))
        for call in calls:
            call.cancel()
        await asyncio.wait(calls)
    assert all(call.cancelled() for call in calls)
    total = (await report(kernel)).total
    assert (total.calls, total.maybe_paid, total.attempts) == (0, 4, 4)


async def test_client_reads_the_cost_beside_the_result(kernel: Kernel, gemini: FakeGemini) -> None:
    async with Client(build_server(kernel)) as client:
        result = await client.call_tool("paid_shape", {"question": "Which city?"})
        assert result.meta is not None
        assert result.meta[USAGE_META] == gemini.bill.model_dump()
        assert result.structured_content is not None
        assert result.structured_content["usage"] == gemini.bill.model_dump()
        before = gemini.bill
        gemini.fail(Fault.max_tokens())
        failed = await client.call_tool("paid_ask", {"question": "Why?"}, raise_on_error=False)
        error = failed.meta[ERROR_META]
        assert before + Usage.model_validate(error["usage"]) == gemini.bill
        free = await client.call_tool("infra_usage", {})
        assert USAGE_META not in (free.meta or {})


async def test_what_was_known_costs_nothing(kernel: Kernel, gemini: FakeGemini) -> None:
    first = await ask(kernel, "paid_once")
    second = await ask(kernel, "paid_once")
    assert (first.usage, first.result.cached) == (gemini.bill, False)
    assert (second.usage, second.result.cached, second.result.usage) == (None, True, None)
    assert len(gemini.requests) == 1


async def test_embeddings_are_paid_for_and_counting_is_free(
    kernel: Kernel, gemini: FakeGemini
) -> None:
    gemini.fail(Fault.status(503))
    found = await kernel.services.models.embed(["a cat", "a dog"], "document", dimension=8)
    counted = await kernel.services.models.count_tokens("How many tokens are these?")
    await kernel.services.models.recorder.settle()
    assert [len(vector) for vector in found.vectors] == [8, 8]
    assert counted > 0
    total = (await report(kernel)).total
    assert (tokens(total), total.attempts) == (gemini.bill, 2)
    assert found.usage == gemini.bill


@pytest.mark.parametrize(
    ("media", "seconds"),
    [
        (Media.youtube("dQw4w9WgXcQ"), 0),
        (Media.youtube("dQw4w9WgXcQ", duration=213), 213),
        (Media.youtube("dQw4w9WgXcQ", duration=213, start=200), 13),
        (Media("video/mp4", uri="https://example.org/film", duration=213, start=3, end=5), 2),
        (Media("video/mp4", uri="https://example.org/film", end=0, duration=213), 0),
    ],
)
async def test_the_ledger_knows_how_long_a_model_watched(
    kernel: Kernel, gemini: FakeGemini, media: Media, seconds: float
) -> None:
    await kernel.services.models.generate([media, "Why?"])
    await kernel.services.models.recorder.settle()
    assert (await report(kernel)).total.media_seconds == seconds
    assert "213" not in json.dumps(gemini.requests[0].body)


async def test_the_length_of_a_video_does_not_tell_questions_apart() -> None:
    known, unknown = Media.youtube("x", duration=3), Media.youtube("x")
    assert known == unknown
    assert known.identity == unknown.identity


@as_tool(effects=READ_ONLY | CALLS_OUT)
async def odd_pictures(call: Call, paths: list[str]) -> Found:
    """Ask about pictures that nobody knows by name; fails at first."""

    async def produce(shared: Call) -> Found:
        said = []
        for path in paths:
            with open(path, "rb") as file:  # noqa: ASYNC230, PTH123 - a small one, with a name
                media = Media("image/png", file=file)
                said.append((await shared.services.models.generate([media, "Which?"])).text)
        if not Path(paths[0]).with_name("again").exists():
            raise ZeroDivisionError
        return Found(text=" ".join(said))

    return await call.once(cache_key(odd="pictures"), Found, produce)


async def test_files_without_a_digest_are_told_apart(
    environ: dict[str, str], gemini: FakeGemini, make_plugin: Any, tmp_path: Path
) -> None:
    paths = [tmp_path / name for name in "ab"]
    for path in paths:
        path.write_text(path.name * 6)
    gemini.answer(
        lambda request: base64.b64decode(request.media[0]["inlineData"]["data"])[:1].decode()
    )
    async with paid_kernel(environ, gemini, plugin=make_plugin([odd_pictures])) as kernel:
        first = await kernel.run("odd_pictures", {"paths": [str(path) for path in paths]})
        assert first.error is not None
        (tmp_path / "again").touch()
        again = await kernel.call("odd_pictures", paths=[str(path) for path in reversed(paths)])
    assert again == Found(text="b a")
    assert len(gemini.requests) == 2


async def test_streamed_answer_ends_with_all_that_a_whole_one_has(
    open_kernel: Any, gemini: FakeGemini
) -> None:
    kernel = await open_kernel(VR_MODELS__DEFAULT=FLASH)
    gemini.answer("The cat sat on the mat.")
    whole = await kernel.services.models.generate("Why?", thinking="minimal")
    pieces = [piece async for piece in kernel.services.models.stream("Why?", thinking="minimal")]
    assert "".join(piece.text for piece in pieces) == whole.text
    assert [piece.reply for piece in pieces if piece.reply] == [whole]
    assert pieces[-1].reply == whole
    assert (whole.model, len(whole.notes)) == (FLASH, 1)


# Cancelled.

KEPT_UP = {"vr-leases", "vr-jobs"}
"""Tasks that look after long work as long as a kernel is open."""


@pytest.mark.parametrize("tool", ["paid_ask", "paid_shape", "paid_stream", "paid_once"])
async def test_cancelling_a_call_ends_its_request_and_leaves_nothing(
    kernel: Kernel, environ: dict[str, str], gemini: FakeGemini, tool: str
) -> None:
    await ask(kernel, "paid_once", question="What the first call starts stays.")
    known, cached = len(recorded(environ["VR_STATE_DIR"])), await kernel.services.cache.stats()
    before = asyncio.all_tasks()
    with gemini.hold():
        call = asyncio.create_task(ask(kernel, tool))
        await holding(gemini, 1)
        call.cancel()
        await asyncio.wait({call})
        await asyncio.to_thread(gemini.wait, lambda: gemini.cancelled == 1)
    assert {task.get_name() for task in asyncio.all_tasks() - before} <= KEPT_UP
    assert len(recorded(environ["VR_STATE_DIR"])) == known
    assert await kernel.services.cache.stats() == cached
    assert (await ask(kernel, tool)).error is None


async def test_cancelling_in_the_middle_of_a_stream_ends_it(
    kernel: Kernel, gemini: FakeGemini
) -> None:
    gemini.answer("A long answer. " * 20)
    gemini.pause = 0.2
    heard = asyncio.Event()

    async def listen() -> None:
        async for _ in kernel.services.models.stream("Why?"):
            heard.set()

    listening = asyncio.create_task(listen())
    await heard.wait()
    listening.cancel()
    await asyncio.wait({listening})
    await asyncio.to_thread(gemini.wait, lambda: gemini.cancelled == 1)
    await kernel.services.models.recorder.settle()
    total = (await report(kernel)).total
    assert (total.maybe_paid, total.attempts) == (1, 1)


async def test_cancelling_a_pause_between_attempts_ends_the_call(
    kernel: Kernel, gemini: FakeGemini
) -> None:
    gemini.fail(Fault.throttled(60), times=None)
    call = asyncio.create_task(ask(kernel))
    await asyncio.to_thread(gemini.wait, lambda: len(gemini.requests) == 1)
    call.cancel()
    await asyncio.wait({call}, timeout=5)
    assert call.cancelled()
    assert len(gemini.requests) == 1


# The model that answers.


async def test_next_model_of_a_role_answers_for_one_that_does_not(
    open_kernel: Any, gemini: FakeGemini
) -> None:
    kernel = await open_kernel(VR_MODELS__DEFAULT=f"{FLASH},{LITE}")
    gemini.fail(Fault.status(503), when=lambda r: r.model in FLASH, times=None)
    for tool in ("paid_ask", "paid_shape", "paid_stream", "paid_once"):
        outcome = await ask(kernel, tool)
        assert outcome.error is None
        assert any(FLASH in note and "did not answer" in note for note in outcome.notes), tool
    assert (await ask(kernel)).result.model == LITE
    assert gemini.requests[-1].model in LITE
    models = {row.key: row.calls for row in (await report(kernel, by="model")).rows}
    assert models == {LITE: 5, FLASH: 0}


async def test_result_of_a_model_that_stood_in_is_kept_with_its_name(
    open_kernel: Any, gemini: FakeGemini
) -> None:
    kernel = await open_kernel(VR_MODELS__DEFAULT=f"{FLASH},{LITE}")
    gemini.fail(Fault.status(503), when=lambda r: r.model in FLASH, times=None)
    await ask(kernel, "paid_once")
    assert (await kernel.call("infra_cache", action="list")).entries[0].model == LITE


async def test_what_was_asked_wrongly_is_asked_of_nobody_else(
    open_kernel: Any, gemini: FakeGemini
) -> None:
    kernel = await open_kernel(VR_MODELS__DEFAULT=f"{FLASH},{LITE}")
    for fault in (Fault.status(400), Fault.prompt_blocked(), Fault.max_tokens()):
        gemini.fail(fault)
        await failure(kernel)
    assert {request.model for request in gemini.requests} == {FLASH.partition("/")[2]}


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("foo/bar", "No provider 'foo'"),
        ("gemni/gemini-3.8-flash", "Did you mean 'gemini'?"),
    ],
)
async def test_unknown_provider_is_told_with_the_nearest(
    open_kernel: Any, gemini: FakeGemini, name: str, said: str
) -> None:
    kernel = await open_kernel(VR_MODELS__DEFAULT=name)
    for tool in ("paid_ask", "paid_shape", "paid_stream", "paid_once"):
        error = await failure(kernel, tool)
        assert (error.code, error.category) == (Code.INVALID_INPUT, "MODEL_UNKNOWN")
        assert said in f"{error.message} {error.hint}"
        assert "Installed: gemini" in error.hint
    assert gemini.requests == []


@pytest.mark.parametrize("name", ["gemini-3.8-flash", "models/gemini-3.8-flash", FLASH])
async def test_gemini_model_is_known_by_all_its_names(
    open_kernel: Any, gemini: FakeGemini, name: str
) -> None:
    kernel = await open_kernel(VR_MODELS__DEFAULT=name)
    assert (await ask(kernel)).result.model == FLASH
    assert gemini.requests[0].model == "gemini-3.8-flash"


async def test_level_that_a_model_does_not_take_is_the_nearest_and_said(
    open_kernel: Any, gemini: FakeGemini
) -> None:
    kernel = await open_kernel(VR_MODELS__DEFAULT=FLASH)
    outcome = await ask(kernel, thinking="minimal")
    assert gemini.requests[0].thinking_level == "LOW"
    assert any("minimal" in note for note in outcome.notes)
    assert (await ask(kernel, thinking="high")).notes == ()


class Echo:
    """A provider that repeats what it is asked, as another plugin would bring it."""

    def __init__(self, name: str = "echo", suggests: str | None = None) -> None:
        self.name = name
        self._suggests = suggests

    def check(self) -> None:
        return

    def model_for(self, role: Role) -> str | None:
        return self._suggests

    def models(self) -> Sequence[ModelInfo]:
        return [ModelInfo("one")]

    async def generate(self, model: str, request: Request) -> Reply:
        (said,) = (part.text for part in request.turns[-1].parts if isinstance(part, Text))
        text = said if request.schema is None else json.dumps(GOOD)
        return Reply(text=text, model=model, usage=Usage(calls=1, input_tokens=len(said)))

    async def stream(self, model: str, request: Request) -> AsyncIterator[ReplyPiece]:
        reply = await self.generate(model, request)
        yield ReplyPiece(text=reply.text)
        yield ReplyPiece(reply=reply)

    async def embed(
        self, model: str, items: Sequence[str], purpose: Purpose, dimension: int | None
    ) -> Embeddings:
        return Embeddings(vectors=[[1.0] for _ in items], model=model, usage=Usage(calls=1))

    async def count_tokens(self, model: str, request: Request) -> int:
        return len(request.turns)


async def test_another_provider_serves_every_tool_unchanged(
    environ: Mapping[str, str],
    gemini: FakeGemini,
    make_plugin: Any,
    start: Any,
    working_folder: Path,
) -> None:
    variables = {**environ, **paying(gemini, VR_MODELS__DEFAULT="echo/one")}
    echo = make_plugin(providers=[Provider(ModelProvider, "echo", lambda _services: Echo())])
    kernel = await start(
        {"paid": paid_plugin, "echo": echo},
        config=load_config(environ=variables, working_folder=working_folder),
    )
    said = await kernel.call("paid_ask", question="Why?")
    assert (said.text, said.model, said.usage.input_tokens) == ("Why?", "echo/one", 4)
    assert (await kernel.call("paid_shape", question="Why?")).capital.city == "Paris"
    assert (await kernel.call("paid_stream", question="Why?")).text == "Why?"
    assert not (await kernel.call("paid_once", question="Why?")).cached
    assert (await kernel.call("paid_once", question="Why?")).cached
    assert len((await kernel.call("paid_batch", name="x", items=3)).texts) == 3
    assert [row.key for row in (await report(kernel, by="model")).rows] == ["echo/one"]
    assert gemini.requests == []


# Refused before anything is sent.


def nested(depth: int) -> dict[str, Any]:
    schema: dict[str, Any] = {}
    for _ in range(depth):
        schema = {"properties": {"x": schema}}
    return schema


TOO_LARGE: dict[str, dict[str, Any]] = {
    "deep": nested(2000),
    "wide": {"properties": {f"p{number}": {} for number in range(100_000)}},
    "wordy": {"description": "x" * 10_000_000},
}
NO_SCHEMA: dict[str, dict[str, Any]] = {
    "properties is a list": {"properties": ["a"]},
    "property is a number": {"properties": {"a": 5}},
    "anyOf is an object": {"anyOf": {"a": {}}},
    "anyOf is a text": {"anyOf": "x"},
    "no such type": {"type": "strin"},
    "reference is a number": {"$ref": 5},
    "reference to itself": {"$ref": "#"},
    "reference to nothing": {"$ref": "#/$defs/a"},
    "reference to the network": {"properties": {"a": {"$ref": "http://127.0.0.1:1/schema"}}},
    "dynamic reference to a file": {"$dynamicRef": "file:///etc/passwd"},
    "pattern that looks around": {"pattern": "(?=x)"},
}


@pytest.mark.parametrize("name", [*TOO_LARGE, *NO_SCHEMA])
async def test_schema_that_cannot_be_served_is_refused(
    kernel: Kernel, gemini: FakeGemini, name: str
) -> None:
    schema = {**TOO_LARGE, **NO_SCHEMA}[name]
    error = await failure(kernel, "paid_custom", output_schema=schema)
    assert error.category == ("SCHEMA_TOO_LARGE" if name in TOO_LARGE else "SCHEMA_INVALID")
    assert error.code is (Code.TOO_LARGE if name in TOO_LARGE else Code.INVALID_INPUT)
    assert len(error.message) + len(error.hint) < 2000
    assert gemini.requests == []


async def test_evil_pattern_does_not_hang_the_server(kernel: Kernel, gemini: FakeGemini) -> None:
    gemini.answer({"a": "a" * 50_000 + "!"}, times=1)
    gemini.answer({"a": "aaa"})
    schema = {"properties": {"a": {"type": "string", "pattern": "^(a+)+$"}}}
    async with asyncio.timeout(10):
        outcome = await ask(kernel, "paid_custom", output_schema=schema)
    assert outcome.error is None
    assert len(gemini.requests) == 2


@pytest.mark.parametrize(
    "manner",
    [{"temperature": 2.1}, {"temperature": -0.1}, {"temperature": 1e300}, {"thinking": "hihg"}],
    ids=str,
)
async def test_manner_that_there_is_not_is_refused(
    kernel: Kernel, gemini: FakeGemini, manner: dict[str, Any]
) -> None:
    for shaped in (False, True):
        error = await failure(kernel, shaped=shaped, **manner)
        assert error.code is Code.INVALID_INPUT
        assert "'high'" in error.hint or "0 to 2" in error.hint
    assert gemini.requests == []


async def test_every_option_is_known_by_name_also_to_a_type_checker(kernel: Kernel) -> None:
    known = {field.name for field in fields(Request)} - {"turns", "schema"}
    assert set(Options.__annotations__) == {*known, "model"}
    with pytest.raises(TypeError, match="temprature"):
        await kernel.services.models.generate("Why?", temprature=1)  # type: ignore[call-arg]


async def test_medium_that_a_model_does_not_take_is_refused(
    open_kernel: Any, gemini: FakeGemini
) -> None:
    kernel = await open_kernel(VR_MODELS__DEFAULT=FLASH)
    error = await failure(kernel, mime="application/x-tar")
    assert (error.code, error.category) == (Code.UNSUPPORTED, "MEDIA_UNSUPPORTED")
    assert "video" in error.hint
    assert gemini.requests == []
    total = (await report(kernel)).total
    assert (total.calls, total.maybe_paid) == (0, 0)


# Many at once.


async def test_no_more_calls_at_a_time_than_are_allowed(
    open_kernel: Any, gemini: FakeGemini
) -> None:
    kernel = await open_kernel(VR_MODELS__CONCURRENCY="3")
    tools = ["paid_ask", "paid_shape", "paid_stream", "paid_once"] * 5
    with gemini.hold():
        calls = [
            asyncio.create_task(ask(kernel, tool, question=f"Question {number}"))
            for number, tool in enumerate(tools)
        ]
        await holding(gemini, 3)
        calls[0].cancel()
        await asyncio.to_thread(gemini.wait, lambda: gemini.cancelled == 1)
        await holding(gemini, 3)
    outcomes = await asyncio.gather(*calls[1:])
    assert all(outcome.error is None for outcome in outcomes)
    assert gemini.peak_in_flight == 3
    assert len(gemini.requests_of(ASKED, "streamGenerateContent")) == 20


@pytest.mark.parametrize("tool", ["paid_ask", "paid_shape", "paid_stream", "paid_once"])
async def test_a_call_that_only_pauses_is_in_nobodys_way(
    open_kernel: Any, gemini: FakeGemini, tool: str
) -> None:
    kernel = await open_kernel(VR_MODELS__CONCURRENCY="1", VR_MODELS__FAST=LITE)
    gemini.fail(Fault.throttled(60), when=lambda request: request.model not in LITE, times=None)
    pausing = asyncio.create_task(ask(kernel, tool))
    await asyncio.to_thread(gemini.wait, lambda: len(gemini.requests) == 1)
    async with asyncio.timeout(10):
        assert (await kernel.services.models.generate("How?", role="fast")).model == LITE
    assert not pausing.done()
    pausing.cancel()
    await asyncio.wait({pausing})


@pytest.mark.parametrize("tool", ["paid_ask", "paid_stream"])
async def test_waiting_for_others_ends_with_the_deadline(
    open_kernel: Any, gemini: FakeGemini, tool: str
) -> None:
    kernel = await open_kernel(VR_MODELS__CONCURRENCY="1", VR_MODELS__DEADLINE_S="0.1")
    async with kernel.services.models.recorder.room:
        assert (await failure(kernel, tool)).category == "NO_ROOM"
    assert gemini.requests == []


@pytest.mark.parametrize(
    ("preference", "order"), [(0, ["gemini", "aaa", "zzz"]), (1000, ["aaa", "zzz", "gemini"])]
)
async def test_without_configuration_the_preferred_provider_is_asked_not_the_first_by_name(
    environ: Mapping[str, str],
    gemini: FakeGemini,
    make_plugin: Any,
    start: Any,
    working_folder: Path,
    preference: int,
    order: list[str],
) -> None:
    providers = [
        Provider(ModelProvider, name, lambda _services, name=name: Echo(name, "one"), preference)
        for name in ("zzz", "aaa")
    ]
    config = load_config(environ={**environ, **paying(gemini)}, working_folder=working_folder)
    plugins = {"paid": paid_plugin, "echo": make_plugin(providers=providers)}
    kernel = await start(plugins, config=config)
    said = await kernel.call("paid_ask", question="Why?")
    assert said.model.partition("/")[0] == order[0]
    asked = [name.partition("/")[0] for name in kernel.services.models.roles.names("default")]
    assert asked == order
