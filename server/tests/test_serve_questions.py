"""Tools that ask the person who called, and tools that show something beside their result."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable
from contextlib import AsyncExitStack
from functools import partial
from typing import Any, Literal

import pytest
from fastmcp import Client
from fastmcp.client.elicitation import ElicitResult
from pydantic import BaseModel, Field
from vr_kernel import (
    DESTRUCTIVE,
    ERROR_META,
    READ_ONLY,
    Call,
    Content,
    Kernel,
    VrError,
    cache_key,
    load_config,
    tool,
)
from vr_server import build_http_app, build_server


class Choice(BaseModel):
    sure: bool = Field(description="Really?")
    how_many: int = Field(default=1, ge=1, le=5)
    gate: Literal["north", "south"] = "north"


class Name(BaseModel):
    name: str


class Said(BaseModel):
    said: str


NO = Choice(sure=False)
begun: list[str] = []


@tool(effects=DESTRUCTIVE)
async def zoo_free(call: Call, animal: str) -> Said:
    """Free an animal."""
    choice = await call.ask(f"Free the {animal}?", Choice, default=NO)
    again = await call.ask(f"Free the {animal}?", Choice, default=NO) if choice.sure else NO
    return Said(said=f"{choice.sure} {choice.how_many} {choice.gate} {again.sure}")


@tool(effects=DESTRUCTIVE, long=True)
async def zoo_free_all(call: Call, animal: str) -> Said:
    """Free all animals of a kind."""
    return await zoo_free(call, animal)


@tool(effects=DESTRUCTIVE, long=True)
async def zoo_feed(call: Call) -> Said:
    """Pay for food, then ask: too late for a client that would have to call again."""
    await call.step("buy", _bought)
    choice = await call.ask("And dessert?", Choice, default=NO)
    return Said(said=str(choice.sure))


@tool(effects=DESTRUCTIVE, long=True)
async def zoo_count(call: Call) -> Said:
    """Ask within work that several callers wait for."""

    async def produce(shared: Call) -> Said:
        return Said(said=str((await shared.ask("Twice?", Choice, default=NO)).sure))

    return await call.once(cache_key(what="count"), Said, produce)


@tool(effects=DESTRUCTIVE)
async def zoo_show(call: Call) -> Said:
    """Show what an animal looks and sounds like."""
    call.show(Content(b"\x89PNG", "image/png"))
    call.show(Content(b"RIFF", "audio/wav"))
    call.show(Content("# Lion", "text/markdown", uri="vr://zoo/lion"))
    call.show(Content(b"%PDF", "application/pdf", uri="vr://zoo/lion.pdf"))
    call.show(Content("roar"))
    return Said(said="lion")


@tool(effects=READ_ONLY)
async def zoo_odd(call: Call) -> Said:
    """Show content whose type and address hold half a character, and escapes."""
    for data in ("roar", b"roar"):
        call.show(Content(data, "text/\ud800x", uri="vr://zoo/\x1b[31m\ud800"))
    call.show(Content(b"roar", "image/\ud800"))
    return Said(said="odd")


@tool(effects=READ_ONLY)
async def zoo_nothing(call: Call) -> Said:
    """Show nothing at all."""
    call.show(None)  # type: ignore[arg-type]
    return Said(said="nothing")


TOOLS = [zoo_free, zoo_free_all, zoo_feed, zoo_count, zoo_show, zoo_odd, zoo_nothing]
ERAS = pytest.mark.parametrize("era", ["auto", pytest.param("legacy", marks=pytest.mark.slow)])
KINDS = pytest.mark.parametrize("name", ["zoo_free", "zoo_free_all"])


async def _bought() -> str:
    begun.append("bought")
    return "food"


class Person:
    """A person at the client, who answers; keeps the questions."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)
        self.asked: list[tuple[str, dict[str, Any]]] = []

    async def __call__(self, message: str, _kind: Any, params: Any, _context: Any) -> Any:
        self.asked.append((message, params.requested_schema))
        answer = self.answers.pop(0)
        if isinstance(answer, str):
            return ElicitResult(action=answer)
        return ElicitResult(action="accept", content=answer)


