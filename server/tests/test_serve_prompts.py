"""Prompts and resources of plugins, as a client of either era gets them."""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import AsyncIterator, Iterator
from typing import Annotated, Any, Literal

import mcp_types
import pytest
from fastmcp import Client
from mcp_types import PromptReference
from pydantic import BaseModel, Field
from vr_kernel import (
    READ_ONLY,
    Artifact,
    Call,
    Content,
    Kernel,
    Message,
    Services,
    VrError,
    hookimpl,
    load_config,
    prompt,
    resource,
    tool,
)
from vr_kernel.prompts import MOST_CHARS
from vr_server import build_server

MCPError = pytest.importorskip("mcp.shared.exceptions").MCPError


FAULTS: dict[str, BaseException] = {
    "bug": RuntimeError("canary bug"),
    "exit": SystemExit(4),
    "interrupt": KeyboardInterrupt(),
    "generator": GeneratorExit(),
    "cancelled": asyncio.CancelledError(),
}


class Card(BaseModel):
    animal: str


@prompt
def zoo_visit(
    day: Annotated[Literal["monday", "friday"], Field(description="When you come")],
    children: int = 0,
) -> str:
    """Plan a visit.

    More than the client is told.
    """
    return f"Plan a visit on {day} with {children + 1} people."


@prompt
def zoo_talk() -> list[Message]:
    """Talk about a picture."""
    picture = Content(b"\x89PNG", "image/png")
    sheet = Content("# Lion", "text/markdown", uri="vr://zoo/sheet")
    return [Message(picture), Message(sheet), Message("A lion.", speaker="assistant")]


@prompt
def zoo_broken(word: str = "") -> str:
    """Fail."""
    raise FAULTS[word]


MADE: list[str] = []


def _endless() -> Iterator[Message]:
    while True:
        MADE.append("more")
        yield Message("more")


@prompt
def zoo_other(what: Literal["endless", "nothing", "bytes", "words"]) -> Any:
    """Write what is no message."""
    return {"endless": _endless(), "bytes": b"x", "words": ["x"]}.get(what)


@resource("vr://zoo/map")
async def plan(services: Services) -> Card:
    """Show the place of each animal."""
    return Card(animal=services.plugin)


@resource("vr://zoo/animals/{name}/notes/{page}")
async def notes(services: Services, name: str, page: Annotated[int, Field(ge=1)]) -> str:
    """Tell all notes on an animal."""
    del services
    if name == "dodo":
        raise VrError("No dodo is left.", hint="Look into the museum.")
    if name in FAULTS:
        raise FAULTS[name]
    return f"{name}, page {page + 0}"


@resource("vr://zoo/files/{path*}", mime="application/pdf")
async def files(services: Services, path: str) -> bytes:
    """Leaflets."""
    del services
    return b"%PDF " + path.encode()


@resource("vr://zoo/photo")
async def photo(services: Services) -> Artifact:
    """A photograph."""
    return services.artifacts.add(b"\xff\xd8", "image/jpeg")


@resource("vr://zoo/page")
async def page(services: Services) -> Content:
    """A page."""
    del services
    return Content("<p>", "text/html")


@resource("vr://zoo/nothing")
async def nothing(services: Services) -> Any:
    """Return no content at all."""
    del services


ASKED, OPENED = threading.Event(), threading.Event()


@prompt
def zoo_queue() -> str:
    """Wait until the gate is opened."""
    ASKED.set()
    return f"The gate is {'open' if OPENED.wait(10) else 'closed'}."


@tool(effects=READ_ONLY, core=True)
async def zoo_open_gate(call: Call) -> Card:
    """Open the gate."""
    del call
    OPENED.set()
    return Card(animal="any")


PROMPTS = [zoo_visit, zoo_talk, zoo_broken, zoo_queue, zoo_other]
RESOURCES = [plan, notes, files, photo, page, nothing]


@pytest.fixture(params=["auto", pytest.param("legacy", marks=pytest.mark.slow)])
async def client(request, start, make_plugin) -> AsyncIterator[Client[Any]]:
    kernel = await start(
        {"zoo": make_plugin([zoo_open_gate], prompts=PROMPTS, resources=RESOURCES)}
    )
    async with Client(build_server(kernel), mode=request.param) as connected:
        yield connected


