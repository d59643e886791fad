"""The server over real stdio, to real clients of every protocol era."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from mcp import MCPError
from plugin_zoo import OWN_TOOLS, Zoo, vr_command
from vr_kernel import ERROR_META, Code, VrError
from vr_server import Era, ToolClient, connect
from vr_server.served.resource import MOST_BYTES
from zoo_animals import GOOD, ZOO_TOOLS

GOLDEN = Path(__file__).parent / "golden_tools.json"
FIELDS = {"code", "category", "message", "hint", "retryable", "retry_after_seconds", "call_id"}
TOOLS = sorted([*ZOO_TOOLS, *OWN_TOOLS])
pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.fixture(scope="module")
def zoo(tmp_path_factory: pytest.TempPathFactory) -> Zoo:
    """The good plugin alone."""
    return Zoo(tmp_path_factory.mktemp("zoo")).add(GOOD)


class Visit:
    """A client, the progress it was told, and the log of its server."""

    def __init__(self, era: Era, log: Path) -> None:
        self.era = era
        self.log_file = log
        self.heard: asyncio.Queue[tuple[float, float | None, str | None]] = asyncio.Queue()
        self.tools: ToolClient

    async def hear(self, done: float, total: float | None, message: str | None) -> None:
        """Take a notification of progress."""
        await self.heard.put((done, total, message))

    def forget_progress(self) -> None:
        """Drop what was told so far."""
        while not self.heard.empty():
            self.heard.get_nowait()

    async def fail(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The error that a call ends with, as it is on the wire."""
        result = await self.tools.client.call_tool(tool, arguments, raise_on_error=False)
        assert result.is_error
        assert result.structured_content is None
        error: dict[str, Any] = result.meta[ERROR_META]
        assert set(error) == FIELDS
        assert all(error[field] for field in ("code", "category", "message", "call_id"))
        words, body = result.content
        assert words.text == f"{error['message'].rstrip('.')}. {error['hint']}".rstrip()
        assert json.loads(body.text) == error
        return error

    def log(self) -> str:
        """The server's stderr."""
        return self.log_file.read_text("utf-8")


async def visit(zoo: Zoo, era: Era) -> AsyncIterator[Visit]:
    """Start a server and connect to it."""
    guest = Visit(era, zoo.folder / f"{era}.log")
    async with connect(
        vr_command("serve"),
        env=zoo.environment(),
        cwd=zoo.work,
        era=era,
        on_progress=guest.hear,
        log_file=guest.log_file,
    ) as guest.tools:
        yield guest


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def auto(zoo: Zoo) -> AsyncIterator[Visit]:
    """A client of the newest era."""
    async for guest in visit(zoo, "auto"):
        yield guest


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def legacy(zoo: Zoo) -> AsyncIterator[Visit]:
    """A client of the eras with a handshake."""
    async for guest in visit(zoo, "legacy"):
        yield guest


@pytest.fixture(params=["auto", pytest.param("legacy", marks=pytest.mark.slow)])
def guest(request: pytest.FixtureRequest) -> Visit:
    """A client of each era; the server is shared by the tests of this module."""
    found: Visit = request.getfixturevalue(request.param)
    found.forget_progress()
    return found


def names_in(folder: Path) -> set[str]:
    """Names of the files in a folder."""
    return {path.name for path in folder.iterdir()}


def text_of(path: str) -> str:
    """The text in a file."""
    return Path(path).read_text("utf-8")


# Lists.


async def test_tools_are_listed_by_name(guest: Visit) -> None:
    assert await guest.tools.tool_names() == TOOLS


async def test_effects_become_hints(guest: Visit) -> None:
    hints = {
        tool.name: tool.annotations.model_dump(exclude_none=True)
        for tool in await guest.tools.client.list_tools()
    }
    reading = {
        "read_only_hint": True,
        "destructive_hint": False,
        "idempotent_hint": False,
        "open_world_hint": False,
    }
    assert hints["zoo_shout"] == reading
    assert hints["zoo_echo"] == reading | {"idempotent_hint": True}
    assert hints["zoo_look"] == reading | {"open_world_hint": True}
    assert hints["zoo_wait"] == reading | {"read_only_hint": False}
    assert hints["zoo_crash"] == reading | {"read_only_hint": False, "destructive_hint": True}


async def test_a_tool_says_what_it_takes_and_no_more(guest: Visit) -> None:
    import jsonschema

    tools = {tool.name: tool for tool in await guest.tools.client.list_tools()}
    echo = tools["zoo_echo"]
    assert echo.description == "Say it again."
    schema = echo.input_schema
    assert schema["required"] == ["text"]
    assert list(schema["properties"]) == [
        "text", "times", "loud", "mood", "level", "tags", "numbers", "point", "extra", "note",
    ]  # fmt: skip
    assert schema["properties"]["text"] == {
        "type": "string", "maxLength": 20_000, "description": "What to say",
    }  # fmt: skip
    assert schema["additionalProperties"] is False
    assert "title" not in json.dumps(schema)
    for tool in tools.values():
        jsonschema.Draft202012Validator.check_schema(tool.input_schema)
        jsonschema.Draft202012Validator.check_schema(tool.output_schema)
        assert "call" not in tool.input_schema.get("properties", {})


