"""A model's answer is others' text: its unseen signs go where it comes in, for every provider."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import AsyncIterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import paid_plugin
import pytest
from gemini_service import gemini_at
from vr_kernel import Kernel, load_config
from vr_kernel.generation import (
    Embeddings,
    Media,
    Purpose,
    Reply,
    ReplyPiece,
    Request,
    Role,
    Usage,
    WebSource,
)
from vr_kernel.models.provider import ModelInfo, ModelProvider
from vr_kernel.providers import Provider
from vr_testing import Answer, FakeGemini

RAW = (
    "\x1b[31mred\x1b[0m \x1b]8;;http://evil\x1b\\link\x1b]8;;\x1b\\ \u202egpj\u202c\x9b1m"
    "\U000e0041\u200b\x07 \u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645 👩\u200d👧\r\n"
)
SEEN = "red link gpj \u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645 👩\u200d👧\n"


class Raw:
    """A provider that passes on what it gets, and cuts its streams anywhere."""

    name = "raw"

    def check(self) -> None:
        return

    def model_for(self, role: Role) -> str | None:
        return f"one-{role}"

    def models(self) -> Sequence[ModelInfo]:
        return [ModelInfo("one")]

    async def generate(self, model: str, request: Request) -> Reply:
        text = RAW if request.schema is None else json.dumps({"city": RAW, "people": 1, "a\x9b": 2})
        source = WebSource(title=RAW, url="https://a.org/\u202e")
        plain = Reply(text="", model=model, usage=Usage(calls=1), sources=[source])
        return plain.model_copy(update={"text": text, "notes": [RAW]})

    async def stream(self, model: str, request: Request) -> AsyncIterator[ReplyPiece]:
        reply = await self.generate(model, request)
        for sign in reply.text:
            yield ReplyPiece(text=sign)
        yield ReplyPiece(reply=reply)

    async def embed(
        self, model: str, items: Sequence[str], purpose: Purpose, dimension: int | None
    ) -> Embeddings:
        raise AssertionError(items)

    async def count_tokens(self, model: str, request: Request) -> int:
        return 1


@pytest.fixture
async def raw(environ: Any, make_plugin: Any, start: Any, working_folder: Path) -> Kernel:
    """A kernel whose only models are raw."""
    variables = {**environ, "VR_MODELS__DEFAULT": "raw/one"}
    plugin = make_plugin(providers=[Provider(ModelProvider, "raw", lambda _services: Raw())])
    kernel: Kernel = await start(
        {"paid": paid_plugin, "raw": plugin},
        config=load_config(environ=variables, working_folder=working_folder),
    )
    return kernel


async def test_a_reply_of_any_provider_is_visible(raw: Kernel) -> None:
    reply = await raw.services.models.generate("Why?")
    assert (reply.text, reply.notes) == (SEEN, [SEEN])
    assert reply.sources == [WebSource(title=SEEN, url="https://a.org/")]


@pytest.mark.parametrize("tool", ["paid_ask", "paid_once", "paid_stream", "paid_shape"])
async def test_half_a_character_loses_nothing_that_was_paid(
    kernel: Kernel, gemini: FakeGemini, tool: str
) -> None:
    said = "half \ud83d\x00 of it"
    gemini.answer({"city": said, "people": 1} if tool == "paid_shape" else said)
    told = (await kernel.call(tool, question="Why?")).model_dump()
    assert (told["capital"]["city"] if tool == "paid_shape" else told["text"]) == "half ? of it"
    assert len(gemini.requests) == 1


async def test_pieces_of_a_stream_are_visible_though_an_escape_is_cut(raw: Kernel) -> None:
    pieces = [piece async for piece in raw.services.models.stream("Why?")]
    assert "".join(piece.text for piece in pieces) == SEEN
    assert all(piece.text for piece in pieces[:-1])
    assert pieces[-1].reply is not None
    assert pieces[-1].reply.text == SEEN


async def test_values_of_a_shape_are_visible_at_any_depth(raw: Kernel) -> None:
    found = await raw.services.models.generate_structured("Why?", paid_plugin.Capital)
    assert found.value.city == SEEN
    asked = {
        "type": "object",
        "required": ["a\x9b"],
        "properties": {"city": {"enum": [RAW, "x"]}, "people": {}, "a\x9b": {"const": 2}},
        "additionalProperties": False,
    }
    shaped = await raw.services.models.generate_structured("Why?", asked)
    assert shaped.value == {"city": SEEN, "people": 1, "a": 2}
    assert json.loads(shaped.reply.text) == shaped.value


async def test_what_is_kept_of_a_reply_is_visible(raw: Kernel) -> None:
    said = await raw.call("paid_once", question="Why?")
    again = await raw.call("paid_once", question="Why?")
    assert (said.text, again.text, again.cached) == (SEEN, SEEN, True)
    texts = [text for text in texts_below(raw.config.paths.state.parent) if "red" in text]
    assert texts
    assert [text for text in texts if "31m" in text or "u001b" in text or "\u202e" in text] == []


def texts_below(folder: Path) -> list[str]:
    """All texts of the databases in a folder."""
    return [text for file in folder.rglob("*.db") for text in texts_of(file)]


def texts_of(file: Path) -> list[str]:
    with closing(sqlite3.connect(file)) as database:
        tables = database.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        rows = [row for (name,) in tables for row in database.execute(f'SELECT * FROM "{name}"')]
    return [value for row in rows for value in row if isinstance(value, str)]


async def test_research_is_visible(tmp_path: Path) -> None:
    with FakeGemini() as fake:
        fake.answer(Answer(RAW, sources=((RAW, "https://a.org"),)))
        async with gemini_at(fake.url, tmp_path) as gemini:
            reply = await gemini.deep_research("Why?")
    assert (reply.text, reply.sources[0].title) == (SEEN, SEEN)


async def test_what_goes_back_to_the_service_is_as_it_came(
    open_kernel: Any, gemini: FakeGemini
) -> None:
    kernel = await open_kernel()
    name = "https://example.org/a\u200bb\u202ec"
    gemini.answer("Seen.")
    await kernel.services.models.generate([Media("video/mp4", uri=name), RAW])
    (request,) = gemini.requests
    said = json.dumps(request.body, ensure_ascii=False)
    assert name in said
    assert json.dumps(RAW, ensure_ascii=False)[1:-1] in said