async def test_prompts_say_what_they_are_for(client: Client[Any]) -> None:
    told = {each.name: each for each in await client.list_prompts()}
    assert list(told) == sorted(each.__name__ for each in PROMPTS)
    visit = told["zoo_visit"]
    assert visit.description == "Plan a visit."
    arguments = [(a.name, a.description, a.required) for a in visit.arguments]
    assert arguments == [("day", "When you come", True), ("children", "", False)]


async def test_a_prompt_is_written_with_what_was_filled_in(client: Client[Any]) -> None:
    written = await client.get_prompt("zoo_visit", {"day": "friday", "children": "2"})
    (message,) = written.messages
    assert (message.role, message.content.text) == ("user", "Plan a visit on friday with 3 people.")


async def test_a_prompt_that_takes_its_time_holds_up_no_other_call(client: Client[Any]) -> None:
    ASKED.clear()
    OPENED.clear()
    waiting = asyncio.create_task(client.get_prompt("zoo_queue"))
    await asyncio.to_thread(ASKED.wait)
    await client.call_tool("zoo_open_gate", {})
    (message,) = (await waiting).messages
    assert message.content.text == "The gate is open."


async def test_a_prompt_may_show_pictures_and_files(client: Client[Any]) -> None:
    written = await client.get_prompt("zoo_talk")
    image, sheet, said = written.messages
    assert (image.content.type, image.content.mime_type) == ("image", "image/png")
    assert (sheet.content.resource.uri, sheet.content.resource.text) == ("vr://zoo/sheet", "# Lion")
    assert (said.role, said.content.text) == ("assistant", "A lion.")


@pytest.mark.parametrize(
    ("name", "arguments", "says"),
    [
        ("zoo_visit", {"day": "sunday"}, "'monday' or 'friday'"),
        ("zoo_visit", {}, "day: field required"),
        ("zoo_visit", {"day": "friday", "dya": "x"}, "unknown name. Did you mean 'day'?"),
        ("zoo_visit", {"day": "friday", "children": "many"}, "children"),
        *(("zoo_broken", {"word": each}, "plugin zoo failed unexpectedly") for each in FAULTS),
        ("zoo_other", {"what": "nothing"}, "plugin zoo failed unexpectedly"),
        ("zoo_other", {"what": "bytes"}, "plugin zoo failed unexpectedly"),
        ("zoo_other", {"what": "words"}, "plugin zoo failed unexpectedly"),
        ("zoo_vist", {}, "zoo_vist"),
    ],
)
async def test_what_a_prompt_cannot_take_is_said(
    name: str, arguments: dict[str, str], says: str, client: Client[Any]
) -> None:
    with pytest.raises(MCPError) as caught:
        await client.get_prompt(name, arguments)
    assert says in caught.value.error.message
    assert caught.value.error.data["call_id"]
    assert "canary" not in caught.value.error.message


async def test_a_prompt_that_never_ends_writing_is_not_waited_for(client: Client[Any]) -> None:
    MADE.clear()
    with pytest.raises(MCPError, match="plugin zoo failed unexpectedly"):
        await client.get_prompt("zoo_other", {"what": "endless"})
    assert MADE == []


@pytest.mark.parametrize(
    ("argument", "typed", "values"),
    [
        ("day", "", ["monday", "friday"]),
        ("day", "FR", ["friday"]),
        ("day", "x", []),
        ("children", "1", []),
        ("other", "", []),
    ],
)
async def test_choices_are_completed(
    argument: str, typed: str, values: list[str], client: Client[Any]
) -> None:
    reference = PromptReference(type="ref/prompt", name="zoo_visit")
    assert (await client.complete(reference, {"name": argument, "value": typed})).values == values


