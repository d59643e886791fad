"""One present record a thing: former versions are history, and a part of it is told over it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from refined_kernels import ingest, knowledge_kernel
from vr_kernel import RecordField, RecordKind, VrError, entity_key, hookimpl
from vr_testing import TrialKernel

EVENTS = RecordKind(
    "Readings",
    "What was read out of a film.",
    (
        RecordField("film", filterable=True),
        RecordField("question", searchable=True, vectorised=True),
        RecordField("text", searchable=True, vectorised=True),
        RecordField("stars", "int", filterable=True),
    ),
    rerank="text",
    source="film",
)
FACTS = replace(EVENTS, identity=lambda of: entity_key("Readings", of["film"], of["question"]))
READINGS = replace(FACTS, history=True)
FOX = {"film": "f1", "question": "animals", "text": "a fox", "stars": 3}


class Plugin:
    """A plugin with one kind."""

    def __init__(self, kind: RecordKind) -> None:
        self._kind = kind

    @hookimpl
    def vr_record_kinds(self) -> list[RecordKind]:
        return [self._kind]


def opened(kind: RecordKind, settings: Mapping[str, Any], folder: Path) -> Any:
    return knowledge_kernel(settings, plugins={"readings": Plugin(kind)}, folder=folder)


async def texts(kernel: TrialKernel, query: str = "fox owl bear") -> list[str]:
    async with asyncio.timeout(60):
        while (await kernel.call("knowledge_stats")).pending:
            pass  # it waits itself, and a server has to make its collections first
    found = await kernel.call("knowledge_search", query=query, search_type="keyword")
    return [hit["properties"]["text"] for hit in found.model_dump()["results"]]


async def versions(kernel: TrialKernel, key: str) -> list[str]:
    await texts(kernel)
    asked = {"collection": "Readings", "object_id": key}
    count = (await kernel.call("knowledge_fetch", **asked)).versions
    every = [await kernel.call("knowledge_fetch", **asked, version=n) for n in range(count)]
    return [each.properties["text"] for each in every]


async def test_what_is_told_anew_takes_the_place_of_what_was(
    each_store: dict[str, Any], tmp_path: Path
) -> None:
    async with opened(READINGS, each_store, tmp_path) as kernel:
        (key,) = await ingest(kernel, "Readings", FOX)
        for text in ("an owl", "a bear", "a bear"):
            assert await ingest(kernel, "Readings", {**FOX, "text": text}) == [key]
        await ingest(kernel, "Readings", {**FOX, "film": "f2", "text": "a fox too"})
        assert sorted(await texts(kernel)) == ["a bear", "a fox too"]
        assert await versions(kernel, key) == ["a bear", "an owl", "a fox"]
        none = await kernel.call("knowledge_fetch", collection="Readings", object_id=key, version=3)
        assert (none.found, none.notes) == (False, ["It has 3 versions, from 0 on."])
        await kernel.call("knowledge_forget", object_ids=[key])
        await ingest(kernel, "Readings", FOX)
        assert await versions(kernel, key) == ["a fox"], "what is forgotten has no history"


async def test_what_was_kept_as_events_is_folded_once_and_indexed_again(
    each_store: dict[str, Any], tmp_path: Path
) -> None:
    async with opened(EVENTS, each_store, tmp_path) as kernel:
        for text in ("a fox", "an owl", "a bear"):
            await ingest(kernel, "Readings", {**FOX, "text": text})
        await ingest(kernel, "Readings", {"text": "a fox of no film"})
        assert len(await texts(kernel)) == 4
    key = READINGS.identify(FOX)
    for _ in range(2):
        async with opened(READINGS, each_store, tmp_path) as kernel:
            assert sorted(await texts(kernel)) == ["a bear", "a fox of no film"]
            assert await versions(kernel, key) == ["a bear", "an owl", "a fox"]
    fresh = {**each_store, "plugins.knowledge.weaviate_prefix": "Anew_"} if each_store else {}
    (tmp_path / "state" / "knowledge.db").unlink(missing_ok=True)
    async with opened(READINGS, fresh, tmp_path) as kernel:
        assert sorted(await texts(kernel)) == ["a bear", "a fox of no film"]


async def test_a_known_record_keeps_what_is_not_said_and_null_clears(
    each_store: dict[str, Any], tmp_path: Path
) -> None:
    async with opened(FACTS, each_store, tmp_path) as kernel:
        (key,) = await ingest(kernel, "Readings", FOX)
        less = {"film": "f1", "question": "animals"}
        await ingest(kernel, "Readings", {**less, "stars": 5}, {**less, "text": "an owl"})
        assert await texts(kernel) == ["an owl"]
        found = await kernel.call("knowledge_fetch", collection="Readings", object_id=key)
        assert {name: found.properties.get(name) for name in FOX} == {
            **FOX,
            "stars": 5,
            "text": "an owl",
        }
        await ingest(kernel, "Readings", {**less, "stars": None})
        assert await texts(kernel) == ["an owl"]
        found = await kernel.call("knowledge_fetch", collection="Readings", object_id=key)
        assert "stars" not in found.properties
        assert found.properties["text"] == "an owl"
        with pytest.raises(VrError, match="has no field 'starz'"):
            await ingest(kernel, "Readings", {**less, "starz": None})
        with pytest.raises(VrError, match="has no properties"):
            await ingest(kernel, "Readings", {"stars": None})