@pytest.fixture
async def kernel(start, make_plugin) -> Kernel:
    return await start({"zoo": make_plugin(tools=TOOLS)})


@pytest.fixture
def ask(kernel: Kernel) -> Callable[..., Any]:
    async def call(name: str, era: str, person: Person | None, **arguments: Any) -> Any:
        app = build_server(kernel)
        async with Client(app, elicitation_handler=person, mode=era) as client:
            return await client.call_tool(name, arguments, raise_on_error=False)

    return call


@ERAS
@KINDS
async def test_answers_reach_the_tool(name: str, era: str, ask) -> None:
    person = Person({"sure": True, "how_many": 3, "gate": "south"}, {"sure": True})
    result = await ask(name, era, person, animal="lion")
    assert result.structured_content == {"said": "True 3 south True"}
    assert [question for question, _ in person.asked] == ["Free the lion?"] * 2
    properties = person.asked[0][1]["properties"]
    assert {key: value["type"] for key, value in properties.items()} == {
        "sure": "boolean",
        "how_many": "integer",
        "gate": "string",
    }
    assert properties["gate"]["enum"] == ["north", "south"]


@ERAS
@KINDS
async def test_the_default_counts_where_nobody_can_be_asked(name: str, era: str, ask) -> None:
    result = await ask(name, era, None, animal="lion")
    assert result.structured_content == {"said": "False 1 north False"}


@ERAS
@KINDS
@pytest.mark.parametrize("action", ["decline", "cancel"])
async def test_who_does_not_answer_ends_the_call(name: str, era: str, action: str, ask) -> None:
    result = await ask(name, era, Person(action), animal="lion")
    error = result.meta[ERROR_META]
    assert (result.is_error, error["code"], error["category"]) == (True, "CANCELLED", "DECLINED")
    assert "Free the lion?" in error["hint"]


@ERAS
@pytest.mark.parametrize(
    ("content", "names"),
    [({"sure": "perhaps"}, "sure"), ({"sure": True, "how_many": 9}, "how_many"), ({}, "sure")],
)
async def test_an_answer_that_does_not_fit_is_an_error(
    content: dict[str, Any], names: str, era: str, ask
) -> None:
    result = await ask("zoo_free", era, Person(content), animal="lion")
    error = result.meta[ERROR_META]
    assert (error["code"], error["category"]) == ("INVALID_INPUT", "ANSWER_INVALID")
    assert names in error["message"]


async def test_nothing_is_paid_twice_for_a_question(ask) -> None:
    """By 2026-07-28 the tool would have to be called again; what is paid stays paid once."""
    begun.clear()
    result = await ask("zoo_feed", "auto", Person({"sure": True}))
    assert (result.structured_content, begun) == ({"said": "False"}, ["bought"])


async def test_within_a_request_there_may_be_questions_at_any_time(ask) -> None:
    begun.clear()
    result = await ask("zoo_feed", "legacy", Person({"sure": True}))
    assert (result.structured_content, begun) == ({"said": "True"}, ["bought"])


@ERAS
async def test_shared_work_asks_nobody(era: str, ask) -> None:
    assert (await ask("zoo_count", era, Person())).structured_content == {"said": "False"}


async def test_a_person_may_take_longer_than_a_call(environ, start, make_plugin) -> None:
    """The call is not handed out as a job while its question is open."""
    from vr_kernel import load_config

    environ["VR_KERNEL__HANDLE_AFTER_S"] = "0.05"
    kernel = await start({"zoo": make_plugin(tools=TOOLS)}, config=load_config(environ=environ))
    asked, answer = asyncio.Event(), asyncio.Event()

    async def think(*_: Any) -> Any:
        asked.set()
        await answer.wait()
        return ElicitResult(action="accept", content={"sure": True})

    async with Client(build_server(kernel), elicitation_handler=think, mode="legacy") as client:
        calling = asyncio.create_task(client.call_tool("zoo_free_all", {"animal": "lion"}))
        await asked.wait()
        done, _ = await asyncio.wait({calling}, timeout=0.2)
        assert not done
        answer.set()
        assert (await calling).structured_content == {"said": "True 1 north True"}


