"""Models that call tools, through the door: Gemini's, and those that have none."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import paid_plugin
import pytest
from pydantic import TypeAdapter
from vr_kernel import (
    Code,
    Embeddings,
    Kernel,
    ModelInfo,
    ModelProvider,
    Provider,
    Purpose,
    Reply,
    ReplyPiece,
    Request,
    Role,
    Text,
    ToolCall,
    ToolResult,
    ToolSpec,
    Turn,
    Usage,
    VrError,
    load_config,
)
from vr_testing import Answer, FakeGemini, Fault, FunctionCall

LOOK = ToolSpec("look", "Looks at a place.", {"type": "object", "properties": {"at": {}}})
SPEAK = ToolSpec("speak", "Says something.", {"type": "object"})
TOOLS = (LOOK, SPEAK)
ASKED = Turn("user", (Text("Look around."),))
FLASH, LITE = "gemini/gemini-3.8-flash", "gemini/gemini-3.5-flash-lite"


async def said(kernel: Kernel, parts: Any, *, streamed: bool = False, **how: Any) -> Reply:
    """The reply to what is said with tools at hand."""
    models, how = kernel.services.models, {"tools": TOOLS, **how}
    if not streamed:
        return await models.generate(parts, **how)
    pieces = [piece async for piece in models.stream(parts, **how)]
    reply = pieces[-1].reply
    assert reply is not None
    assert "".join(piece.text for piece in pieces) == reply.text
    return reply


async def refused(kernel: Kernel, parts: Any, **how: Any) -> VrError:
    """The error of what cannot be asked."""
    with pytest.raises(VrError) as caught:
        await said(kernel, parts, **how)
    return caught.value


def answers(reply: Reply) -> list[ToolResult]:
    """A result for each call."""
    return [ToolResult(call.id, f"seen by {call.name}") for call in reply.calls]


def signatures(gemini: FakeGemini) -> list[str]:
    """The signatures of the last request, by the parts that have one."""
    found = [part.get("thoughtSignature", "") for part in gemini.requests[-1].parts]
    return [signature for signature in found if signature]


@pytest.mark.parametrize("streamed", [False, True])
async def test_conversation_that_was_kept_as_json_goes_on(
    kernel: Kernel, gemini: FakeGemini, streamed: bool
) -> None:
    kept = TypeAdapter(list[Turn])
    calls = (FunctionCall("look", {"at": "/tmp/a\u200bb"}), FunctionCall("speak"))
    gemini.answer(Answer("I look.", calls=calls, signed=True), times=1)
    gemini.answer(Answer(calls=(FunctionCall("look", id="x"),) * 2), times=1)
    gemini.answer("All is well.")
    history, parts = list[Turn](), list[Any](ASKED.parts)
    ids: list[list[str]] = []
    while True:
        reply = await said(kernel, parts, history=history, streamed=streamed)
        ids.append([call.id for call in reply.calls])
        history += [Turn("user", tuple(parts)), reply.turn]
        history = kept.validate_json(kept.dump_json(history))
        assert Reply.model_validate_json(reply.model_dump_json()) == reply
        if not reply.calls:
            break
        parts = answers(reply)
    assert (history[1].text, history[-1].text) == ("I look.", "All is well.")
    assert history[1].calls[0].arguments == {"at": "/tmp/a\u200bb"}
    assert ids == [["call-1-1", "call-1-2"], ["x", "x-2"], []]
    assert len(signatures(gemini)) == 3
    called = [part["functionCall"] for part in gemini.requests[-1].parts if "functionCall" in part]
    assert [call.get("id") for call in called] == [None, None, "x", "x-2"]
    assert [result["name"] for result in gemini.requests[-1].results] == [
        *TOOL_NAMES,
        "look",
        "look",
    ]


TOOL_NAMES = ("look", "speak")


async def test_failed_result_is_an_error_to_the_model(kernel: Kernel, gemini: FakeGemini) -> None:
    gemini.answer(Answer(calls=(FunctionCall("look"), FunctionCall("nobody_knows"))), times=1)
    first = await said(kernel, "Look.")
    assert [call.name for call in first.calls] == ["look", "nobody_knows"]
    results = [
        ToolResult(first.calls[0].id, "dark", failed=True),
        ToolResult(first.calls[1].id, "fine"),
    ]
    await said(kernel, results, history=[ASKED, first.turn])
    told = [result["response"] for result in gemini.requests[-1].results]
    assert told == [{"error": "dark"}, {"output": "fine"}]


async def test_what_a_model_wants_called_is_visible_and_bounded(
    kernel: Kernel, gemini: FakeGemini
) -> None:
    raw = FunctionCall("look\u202e", {"at\x9b": ["\x1b[31mred \ud83d"], "n": 1.5})
    deep: Any = "end"
    for _ in range(900):
        deep = [deep]
    calls = [raw, FunctionCall("look", {"at": deep}), *[FunctionCall("speak")] * 198]
    gemini.answer(Answer(calls=tuple(calls)), times=1)
    reply = await said(kernel, "Look.")
    assert (len(reply.calls), len({call.id for call in reply.calls})) == (128, 128)
    assert "200 tools were called at once" in reply.notes[0]
    assert (reply.calls[0].name, reply.calls[0].arguments) == ("look", {"at": ["red ?"], "n": 1.5})
    assert reply.calls[1].arguments == {}
    assert "nested too deeply" in reply.calls[1].problem
    await said(kernel, answers(reply), history=[ASKED, reply.turn])
    assert signatures(gemini) == ["skip_thought_signature_validator"]  # the call is not as it came
    assert len(gemini.requests[-1].results) == 128


@pytest.mark.parametrize("streamed", [False, True])
async def test_words_that_are_not_as_they_came_lose_their_signature_alone(
    kernel: Kernel, gemini: FakeGemini, streamed: bool
) -> None:
    gemini.answer(Answer("I\u200b look.", calls=(FunctionCall("look"),), signed=True), times=1)
    reply = await said(kernel, "Look.", streamed=streamed)
    await said(kernel, answers(reply), history=[ASKED, reply.turn])
    _, words, *called, _ = gemini.requests[-1].parts
    assert words == {"text": "I look."}
    assert "thoughtSignature" in called[0]
    assert "skip" not in called[0]["thoughtSignature"]


CALL, RESULT = ToolCall("1", "look", {}), ToolResult("1", "seen")
MADE = Turn("model", (CALL,))
UNPAIRED: Mapping[str, tuple[list[Turn], list[Any]]] = {
    "no result": ([ASKED, MADE], ["And now?"]),
    "no result at the end of the history": ([ASKED, MADE, ASKED], ["And now?"]),
    "an invented result": ([ASKED, MADE], [RESULT, ToolResult("2", "seen")]),
    "a result without any call": ([], [RESULT]),
    "two results": ([ASKED, MADE], [RESULT, RESULT]),
    "a late result": (
        [ASKED, MADE, Turn("user", (RESULT,)), Turn("model", (Text("So."),))],
        [RESULT],
    ),
    "equal ids": ([ASKED, Turn("model", (CALL, CALL))], [RESULT, RESULT]),
    "a call of the user": ([], [CALL]),
    "a result of the model": ([ASKED, MADE, Turn("model", (RESULT,))], ["And now?"]),
}


@pytest.mark.parametrize(("history", "parts"), UNPAIRED.values(), ids=UNPAIRED)
async def test_calls_without_results_are_refused_before_anything_is_paid(
    kernel: Kernel, gemini: FakeGemini, history: list[Turn], parts: list[Any]
) -> None:
    error = await refused(kernel, parts, history=history)
    assert (error.code, error.category) == (Code.INVALID_INPUT, "TOOL_CALLS_UNPAIRED")
    assert gemini.requests == []


ODD: Mapping[str, tuple[list[Any], Any]] = {
    "a result that is data": ([ASKED, MADE], [ToolResult("1", {"seen": 1})]),  # type: ignore[arg-type]
    "a result of nothing": ([ASKED, MADE], [ToolResult("1", None)]),  # type: ignore[arg-type]
    "words that are a number": ([], [Text(5)]),  # type: ignore[arg-type]
    "a part that is data": ([], [{"text": "Look."}]),
    "no parts": ([], None),
    "a turn that is a text": (["Look."], "Look."),
    "a turn whose parts are a text": ([Turn("user", "Look.")], "Look."),  # type: ignore[arg-type]
    "an unknown speaker": ([Turn("assistant", ())], "Look."),  # type: ignore[arg-type]
}


@pytest.mark.parametrize(("history", "parts"), ODD.values(), ids=ODD)
async def test_what_is_no_turn_is_refused_before_anything_is_paid(
    kernel: Kernel, gemini: FakeGemini, history: list[Any], parts: Any
) -> None:
    error = await refused(kernel, parts, history=history)
    assert (error.code, error.category) == (Code.INVALID_INPUT, "TURN_INVALID")
    assert gemini.requests == []


async def test_one_part_is_said_as_it_is(kernel: Kernel, gemini: FakeGemini) -> None:
    await said(kernel, Text("Look."))
    assert gemini.requests[-1].text == "Look."


def nested(depth: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "object"}
    for _ in range(depth):
        schema = {"type": "object", "properties": {"a": schema}}
    return schema


BAD_TOOLS: Mapping[str, Sequence[ToolSpec]] = {
    "data": [{"name": "look"}],  # type: ignore[list-item]
    "a space": [ToolSpec("look around", "", {"type": "object"})],
    "a digit first": [ToolSpec("1look", "", {"type": "object"})],
    "too long": [ToolSpec("l" * 65, "", {"type": "object"})],
    "no name": [ToolSpec("", "", {"type": "object"})],
    "a line end": [ToolSpec("look\n", "", {"type": "object"})],
    "one name twice": [LOOK, LOOK],
    "no object": [ToolSpec("look", "", {"type": "string"})],
    "no type": [ToolSpec("look", "", {})],
    "no JSON": [ToolSpec("look", "", {"type": "object", "default": {1, 2}})],
    "not a number": [ToolSpec("look", "", {"type": "object", "default": float("nan")})],
    "too large": [ToolSpec("look", "x" * 70_000, {"type": "object"})],
    "too deep": [ToolSpec("look", "", nested(5_000))],
}


@pytest.mark.parametrize("tools", BAD_TOOLS.values(), ids=BAD_TOOLS)
async def test_tools_that_no_provider_takes_are_refused(
    kernel: Kernel, gemini: FakeGemini, tools: Sequence[ToolSpec]
) -> None:
    error = await refused(kernel, "Look.", tools=tools)
    assert (error.code, error.category) == (Code.INVALID_INPUT, "TOOL_INVALID")
    assert gemini.requests == []


async def test_a_schema_that_the_service_refuses_is_asked_once(
    kernel: Kernel, gemini: FakeGemini
) -> None:
    odd = ToolSpec("look", "", {"type": "object", "properties": {"at": {"type": "thing"}}})
    error = await refused(kernel, "Look.", tools=[odd])
    assert (error.code, error.category) == (Code.INVALID_INPUT, "API_INVALID_ARGUMENT")
    assert "unknown type 'thing'" in error.message
    assert (len(gemini.requests), gemini.bill) == (1, Usage())


async def test_a_shape_and_tools_do_not_go_together(kernel: Kernel, gemini: FakeGemini) -> None:
    with pytest.raises(VrError) as caught:
        await kernel.services.models.generate_structured("Why?", {"type": "object"}, tools=TOOLS)
    assert caught.value.code is Code.INVALID_INPUT
    assert gemini.requests == []


async def test_state_returns_to_the_model_that_made_it_and_to_no_other(
    kernel: Kernel, gemini: FakeGemini
) -> None:
    gemini.answer(Answer(calls=(FunctionCall("look", id="1"),)), times=1)
    first = await said(kernel, "Look.", model=FLASH)
    history = [ASKED, first.turn]
    await said(kernel, [ToolResult("1", "seen")], history=history, model=LITE)
    (foreign,) = signatures(gemini)
    assert foreign == "skip_thought_signature_validator"
    await said(kernel, [ToolResult("1", "seen")], history=history, model=FLASH)
    assert signatures(gemini) != [foreign]
    damaged = [ASKED, Turn("model", first.turn.parts, {"model": FLASH, "parts": [{"x": 1}, 2]})]
    await said(kernel, [ToolResult("1", "seen")], history=damaged, model=FLASH)
    assert signatures(gemini) == [foreign]
    spoiled: Any = Turn("model", first.turn.parts, cast("Any", "no mapping"))
    await said(kernel, [ToolResult("1", "seen")], history=[ASKED, spoiled], model=FLASH)
    assert signatures(gemini) == [foreign]


def test_a_request_without_tools_has_the_key_that_it_had() -> None:
    request = Request((ASKED,))
    turns = request.identity["turns"]
    assert turns == [["user", ["Look around."]]]
    assert list(request.identity) == [
        *("turns", "system", "schema", "thinking", "temperature", "max_output_tokens"),
        *("search", "url_context"),
    ]
    stated = Request((ASKED, Turn("model", (Text("So."),), {"model": FLASH, "parts": []})))
    assert stated.identity == Request((ASKED, Turn("model", (Text("So."),)))).identity
    assert Request((ASKED,), tools=TOOLS).identity != request.identity
    calls = [Request((ASKED, Turn("model", (ToolCall("1", "look", {"at": at}),)))) for at in (1, 2)]
    assert calls[0].identity != calls[1].identity


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('{"at": 1}', ""),
        ("{at: 1}", "no JSON"),
        ("[1]", "no JSON object"),
        ("", "no JSON"),
        ("NaN", "no JSON"),
        (None, "no JSON object"),
        ("[" * 100_000, "no JSON"),
        ({"at": {1}}, "no JSON"),
    ],
)
def test_arguments_that_are_no_object_are_a_call_with_a_problem(text: Any, problem: str) -> None:
    call = ToolCall.read("1", "look", text)
    assert call.arguments == ({} if problem else {"at": 1})
    assert problem in call.problem
    assert bool(call.problem) is bool(problem)


# One model for one call.


async def test_one_call_may_name_its_model(kernel: Kernel, gemini: FakeGemini) -> None:
    models = kernel.services.models
    assert (await models.generate("Why?", model=LITE)).model == LITE
    assert (await models.generate("Why?", model="gemini-3.1-flash-lite")).model.endswith(
        "3.1-flash-lite"
    )
    assert (await models.generate("Why?", model="stable")).model == FLASH
    assert (await models.generate("Why?", model="budget", role="fast")).model.endswith(
        "3.1-flash-lite"
    )
    assert (await said(kernel, "Why?", streamed=True, model=LITE)).model == LITE
    shaped = await models.generate_structured("Why?", {"type": "object"}, model=LITE)
    assert shaped.reply.model == LITE
    alone = await models.count_tokens("Why?", model=LITE)
    assert gemini.requests[-1].model == LITE.partition("/")[2]
    assert await models.count_tokens("Why?", model=LITE, tools=TOOLS) > alone
    assert models.identity(model=LITE)["models"] == [LITE]
    assert models.identity(model="budget") != models.identity()


async def test_the_model_of_one_call_has_no_other_behind_it(
    open_kernel: Any, gemini: FakeGemini
) -> None:
    kernel = await open_kernel(VR_MODELS__DEFAULT=f"{FLASH},{LITE}")
    gemini.fail(Fault.status(404), times=None)
    error = await refused(kernel, "Why?", model=FLASH)
    assert error.code is Code.NOT_FOUND
    assert {request.model for request in gemini.requests} == {"gemini-3.8-flash"}


@pytest.mark.parametrize(
    ("model", "near"), [("budgte", "'budget'"), ("gemnii/x", "'gemini'"), ("gemini/", "Known: ")]
)
async def test_a_model_that_nobody_has_names_the_nearest(
    kernel: Kernel, gemini: FakeGemini, model: str, near: str
) -> None:
    for ask in (kernel.services.models.identity, kernel.services.models.info):
        with pytest.raises(VrError) as caught:
            ask(model=model)
        assert (caught.value.code, caught.value.category) == (Code.INVALID_INPUT, "MODEL_UNKNOWN")
        assert near in caught.value.hint
    assert (await refused(kernel, "Why?", model=model)).code is Code.INVALID_INPUT
    assert gemini.requests == []


async def test_what_is_known_of_a_model(kernel: Kernel) -> None:
    models = kernel.services.models
    info = models.info()
    assert (info.name, info.tools) == (models.names("default")[0], True)
    assert info.context > 100_000
    assert {"text", "video"} <= info.accepts
    assert models.info("embedding").embeds
    unheard_of = models.info(model="gemini/gemini-9")
    assert (unheard_of.tools, unheard_of.context) == (True, 0)


# Models without tools.


class Plain:
    """A provider from before there were tools: it says what it is told to."""

    name = "plain"

    def __init__(self) -> None:
        self.script: list[str] = []
        self.requests: list[Request] = []

    def check(self) -> None:
        return

    def model_for(self, role: Role) -> str | None:
        return f"one-{role}"

    def models(self) -> Sequence[ModelInfo]:
        return [ModelInfo("one")]

    def presets(self, role: Role) -> Any:
        raise ZeroDivisionError(role)

    async def generate(self, model: str, request: Request) -> Reply:
        self.requests.append(request)
        if not self.script:
            raise VrError("Nothing more is said.", Code.UNAVAILABLE)
        return Reply(text=self.script.pop(0), model=model, usage=Usage(calls=1, output_tokens=3))

    async def stream(self, model: str, request: Request) -> AsyncIterator[ReplyPiece]:
        reply = await self.generate(model, request)
        for sign in reply.text:
            yield ReplyPiece(text=sign)
        yield ReplyPiece(reply=reply)

    async def embed(
        self, model: str, items: Sequence[Any], purpose: Purpose, dimension: int | None
    ) -> Embeddings:
        raise AssertionError(items)

    async def count_tokens(self, model: str, request: Request) -> int:
        return 1


@pytest.fixture
def plain() -> Plain:
    return Plain()


@pytest.fixture
async def by_schema(
    plain: Plain,
    gemini: FakeGemini,
    environ: Any,
    make_plugin: Any,
    start: Any,
    working_folder: Path,
) -> Kernel:
    """A kernel that asks the plain model first, then Gemini."""
    variables = {
        **environ,
        "VR_MODELS__DEFAULT": f"plain/one,{FLASH}",
        "GEMINI_API_KEY": "a-key",
        "GOOGLE_GEMINI_BASE_URL": gemini.url,
    }
    plugin = make_plugin(providers=[Provider(ModelProvider, "plain", lambda _services: plain)])
    kernel: Kernel = await start(
        {"paid": paid_plugin, "plain": plugin},
        config=load_config(environ=variables, working_folder=working_folder),
    )
    return kernel


async def test_a_provider_that_fails_at_its_presets_is_no_obstacle(by_schema: Kernel) -> None:
    assert by_schema.services.models.info(model="stable").name == FLASH
    with pytest.raises(VrError, match="no model or preset"):
        by_schema.services.models.info(model="one")


@pytest.mark.parametrize(
    "then", [ZeroDivisionError("a-secret"), SystemExit(3), asyncio.CancelledError(), "words", None]
)
async def test_a_stream_that_fails_after_its_beginning_is_its_providers_failure(
    by_schema: Kernel, plain: Any, then: Any
) -> None:
    async def pieces(_model: str, _request: Request) -> AsyncIterator[Any]:
        yield ReplyPiece(text="Well")
        if isinstance(then, BaseException):
            raise then
        if then:
            yield then

    plain.stream = pieces
    heard = by_schema.services.models.stream("Why?")
    assert (await anext(heard)).text == "Well"
    with pytest.raises(VrError, match="ModelProvider plain of plugin plain failed") as told:
        await anext(heard)
    assert told.value.code is Code.INTERNAL


async def test_an_answer_outlives_a_stream_that_fails_to_close(
    by_schema: Kernel, plain: Any
) -> None:
    async def pieces(model: str, _request: Request) -> AsyncIterator[ReplyPiece]:
        try:
            yield ReplyPiece(text="Four")
            yield ReplyPiece(reply=Reply(text="Four", model=model))
        finally:
            raise ZeroDivisionError

    plain.stream = pieces
    heard = [piece async for piece in by_schema.services.models.stream("2 + 2?")]
    assert heard[-1].reply
    assert heard[-1].reply.text == "Four"


async def test_calls_of_other_types_are_their_providers_failure(
    by_schema: Kernel, plain: Any
) -> None:
    number: Any = 5

    async def generate(model: str, _request: Request) -> Reply:
        return Reply(text="", model=model, calls=[ToolCall(number, "look")])

    plain.generate = generate
    with pytest.raises(VrError, match="ModelProvider plain of plugin plain failed"):
        await by_schema.services.models.generate("Why?")


@pytest.mark.parametrize("made", [[], [[1.0], [1.0]], [[]], [[float("nan"), 1.0]]])
async def test_vectors_that_no_item_can_have_are_their_providers_failure(
    plain: Any, make_plugin: Any, start: Any, environ: Any, working_folder: Path, made: Any
) -> None:
    async def embed(model: str, *_: object) -> Embeddings:
        return Embeddings(vectors=made, model=model)

    plain.embed = embed
    plugin = make_plugin(providers=[Provider(ModelProvider, "plain", lambda _services: plain)])
    variables = {**environ, "VR_MODELS__EMBEDDING": "plain/one"}
    config = load_config(environ=variables, working_folder=working_folder)
    kernel = await start({"plain": plugin}, config=config)
    with pytest.raises(VrError, match="ModelProvider plain of plugin plain failed"):
        await kernel.services.models.embed(["a"], "document")


def step(say: str = "", *calls: tuple[str, Any]) -> str:
    return json.dumps({"say": say, "calls": [{"name": n, "arguments": a} for n, a in calls]})


@pytest.mark.parametrize("streamed", [False, True])
async def test_model_without_tools_is_asked_by_schema(
    by_schema: Kernel, plain: Plain, streamed: bool
) -> None:
    plain.script = [
        step("I look.", ("look", {"at": "x\x1b[31m"}), ("unknown", "{no"), ("look", '{"at": 2}')),
        step("All is well."),
    ]
    first = await said(by_schema, list(ASKED.parts), streamed=streamed, system="Be brief.")
    assert (first.text, first.model) == ("I look.", "plain/one")
    assert [(call.id, call.name) for call in first.calls] == [
        *(("call-1-1", "look"), ("call-1-2", "unknown"), ("call-1-3", "look"))
    ]
    assert [call.arguments for call in first.calls] == [{"at": "x"}, {}, {"at": 2}]
    assert "no JSON" in first.calls[1].problem
    results = [ToolResult(call.id, "seen", call.problem != "") for call in first.calls]
    last = await said(
        by_schema, [*results, Text("Hurry.")], history=[ASKED, first.turn], streamed=streamed
    )
    assert (last.text, last.calls) == ("All is well.", [])
    asked = plain.requests[-1]
    assert asked.tools == ()
    assert {type(part) for turn in asked.turns for part in turn.parts} == {Text}
    assert json.loads(asked.turns[1].text)["calls"][0] == {"name": "look", "arguments": {"at": "x"}}
    assert (
        asked.turns[2].text == "look returned:\nseenunknown failed:\nseenlook returned:\nseenHurry."
    )
    assert plain.requests[0].system.startswith("Be brief.\n\nYou can call tools.")
    assert '"Looks at a place."' in asked.system
    call = asked.schema["properties"]["calls"]["items"] if asked.schema else {}
    assert call["properties"]["name"]["enum"] == ["look", "speak"]


@pytest.mark.parametrize("streamed", [False, True])
async def test_answer_outside_the_schema_is_sent_back_once(
    by_schema: Kernel, plain: Plain, streamed: bool
) -> None:
    plain.script = ["I look.", step("I look.", ("look", {}))]
    reply = await said(by_schema, "Look.", streamed=streamed)
    assert (reply.text, len(reply.calls), reply.usage.calls) == ("I look.", 1, 2)
    plain.script = ["I look.", "I do look."]
    error = await refused(by_schema, "Look.", streamed=streamed)
    assert (error.code, error.category) == (Code.UNAVAILABLE, "REPLY_INVALID")
    assert error.usage == Usage(calls=2, output_tokens=6)


@pytest.mark.parametrize("streamed", [False, True])
async def test_either_kind_of_model_goes_on_where_the_other_ended(
    by_schema: Kernel, plain: Plain, gemini: FakeGemini, streamed: bool
) -> None:
    gemini.answer(Answer("I look.", calls=(FunctionCall("look"),)), times=1)
    first = await said(by_schema, "Look.", streamed=streamed)  # nothing is said by the plain one
    assert (first.model, len(first.calls)) == (FLASH, 1)
    plain.script = [step("And again.", ("look", {}))]
    history = [ASKED, first.turn]
    again = await said(by_schema, answers(first), history=history, streamed=streamed)
    assert (again.model, again.text) == ("plain/one", "And again.")
    history += [Turn("user", tuple(answers(first))), again.turn]
    gemini.answer("All is well.")
    last = await said(by_schema, answers(again), history=history, streamed=streamed)
    assert (last.model, last.text) == (FLASH, "All is well.")
    plain.script = ["Without tools."]
    history += [Turn("user", tuple(answers(again))), last.turn]
    end = await said(by_schema, "And you?", history=history, tools=(), streamed=streamed)
    assert (end.text, plain.requests[-1].schema) == ("Without tools.", None)