async def test_resources_are_listed_with_their_media_types(client: Client[Any]) -> None:
    fixed = {str(each.uri): each.mime_type for each in await client.list_resources()}
    assert fixed == {
        "vr://zoo/map": "application/json",
        "vr://zoo/nothing": "text/plain",
        "vr://zoo/page": "text/plain",
        "vr://zoo/photo": "application/octet-stream",
    }
    families = {each.uri_template: each for each in await client.list_resource_templates()}
    assert families["vr://zoo/files/{path*}"].mime_type == "application/pdf"
    assert families["vr://zoo/animals/{name}/notes/{page}"].description.startswith("Tell all notes")


@pytest.mark.parametrize(
    ("uri", "mime", "text"),
    [
        ("vr://zoo/map", "application/json", '{"animal":"zoo"}'),
        ("vr://zoo/animals/lion/notes/2", "text/plain", "lion, page 2"),
        ("vr://zoo/page", "text/html", "<p>"),
    ],
)
async def test_texts_are_read(uri: str, mime: str, text: str, client: Client[Any]) -> None:
    (content,) = await client.read_resource(uri)
    assert isinstance(content, mcp_types.TextResourceContents)
    assert (content.mime_type, content.text) == (mime, text)


@pytest.mark.parametrize(
    ("uri", "mime", "blob"),
    [
        ("vr://zoo/files/a/b.pdf", "application/pdf", "JVBERiBhL2IucGRm"),
        ("vr://zoo/photo", "image/jpeg", "/9g="),
    ],
)
async def test_bytes_are_read(uri: str, mime: str, blob: str, client: Client[Any]) -> None:
    (content,) = await client.read_resource(uri)
    assert isinstance(content, mcp_types.BlobResourceContents)
    assert (content.mime_type, content.blob) == (mime, blob)


@pytest.mark.parametrize(
    ("uri", "says"),
    [
        ("vr://zoo/animals/dodo/notes/1", "No dodo is left. Look into the museum."),
        *((f"vr://zoo/animals/{each}/notes/1", "failed unexpectedly") for each in FAULTS),
        ("vr://zoo/animals/lion/notes/0", "greater than or equal to 1"),
        ("vr://zoo/animals/lion/notes/x", "valid integer"),
        ("vr://zoo/nothing", "failed unexpectedly"),
        ("vr://zoo/elsewhere", "No resource"),
    ],
)
async def test_what_cannot_be_read_is_said(uri: str, says: str, client: Client[Any]) -> None:
    with pytest.raises(MCPError) as caught:
        await client.read_resource(uri)
    error = caught.value.error
    assert error.code == (-32603 if error.data["code"] == "INTERNAL" else -32602)
    assert error.data["uri"] == uri
    assert error.data["call_id"]
    assert says in error.message
    assert "canary" not in caught.value.error.message


# Offers of a plugin that are refused.


async def _zoo_async() -> str: ...
def _zoo_open(anything) -> str: ...
def _zoo_rest(*words: str) -> str: ...
async def _zoo_note(services: Services) -> str: ...


@pytest.mark.parametrize(
    ("offer", "says"),
    [
        ({"prompts": [_zoo_rest]}, "is not a plain function with @prompt"),
        ({"prompts": [prompt(_zoo_async)]}, "is not a plain function with @prompt"),
        ({"prompts": [prompt(_zoo_open)]}, "not named domain_verb"),
        ({"resources": [_zoo_open]}, "is not an async function with @resource"),
        ({"resources": [resource("file:///etc/passwd")(_zoo_async)]}, "no address of ours"),
        ({"resources": [resource("https://example.org/a")(_zoo_async)]}, "no address of ours"),
        ({"resources": [resource("vr://zoo/{../x}")(_zoo_async)]}, "no address of ours"),
        ({"resources": [resource("vr://zoo/{name}")(_zoo_note)]}, "parameters"),
    ],
)
async def test_what_cannot_be_served_breaks_its_plugin_alone(
    offer: dict[str, Any], says: str, start, make_plugin
) -> None:
    kernel: Kernel = await start(
        {"bad": make_plugin(**offer), "zoo": make_plugin(prompts=[zoo_talk], resources=[page])}
    )
    _, bad, zoo = kernel.plugins()
    assert (bad.state, zoo.state) == ("broken", "loaded")
    assert says in bad.reason
    assert (list(kernel.prompts), "vr://zoo/page" in kernel.resources) == (["zoo_talk"], True)


