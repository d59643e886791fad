"""Tools by meaning: what an embedder adds to a search, and that a search needs none."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from importlib import import_module
from math import nan
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel
from vr_kernel import READ_ONLY, Call, Config, Embedder, Kernel, Log, Provider, build_tool, tool
from vr_server.search.tool_meaning import ToolMeaning
from vr_server.search.tool_words import MOST_SENTENCES, Phrases, sentences

TOPICS = (("rain", "wet", "umbrella"), ("bread", "hungry", "oven"))


class Word(BaseModel):
    """A result."""

    text: str = ""


@tool(effects=READ_ONLY, words="will I get wet;; do I need an umbrella ")
async def rain_tell(call: Call) -> Word:
    """Say when it rains."""
    return Word()


@tool(effects=READ_ONLY)
async def bread_bake(call: Call) -> Word:
    """Bake bread."""
    return Word()


class TopicEmbedder:
    """Knows of two topics which words belong to them; does what it is told beside that."""

    id = "topics"
    dimension = len(TOPICS)
    accepts = frozenset({"text"})

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.fault: Exception | None = None
        self.hangs = False
        self.unit = 1.0

    async def embed(self, items: Sequence[str], purpose: str) -> list[list[float]]:
        self.asked += items
        if self.fault:
            raise self.fault
        if self.hangs:
            await asyncio.Event().wait()
        return [
            [self.unit * any(word in item for word in topic) for topic in TOPICS] for item in items
        ]


@pytest.fixture
def embedder() -> TopicEmbedder:
    return TopicEmbedder()


@pytest.fixture
async def kernel(start: Any, make_plugin: Any, embedder: TopicEmbedder, config: Config) -> Kernel:
    provider = Provider(Embedder, "minilm", lambda _services: embedder)
    plugin = make_plugin(tools=[rain_tell, bread_bake], providers=[provider])
    kernel: Kernel = await start({"weather": plugin}, config=config)
    return kernel


def meaning_of(kernel: Kernel, **options: float) -> ToolMeaning:
    """The meaning of the two tools here."""
    tools = {name: kernel.tools[name] for name in ("bread_bake", "rain_tell")}
    phrases, vectors = Phrases(kernel.log), kernel.services.vectors
    return ToolMeaning(tools, phrases, vectors, kernel.log, **options)


@pytest.fixture
def meaning(kernel: Kernel) -> ToolMeaning:
    return meaning_of(kernel)


async def test_the_nearest_tool_is_the_one_that_is_meant(meaning: ToolMeaning) -> None:
    near = await meaning.likeness("so hungry")
    assert near["bread_bake"] > near["rain_tell"]
    near = await meaning.likeness("the oven is hot. Does somebody lend me an umbrella?")
    assert near["rain_tell"] > 0


async def test_vectors_of_tools_are_made_once(
    meaning: ToolMeaning, embedder: TopicEmbedder
) -> None:
    assert embedder.asked == []
    await asyncio.gather(*(meaning.likeness("wet feet") for _ in range(3)))
    assert sorted(embedder.asked) == sorted(
        [
            *("bread bake. Bake bread.", "rain tell. Say when it rains."),
            *("will I get wet", "do I need an umbrella"),
            "wet feet",
        ]
    )


@pytest.mark.parametrize("fault", [ValueError("broken"), OSError("gone")])
async def test_an_embedder_that_failed_is_left_alone(
    meaning: ToolMeaning, embedder: TopicEmbedder, fault: Exception
) -> None:
    embedder.fault = fault
    assert await meaning.likeness("wet") == {}
    asked = len(embedder.asked)
    assert await meaning.likeness("wet") == {}
    assert len(embedder.asked) == asked


@pytest.mark.slow
async def test_an_embedder_that_hangs_is_not_waited_for(
    kernel: Kernel, embedder: TopicEmbedder
) -> None:
    embedder.hangs = True
    assert await meaning_of(kernel, wait_s=0.2).likeness("wet") == {}


async def test_vectors_that_are_no_numbers_do_not_count(
    meaning: ToolMeaning, embedder: TopicEmbedder
) -> None:
    embedder.unit = nan
    assert await meaning.likeness("wet") == {}


async def test_without_an_embedder_there_is_no_meaning(
    start: Any, make_plugin: Any, config: Config
) -> None:
    kernel = await start({"weather": make_plugin(tools=[rain_tell])}, config=config)
    meaning = ToolMeaning(kernel.tools, Phrases(kernel.log), kernel.services.vectors, kernel.log)
    assert await meaning.likeness("wet") == {}


async def test_phrases_are_what_authors_declared(kernel: Kernel) -> None:
    said = Phrases(kernel.log).of(kernel.tools["rain_tell"])
    assert said == ["will I get wet", "do I need an umbrella"]


SUN = """
from pydantic import BaseModel
from vr_kernel import READ_ONLY, Call, tool

class Sun(BaseModel):
    bright: bool = True

@tool(effects=READ_ONLY, words="is it bright; is it hot")
async def sun_tell(call: Call) -> Sun:
    return Sun()
"""


@pytest.mark.parametrize(
    ("file", "more"),
    [
        ('sun_tell = ["TL; DR of the sky"]', ["TL; DR of the sky"]),
        ('moon_tell = ["is it dark"]', []),
        ("sun_tell = 3", []),
        ("sun_tell = [", []),
        ("", []),
    ],
    ids=["said", "of another", "no list", "cut off", "empty"],
)
def test_phrases_of_a_package_lie_beside_it(
    file: str,
    more: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    package = tmp_path / "vr_sun_plugin"
    (package / "tools").mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "tools" / "sun.py").write_text(SUN)
    (package / "phrases.toml").write_text(file)
    monkeypatch.syspath_prepend(tmp_path)
    sun = import_module("vr_sun_plugin.tools.sun")
    try:
        said = Phrases(Log("info", "json")).of(build_tool(sun.sun_tell, "sun"))
    finally:
        for name in [name for name in sys.modules if name.startswith("vr_sun_plugin")]:
            del sys.modules[name]
    assert said == ["is it bright", "is it hot", *more]
    broken = not file.endswith("]") and file != ""
    assert ("phrases of tools are left out" in capfd.readouterr().err) is broken


@given(st.text())
def test_a_request_is_its_own_first_sentence(request: str) -> None:
    found = sentences(request)
    assert found[0] == request
    assert len(found) <= MOST_SENTENCES


def test_sentences_have_two_words() -> None:
    assert sentences("at 12:30, please. Stop it now!") == [
        "at 12:30, please. Stop it now!",
        "at 12:30",
        "Stop it now!",
    ]
    assert sentences("Stop it now!") == ["Stop it now!"]
