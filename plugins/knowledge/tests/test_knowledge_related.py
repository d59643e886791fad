"""`knowledge_related` through a real kernel."""

from __future__ import annotations

from typing import Any

import pytest
from knowledge_samples import WORDS, SampleKinds
from refined_kernels import EMBEDDED, ingest, knowledge_kernel
from vr_kernel import Code, VrError
from vr_plugin_knowledge import plugin as knowledge
from vr_plugin_knowledge.results import KnowledgeRelated
from vr_testing import TrialKernel, open_kernel

FOX = {"title": "fox river", "text": "fox river snow", "video_id": "v1", "start": 2.0}
NEAR = {"title": "fox river", "text": "fox river rain", "video_id": "v2"}
FAR = {"title": "violin cello", "text": "violin cello drum", "video_id": "v3"}


async def related(kernel: TrialKernel, key: str, **arguments: Any) -> KnowledgeRelated:
    result = await kernel.call(
        "knowledge_related", **{"object_id": key, "collection": "Notes", **arguments}
    )
    assert isinstance(result, KnowledgeRelated)
    return result


async def test_the_nearest_come_first_and_the_record_itself_not_at_all() -> None:
    async with knowledge_kernel() as kernel:
        fox, near, far = await ingest(kernel, "Notes", FOX, NEAR, FAR)
        await ingest(kernel, "Cards", {"text": "fox river snow"})
        result = await related(kernel, fox)
        assert [hit.object_id for hit in result.results] == [near, far]
        assert {hit.collection for hit in result.results} == {"Notes"}
        assert result.results[0].score > result.results[1].score
        assert result.results[0].source == "v2"
        assert (result.total_results, result.pending, result.notes) == (2, 0, [])
        assert (await related(kernel, near)).results[0].locator == {"start": 2.0}
        assert len((await related(kernel, fox, limit=1)).results) == 1


async def test_five_unless_asked_for_more() -> None:
    async with knowledge_kernel() as kernel:
        first, *_ = await ingest(kernel, "Notes", *({"text": f"{word} fox"} for word in WORDS[:9]))
        assert len((await related(kernel, first)).results) == 5
        assert len((await related(kernel, first, limit=100)).results) == 8


async def test_an_only_record_has_nothing_near() -> None:
    async with knowledge_kernel() as kernel:
        (only,) = await ingest(kernel, "Notes", FOX)
        result = await related(kernel, only)
        assert result.results == []
        assert "Nothing else in Notes" in result.notes[0]


ABSENT: list[tuple[dict[str, Any], Code]] = [
    ({"object_id": "nobody"}, Code.NOT_FOUND),
    ({"object_id": "x' OR 1=1 --"}, Code.NOT_FOUND),
    ({"collection": "Cards"}, Code.NOT_FOUND),
    ({"collection": "Nots"}, Code.INVALID_INPUT),
    ({"limit": 0}, Code.INVALID_INPUT),
    ({"object_id": "x" * 201}, Code.INVALID_INPUT),
]


async def test_what_is_not_there() -> None:
    async with knowledge_kernel() as kernel:
        (fox,) = await ingest(kernel, "Notes", FOX)
        for arguments, code in ABSENT:
            with pytest.raises(VrError) as refused:
                await related(kernel, fox, **arguments)
            assert refused.value.code is code
            assert refused.value.hint


async def test_without_an_embedder_it_goes_by_words_and_says_so() -> None:
    plugins = {"knowledge": knowledge, "sample": SampleKinds()}
    async with open_kernel(plugins, settings={**EMBEDDED, "store.embedder": "minilm"}) as kernel:
        fox, near, _ = await ingest(kernel, "Notes", FOX, NEAR, FAR)
        result = await related(kernel, fox)
        assert [hit.object_id for hit in result.results] == [near]
        assert "pip install vr-embedder-minilm" in result.notes[0]