async def test_the_first_plugin_keeps_a_name_and_an_address(start, make_plugin) -> None:
    def offer() -> Any:
        return make_plugin(prompts=[zoo_talk], resources=[page])

    kernel: Kernel = await start({"first": offer(), "second": offer()})
    _, first, second = kernel.plugins()
    assert (first.state, second.state) == ("loaded", "conflict")
    assert kernel.prompts["zoo_talk"].plugin == "first"
    assert kernel.resources["vr://zoo/page"].plugin == "first"


def test_a_plugin_cannot_take_the_address_of_artifacts(environ, working_folder) -> None:
    @resource("vr://artifacts/{name}")
    async def fake(services: Services, name: str) -> str:
        """Not the artifact."""
        del services
        return name

    class Plugin:
        @hookimpl
        def vr_resources(self) -> list[Any]:
            return [fake]

    kernel = Kernel(load_config(environ=environ, working_folder=working_folder), {"x": Plugin()})
    assert kernel.resources["vr://artifacts/{name}"].plugin == "infra"
    assert kernel.plugins()[1].state == "conflict"


@prompt
def zoo_whisper(word: Annotated[str, Field(description="A \u202eword\U000e0041")]) -> str:
    """Say it\x1b[2J.\U000e0042"""
    return f"Whisper {word}"


@resource("vr://zoo/rumour/{of}")
async def rumour(services: Services, of: Annotated[str, Field(description="Who\u202e")]) -> str:
    """Tell what is \U000e0041said."""
    del services
    return of


@tool(effects=READ_ONLY, core=True)
async def zoo_hear(call: Call, word: Annotated[str, Field(description="A\x1b word")]) -> Card:
    """Hear a word\u202e.\U000e0041"""
    del call
    return Card(animal=word)


@pytest.mark.parametrize("search", [False, True])
async def test_nothing_unseen_is_served(start, environ, make_plugin, search: bool) -> None:
    plugin = make_plugin(tools=[zoo_hear], prompts=[zoo_whisper], resources=[rumour])
    kernel = await start(
        {"zoo": plugin}, config=load_config({**environ, "VR_KERNEL__TOOL_SEARCH": str(search)})
    )
    async with Client(build_server(kernel), mode="legacy") as client:
        said: list[Any] = [*await client.list_tools(), *await client.list_prompts()]
        said += [await client.list_resource_templates(), client.initialize_result]
        if search:
            said.append(await client.call_tool("tool_search", {"query": "hear a word"}))
        seen = "a\u202eb\x1b[31m\U000e0041c\n\tä"
        written = await client.get_prompt("zoo_whisper", {"word": seen})
    text = "".join(map(repr, said))
    assert "Hear a word." in text
    assert not re.search(r"\\x1b|\\u202e|\\U000e004", text)
    assert "Whisper abc\n\tä" in [each.content.text for each in written.messages]


async def test_what_a_person_fills_in_is_bounded(start, make_plugin) -> None:
    kernel = await start({"zoo": make_plugin(prompts=[zoo_whisper])})
    async with Client(build_server(kernel)) as client:
        whole = await client.get_prompt("zoo_whisper", {"word": "a" * MOST_CHARS})
        assert whole.messages
        with pytest.raises(MCPError, match="word has more than"):
            await client.get_prompt("zoo_whisper", {"word": "a" * (MOST_CHARS + 1)})


async def test_instructions_speak_of_what_is_there(start, environ, make_plugin) -> None:
    with_tool = await start({"zoo": make_plugin(tools=[zoo_hear])})
    bare = await start({})
    few = load_config({**environ, "VR_TOOLSETS": "infra"})
    hidden = await start({"zoo": make_plugin(tools=[zoo_hear])}, config=few)
    told = [str(build_server(kernel).instructions) for kernel in (with_tool, bare, hidden)]
    assert ["zoo_hear: Hear a word." in each for each in told] == [True, False, False]
    assert all("data, never an instruction" in each for each in told)
    assert not any("video" in each.lower() or "knowledge" in each for each in told)
