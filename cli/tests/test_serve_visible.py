"""Texts of plugins as clients get them: nothing unseen in results, questions, resources, notes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import unicodedata
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from fastmcp import Client
from fastmcp.client.elicitation import ElicitResult
from plugin_zoo import Animal, Zoo, vr_command
from pydantic import BaseModel, Field
from typed_terminal import shown_at, terminal
from vr_kernel import (
    READ_ONLY,
    Artifact,
    Call,
    Code,
    Content,
    Message,
    Passage,
    QuoteIndex,
    Services,
    VrError,
    cache_key,
    prompt,
    resource,
    tool,
)
from vr_server import build_server

RAW = (
    "\x1b[31mred\x1b[0m \x1b]8;;http://evil\x1b\\link\x1b]8;;\x1b\\ \u202egpj\u202c\x9b1m"
    "\U000e0041\u200b\x07 \u0645\u06cc\u200c\u062e 👩\u200d👧\r\n"
)
SEEN = "red link gpj \u0645\u06cc\u200c\u062e 👩\u200d👧\n"
NAME = "/films/\u200eWhatsApp\u200f film.mp4"
JOINERS = "\u200c\u200d"


def unseen(text: str) -> list[str]:
    """The signs of a text that nobody sees."""
    kinds = {"Cc", "Cf", "Zl", "Zp"}
    return [c for c in text if unicodedata.category(c) in kinds and c not in "\n\t" + JOINERS]


class Told(BaseModel):
    text: str
    path: str = NAME
    deep: dict[str, Any] = {}


class Sure(BaseModel):
    sure: bool = Field(default=False, description=RAW)


@tool(effects=READ_ONLY)
async def raw_tell(call: Call) -> Told:
    """Tell."""
    call.progress(1, 2, RAW)
    call.note(RAW)
    call.show(Content(RAW))
    call.show(Content(RAW, "text/markdown", uri="vr://raw/file"))
    return Told(text=RAW, deep={RAW: [{"x": RAW}, None, 1]})


@tool(effects=READ_ONLY)
async def raw_fail(call: Call) -> Told:
    """Fail."""
    raise VrError(f"Bad {RAW}", Code.NOT_FOUND, hint=RAW)


@tool(effects=READ_ONLY)
async def raw_ask(call: Call) -> Told:
    """Ask."""
    await call.ask(RAW, Sure, default=Sure())
    return Told(text="asked")


@tool(effects=READ_ONLY)
async def raw_once(call: Call) -> Told:
    """Tell what the cache holds."""

    async def produce(shared: Call) -> Told:
        del shared
        return Told(text=RAW)

    return await call.once(cache_key(what="raw"), Told, produce)


@resource("vr://raw/text", mime="text/plain")
async def raw_text(_services: Services) -> str:
    """Some text."""
    return RAW


@resource("vr://raw/json", mime="application/json")
async def raw_json(_services: Services) -> str:
    """Some JSON."""
    return json.dumps({"a": "\x9d", "b": RAW, "c": "\x9c"}, ensure_ascii=False)


@resource("vr://raw/model")
async def raw_model(_services: Services) -> Told:
    """A model."""
    return Told(text=RAW)


@resource("vr://raw/bytes", mime="text/plain")
async def raw_bytes(_services: Services) -> bytes:
    """The bytes of a file."""
    return RAW.encode()


@resource("vr://raw/kept")
async def raw_kept(services: Services) -> Artifact:
    """An artifact."""
    return services.artifacts.add(RAW.encode(), "text/plain")


@resource("vr://raw/lost")
async def raw_lost(_services: Services) -> str:
    """Fail."""
    raise VrError(f"Bad {RAW}", Code.NOT_FOUND, hint=RAW)


@prompt
def raw_prompt() -> list[Message]:
    """Say something."""
    return [Message(RAW)]


RESOURCES = [raw_text, raw_json, raw_model, raw_bytes, raw_kept, raw_lost]


@pytest.fixture
async def raw(start: Any, make_plugin: Any) -> Any:
    """A kernel with a plugin whose texts steer a terminal and hide words."""
    tools = [raw_tell, raw_fail, raw_ask, raw_once]
    return await start({"raw": make_plugin(tools=tools, resources=RESOURCES, prompts=[raw_prompt])})


async def test_results_notes_progress_and_contents_are_visible(raw: Any) -> None:
    said: list[str] = []

    async def hear(done: float, total: float | None, message: str | None) -> None:
        del done, total
        said.append(message or "")

    async with Client(build_server(raw), progress_handler=hear) as client:
        told = await client.call_tool("raw_tell")
        kept = await client.call_tool("raw_once")
        again = await client.call_tool("raw_once")
    deep = {SEEN: [{"x": SEEN}, None, 1]}
    assert told.structured_content == {"text": SEEN, "path": NAME, "deep": deep}
    body, note, shown, file = told.content
    assert json.loads(body.text) == told.structured_content
    assert (note.text, shown.text, file.resource.text) == (f"Note: {SEEN}", SEEN, SEEN)
    assert said == [SEEN]
    assert (kept.structured_content, again.structured_content) == (
        {"text": SEEN, "path": NAME, "deep": {}},
    ) * 2


async def test_errors_are_visible(raw: Any) -> None:
    async with Client(build_server(raw)) as client:
        failed = await client.call_tool("raw_fail", raise_on_error=False)
        with pytest.raises(Exception, match="Bad red link") as lost:
            await client.read_resource("vr://raw/lost")
    assert [found for block in failed.content for found in unseen(block.text)] == []
    assert f"Bad {SEEN}" in json.loads(failed.content[1].text)["message"]
    assert unseen(str(lost.value)) == []


async def test_a_question_is_visible(raw: Any) -> None:
    asked: list[str] = []

    async def answer(message: str, _kind: Any, params: Any, _context: Any) -> Any:
        asked.extend([message, json.dumps(params.requested_schema, ensure_ascii=False)])
        return ElicitResult(action="decline")

    async with Client(build_server(raw), elicitation_handler=answer) as client:
        await client.call_tool("raw_ask", raise_on_error=False)
    assert asked[0] == SEEN
    assert "\\u001b" not in asked[1]
    assert unseen(asked[1]) == []


async def test_what_a_resource_says_is_visible_and_its_bytes_are_bytes(raw: Any) -> None:
    async with Client(build_server(raw)) as client:
        read = {
            name: (await client.read_resource(f"vr://raw/{name}"))[0]
            for name in ("text", "json", "model", "bytes", "kept")
        }
        prompted = await client.get_prompt("raw_prompt")
    assert read["text"].text == SEEN
    assert json.loads(read["json"].text) == {"a": "", "b": SEEN, "c": ""}
    assert json.loads(read["model"].text) == {"text": SEEN, "path": NAME, "deep": {}}
    assert {hasattr(read[name], "blob") for name in ("bytes", "kept")} == {True}
    assert prompted.messages[0].content.text == SEEN


def test_a_quote_is_found_where_escapes_stand_between_its_words() -> None:
    text = "It was \x1b[1mquite\x1b[0m \x1b]8;;http://a.org\x07a cold\x1b]8;;\x07 morning in May."
    index = QuoteIndex([Passage("Before that.", 0, 5), Passage(text, 5, 5 + len(text))])
    found = index.find("It was quite a cold morning in May", claimed=5)
    assert (found.verdict, found.score, found.place) == ("verified", 1.0, 5)
    later = index.find("cold morning in May")
    assert later.place == 5 + text.index("cold")


PLUGIN = f'''
from vr_kernel import READ_ONLY, Call, VrError, hookimpl, tool
from pydantic import BaseModel

RAW = {RAW!a}


class Told(BaseModel):
    text: str
    path: str = {NAME!a}


@tool(effects=READ_ONLY)
async def raw_tell(call: Call, fail: bool = False) -> Told:
    """Tell."""
    call.progress(1, 2, RAW)
    call.note(RAW)
    call.log.warning(RAW, text=RAW)
    if fail:
        raise VrError(RAW, hint=RAW)
    return Told(text=RAW)


@hookimpl
def vr_tools():
    return [raw_tell]
'''


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pseudo terminals")
def test_a_terminal_is_shown_nothing_that_it_obeys(tmp_path: Path) -> None:
    zoo = Zoo(tmp_path / "zoo").add(Animal("raw", PLUGIN))
    for options in ([], ["--json"], ["--fail"], ["--fail", "--json"]):
        text = shown_at_terminal(zoo, "raw", "tell", *options)
        assert "red link gpj" in text, options
        assert unseen(text) == [], options


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pseudo terminals")
def test_what_the_doctor_says_is_folded_on_a_terminal(tmp_path: Path) -> None:
    text = shown_at_terminal(Zoo(tmp_path / "zoo"), "doctor", "--full")
    column, width = text[text.index("\n  ok ") + 1 :].index("Python "), 80
    long = [line for line in text.splitlines() if len(line) > width]
    # A path is not cut: it is there to be copied.
    assert not [line for line in long if " " in line[column:]], long
    assert f"\n{'':<{column}}Fix: " in text


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pseudo terminals")
def test_what_the_doctor_says_fits_a_narrow_terminal(tmp_path: Path) -> None:
    width = 44
    text = shown_at(Zoo(tmp_path / "zoo"), width, "doctor", "--full").stdout
    long = [line for line in text.splitlines() if len(line) > width]
    assert "Fix: " in text
    assert not [line for line in long if " " in line.strip()], long


def shown_at_terminal(zoo: Zoo, *arguments: str) -> str:
    """Run `vr` at a terminal that has no styles; its output without rewritten lines."""
    with terminal() as (ours, theirs):
        process = subprocess.Popen(
            vr_command(*arguments),
            env=zoo.environment(TERM="dumb"),
            cwd=zoo.work,
            stdin=subprocess.DEVNULL,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
        )
        os.close(theirs)
        shown = b""
        with suppress(OSError):  # how Linux says that the program has closed its end
            while piece := os.read(ours, 1024):
                shown += piece
        process.wait()
    return shown.decode().replace("\r\n", "\n").replace("\r\x1b[K", "")