async def test_the_kernels_own_tools_are_the_golden_ones(auto: Visit) -> None:
    """`UPDATE_GOLDEN=1` writes the file anew, for a change that is meant."""
    tools = [
        {"name": t.name, "description": t.description, "inputSchema": t.input_schema}
        for t in await auto.tools.client.list_tools()
        if t.name.startswith(("infra_", "job_"))
    ]
    text = json.dumps(tools, indent=2, sort_keys=True) + "\n"
    if os.environ.get("UPDATE_GOLDEN"):
        GOLDEN.write_text(text, "utf-8")
    assert GOLDEN.read_text("utf-8") == text


# Answers.


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("zoo_echo", {"text": "hä?", "point": {"x": 1.5}, "tags": ["a"], "extra": {"k": [None]}}),
        ("zoo_look", {}),
        ("zoo_paint", {"text": "sky"}),
        ("zoo_mutter", {"what": "line"}),
        ("infra_plugins", {}),
        ("infra_cache", {"action": "list"}),
    ],
)
async def test_results_fit_their_schema(tool: str, arguments: Any, guest: Visit) -> None:
    import jsonschema

    tools = {t.name: t for t in await guest.tools.client.list_tools()}
    result = await guest.tools.client.call_tool(tool, arguments)
    jsonschema.validate(result.structured_content, tools[tool].output_schema)
    assert json.loads(result.content[0].text) == result.structured_content


async def test_defaults_are_filled_in(guest: Visit) -> None:
    assert await guest.tools.call("zoo_echo", text="x") == {
        "text": "x", "times": 1, "loud": False, "mood": "calm", "level": 1, "tags": [],
        "numbers": [], "point": None, "extra": None, "note": None, "food": "hay",
    }  # fmt: skip


async def test_null_stands_for_an_optional_argument_left_out(guest: Visit) -> None:
    nothing = {"note": None, "point": None, "extra": None}
    assert await guest.tools.call("zoo_echo", text="x", **nothing) == await guest.tools.call(
        "zoo_echo", text="x"
    )


async def test_remarks_stand_beside_the_result(guest: Visit) -> None:
    result = await guest.tools.client.call_tool("zoo_paint", {"text": "sea"})
    assert [block.text for block in result.content[1:]] == ["Note: The paint is wet."]


async def test_many_calls_at_once(auto: Visit) -> None:
    calls = (auto.tools.call("zoo_echo", text=str(number)) for number in range(200))
    answers = await asyncio.gather(*calls)
    assert [answer["text"] for answer in answers] == [str(number) for number in range(200)]


# Errors.


@pytest.mark.parametrize("code", list(Code))
async def test_an_error_carries_everything(code: Code, guest: Visit) -> None:
    error = await guest.fail("zoo_fail", code=code.value, retryable=True, retry_after=2.5)
    assert error.pop("call_id")
    assert error == {
        "code": code.value,
        "category": "TOLD",
        "message": "It failed as told.",
        "hint": "Tell it something else.",
        "retryable": True,
        "retry_after_seconds": 2.5,
    }


async def test_the_client_raises_the_error_again(guest: Visit) -> None:
    with pytest.raises(VrError, match="as told") as caught:
        await guest.tools.call("zoo_fail", code="BUDGET", retry_after=3)
    error = caught.value
    assert (error.code, error.category, error.retry_after) == (Code.BUDGET, "TOLD", 3)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({}, ["text", "required"]),
        ({"text": 3}, ["text", "string"]),
        ({"text": None}, ["text", "string"]),
        ({"text": "x", "times": "many"}, ["times", "integer"]),
        ({"text": "x", "times": 10}, ["times", "9"]),
        ({"text": "x", "mood": "sad"}, ["mood", "'calm' or 'wild'"]),
        ({"text": "x", "point": {"y": 1}}, ["point.x", "required"]),
        ({"text": "x", "tags": "a"}, ["tags", "list"]),
        ({"text": "x", "note": "n" * 51}, ["note", "50"]),
        ({"txet": "x"}, ["text", "Did you mean 'text'?"]),
    ],
)
async def test_arguments_that_do_not_fit(arguments: Any, says: list[str], guest: Visit) -> None:
    error = await guest.fail("zoo_echo", **arguments)
    assert error["code"] == "INVALID_INPUT"
    for part in says:
        assert part in f"{error['message']} {error['hint']}"
    assert "Arguments: text, times," in error["hint"]