async def test_the_library_can_ask_too(kernel: Kernel) -> None:
    from vr_kernel.questions import Answer

    async def ask(question: Any, *, paid: bool) -> Answer:
        assert (question.text, paid) == ("Free the lion?", False)
        return Answer("accept", {"sure": True})

    outcome = await kernel.run("zoo_free", {"animal": "lion"}, ask=ask)
    assert outcome.data == {"said": "True 1 north True"}
    with pytest.raises(VrError):
        await kernel.call("zoo_free")


@ERAS
async def test_a_tool_shows_what_words_cannot(era: str, ask) -> None:
    result = await ask("zoo_show", era, None)
    assert result.structured_content == {"said": "lion"}
    text, image, sound, sheet, leaflet, word = result.content
    assert text.text == '{"said":"lion"}'
    assert (image.type, image.mime_type, image.data) == ("image", "image/png", "iVBORw==")
    assert (sound.type, sound.mime_type) == ("audio", "audio/wav")
    assert (sheet.resource.uri, sheet.resource.text) == ("vr://zoo/lion", "# Lion")
    assert (leaflet.resource.mime_type, leaflet.resource.blob) == ("application/pdf", "JVBERg==")
    assert word.text == "roar"


async def test_types_and_addresses_of_content_are_sent_as_what_can_be_read(ask) -> None:
    _, *blocks = (await ask("zoo_odd", "auto", None)).content
    assert [block.type for block in blocks] == ["resource", "resource", "image"]
    assert {str(block.resource.uri) for block in blocks[:2]} == {"vr://zoo/?"}
    assert [block.resource.mime_type for block in blocks[:2]] == ["text/?x", "text/?x"]
    assert blocks[2].mime_type == "image/?"


async def test_what_is_no_content_is_the_fault_of_the_plugin(ask) -> None:
    result = await ask("zoo_nothing", "auto", None)
    assert result.is_error
    assert "zoo_nothing of plugin zoo failed unexpectedly" in result.content[0].text


@pytest.mark.skipif(os.name == "nt", reason="permissions of POSIX")
async def test_any_server_on_a_state_folder_takes_the_answer(environ, make_plugin) -> None:
    async with AsyncExitStack() as stack:
        posts = []
        for _ in range(2):
            plugins = {"zoo": make_plugin(tools=TOOLS)}
            kernel = await stack.enter_async_context(Kernel.open(load_config(environ), plugins))
            app = build_http_app(kernel, "127.0.0.1")
            await stack.enter_async_context(app.router.lifespan_context(app))
            posts.append(partial(_post, app))
        asked = await posts[0]()
        (key,) = asked["inputRequests"]
        answer = {key: {"action": "accept", "content": {"sure": False, "gate": "south"}}}
        for post in posts:
            said = await post(inputResponses=answer, requestState=asked["requestState"])
            assert said["structuredContent"] == {"said": "False 1 south False"}
        key_file = kernel.config.paths.state / "request.key"
        assert key_file.stat().st_mode & 0o777 == 0o600


async def _post(app: Any, **more: Any) -> dict[str, Any]:
    """The result of a call of `zoo_free` by a client that asks its user."""
    from httpx2 import ASGITransport, AsyncClient

    protocol = "io.modelcontextprotocol/"
    meta = {
        f"{protocol}protocolVersion": "2026-07-28",
        f"{protocol}clientCapabilities": {"elicitation": {"form": {}}},
    }
    call = {"name": "zoo_free", "arguments": {"animal": "lion"}, "_meta": meta, **more}
    headers = {
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": "2026-07-28",
        "Mcp-Method": "tools/call",
        "Mcp-Name": "zoo_free",
    }
    async with AsyncClient(transport=ASGITransport(app=app), base_url="http://127.0.0.1") as http:
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
        answer = await http.post("/mcp", json=body, headers=headers)
    lines = [line[6:] for line in answer.text.splitlines() if line.startswith("data: {")]
    result: dict[str, Any] = json.loads(lines[-1] if lines else answer.text)["result"]
    return result