async def test_an_unknown_tool(guest: Visit) -> None:
    error = await guest.fail("zoo_ecko")
    assert error["code"] == "NOT_FOUND"
    assert "Did you mean 'zoo_echo'?" in error["hint"]
    assert "tools/list" in error["hint"]


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("zoo_crash", {}),
        ("zoo_misfit", {}),
        ("zoo_exit", {}),
        ("zoo_exit", {"where": "thread"}),
    ],
)
async def test_a_tool_that_fails_harms_no_other(tool: str, arguments: Any, guest: Visit) -> None:
    error = await guest.fail(tool, **arguments)
    assert error["code"] == "INTERNAL"
    assert error["call_id"] in error["hint"]
    assert "zoo" in error["message"]
    assert "division" not in json.dumps(error)
    assert error["call_id"] in guest.log()
    assert (await guest.tools.call("zoo_echo", text="still here"))["text"] == "still here"


async def test_a_result_too_long_is_kept_as_an_artifact(guest: Visit) -> None:
    error = await guest.fail("zoo_flood", characters=100_000)
    assert error["code"] == "TOO_LARGE"
    uri = next(word for word in error["hint"].split() if word.startswith("vr://artifacts/"))
    whole = json.loads(await guest.tools.read(uri))
    assert whole == {"url": "x" * 100_000, "file_path": None}


# Progress and cancellation.


@pytest.mark.parametrize(
    "steps",
    [[1, 2, 3], [1, 1, 1], [3, 2, 1], [0, 0.5, 0.25, 1e9, 2]],
    ids=["rising", "equal", "falling", "wild"],
)
async def test_progress_rises(steps: list[float], guest: Visit) -> None:
    await guest.tools.call("zoo_climb", steps=steps, total=3)
    heard = [await guest.heard.get()]
    heard += [guest.heard.get_nowait() for _ in range(guest.heard.qsize())]
    numbers = [done for done, _, _ in heard]
    assert numbers == sorted(set(numbers)), "each number is higher than the one before"
    assert {total for _, total, _ in heard} == {3}
    told = iter([f"step {step:g}" for step in steps])
    assert all(message in told for _, _, message in heard), "a slow client skips, in order"


async def test_a_cancelled_call_ends_and_others_go_on(guest: Visit, tmp_path: Path) -> None:
    waiting = asyncio.create_task(guest.tools.call("zoo_wait", folder=str(tmp_path)))
    assert (await guest.heard.get())[2] == "waiting"
    assert (await guest.tools.call("zoo_echo", text="meanwhile"))["text"] == "meanwhile"
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    for _ in range(100):
        await guest.tools.call("zoo_echo", text="afterwards")
        if names_in(tmp_path) == {"started", "cancelled"}:
            break
    else:
        pytest.fail("the tool was not cancelled")


# Artifacts.


@pytest.mark.parametrize("mime", ["text/plain", "text/markdown", "image/png", "application/json"])
async def test_artifacts_are_resources(mime: str, guest: Visit) -> None:
    text = '{"sky": "blue"}'
    painted = await guest.tools.call("zoo_paint", text=text, mime=mime)
    (content,) = await guest.tools.client.read_resource(painted["uri"])
    assert content.mime_type == mime
    assert str(content.uri) == painted["uri"]
    assert await guest.tools.read(painted["uri"]) == text.encode()
    assert text_of(painted["path"]) == text


async def test_an_artifact_too_large_for_a_message_is_refused_unread(
    guest: Visit, tmp_path: Path
) -> None:
    painted = await guest.tools.call("zoo_paint", text="x", mime="text/plain")
    os.truncate(painted["path"], MOST_BYTES + 1)
    with pytest.raises(VrError, match="bytes") as caught:
        await guest.tools.read(painted["uri"])
    assert caught.value.code is Code.TOO_LARGE


async def test_the_address_of_artifacts_is_listed(guest: Visit) -> None:
    (template,) = await guest.tools.client.list_resource_templates()
    assert template.uri_template == "vr://artifacts/{name}"
    assert template.description


@pytest.mark.parametrize(
    "name",
    [
        f"{'0' * 64}.txt",
        "nothing",
        "..%2Fjournal.db",
        "../journal.db",
        "%2Fetc%2Fpasswd",
        "a%00b",
        "%ff",
        "é" * 3000,
    ],
)
async def test_an_unknown_artifact_is_a_clean_error(name: str, guest: Visit) -> None:
    with pytest.raises(MCPError) as caught:
        await guest.tools.client.read_resource(f"vr://artifacts/{name}")
    assert caught.value.error.code == -32602
    assert "artifact" in caught.value.error.message.lower()
    assert caught.value.error.data["code"] in ("NOT_FOUND", "INVALID_INPUT")
    with pytest.raises(VrError, match="artifact"):
        await guest.tools.read(f"vr://artifacts/{name}")
    assert "read_artifact" not in guest.log()
