"""The knowledge tools through a real kernel, on the kinds of a third party's plugin."""

from __future__ import annotations

import json
import uuid
from typing import Any

import pytest
from knowledge_samples import SampleKinds, all_plugins
from vr_kernel import Code, Config, Kernel, VrError
from vr_plugin_knowledge import plugin as knowledge
from vr_plugin_knowledge.results import (
    KnowledgeIngested,
    KnowledgeObject,
    KnowledgeSchema,
    KnowledgeSearchResult,
    KnowledgeStats,
)

FOX = {
    "title": "The fox",
    "text": "A fox crossed the frozen river at dawn.",
    "video_id": "v1",
    "tags": ["winter", "animals"],
    "start": 93.5,
    "url": "https://example.org/watch?v=v1&t=93s",
    "raw": json.dumps({"frames": list(range(500))}),
}
OWL = {"title": "The owl", "text": "An owl slept through the storm.", "video_id": "v2"}
OWN = ("DocumentPassages", "ConceptKnowledge", "RelationshipEdges")
PATIENT_S = 30.0
CARD = {"text": "The fox is a small wild dog.", "category": "animals"}


async def ingest(kernel: Kernel, collection: str, *objects: dict[str, Any]) -> list[str]:
    result = await kernel.call("knowledge_ingest", collection=collection, properties=list(objects))
    assert isinstance(result, KnowledgeIngested)
    assert result.status == "recorded"
    return result.object_ids


async def search(kernel: Kernel, query: str, **arguments: Any) -> KnowledgeSearchResult:
    result = await kernel.call("knowledge_search", query=query, **arguments)
    assert isinstance(result, KnowledgeSearchResult)
    return result


async def test_what_was_ingested_is_found_with_its_place_link_and_source(kernel: Kernel) -> None:
    (key,) = await ingest(kernel, "Notes", FOX)
    result = await search(kernel, "fox on the ice in the morning")
    (hit,) = result.results
    assert uuid.UUID(key)
    assert (hit.collection, hit.object_id) == ("Notes", key)
    assert hit.locator == {"start": 93.5}
    assert hit.link == FOX["url"]
    assert hit.source == "v1"
    assert hit.properties["title"] == "The fox"
    assert hit.properties["source_tool"] == "knowledge_ingest"
    assert "raw" not in hit.properties
    assert (result.total_results, result.pending, result.next_cursor) == (1, 0, None)
    assert (hit.rerank_score, hit.summary) == (None, None)
    assert (result.reranked, result.flash_processed) == (False, False)
    assert result.filters_applied is None
    assert result.notes == []


@pytest.mark.parametrize("search_type", ["hybrid", "semantic", "keyword"])
async def test_every_search_type_ranks_the_right_record_first(
    kernel: Kernel, search_type: str
) -> None:
    fox, _ = await ingest(kernel, "Notes", FOX, OWL)
    result = await search(kernel, "fox river", search_type=search_type)
    assert result.results[0].object_id == fox


async def test_alpha_0_is_keyword_search(kernel: Kernel) -> None:
    await ingest(kernel, "Notes", FOX, OWL)
    by_word = await search(kernel, "owl storm", search_type="keyword")
    assert (await search(kernel, "owl storm", alpha=0)).results == by_word.results


async def test_all_collections_are_searched_unless_named(kernel: Kernel) -> None:
    await ingest(kernel, "Notes", FOX)
    await ingest(kernel, "Cards", CARD)
    everywhere = await search(kernel, "fox")
    assert {hit.collection for hit in everywhere.results} == {"Notes", "Cards"}
    assert (await search(kernel, "fox", collections=["all"])).results == everywhere.results
    (card,) = (await search(kernel, "fox", collections=["Cards", "Cards"])).results
    assert card.collection == "Cards"


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        ({"video_id": "v2"}, {"The owl"}),
        ({"video_id": 'v2" OR 1=1 --'}, set()),
        ({"source_tool": "knowledge_ingest"}, {"The fox", "The owl"}),
        ({"source_tool": "other_tool"}, set()),
        ({"date_from": "2020-01-01", "date_to": "2999-12-31"}, {"The fox", "The owl"}),
        ({"date_to": "2020-01-01T00:00:00Z"}, set()),
        ({"date_from": "2999-01-01"}, set()),
    ],
)
async def test_filters(kernel: Kernel, filters: dict[str, str], found: set[str]) -> None:
    await ingest(kernel, "Notes", FOX, OWL)
    for search_type in ("hybrid", "semantic", "keyword"):
        result = await search(
            kernel, "fox owl", search_type=search_type, collections=["Notes"], **filters
        )
        assert {hit.properties["title"] for hit in result.results} == found
        assert result.filters_applied == filters


@pytest.mark.parametrize("search_type", ["hybrid", "semantic", "keyword"])
async def test_a_kind_without_the_filtered_field_is_searched_without_it_and_named(
    kernel: Kernel, search_type: str
) -> None:
    await ingest(kernel, "Notes", FOX, {**FOX, "video_id": "v9"})
    await ingest(kernel, "Cards", CARD, {**CARD, "category": "plants"})
    how = {"query": "fox", "search_type": search_type}
    result = await search(kernel, **how, category="animals", video_id="v1")
    found = [(hit.collection, hit.properties.get("category")) for hit in result.results]
    assert sorted(found) == [("Cards", "animals"), ("Notes", None)]
    by_category, by_video = result.notes
    assert by_category.startswith("Not narrowed by category, which they lack: DocumentPassages, ")
    assert "Notes" in by_category
    assert "Cards" not in by_category
    assert "Cards" in by_video
    assert len((await search(kernel, **how, evidence_tier="CONFIRMED")).results) == 4


async def test_a_day_counts_from_its_first_to_its_last_moment(kernel: Kernel) -> None:
    await ingest(kernel, "Notes", {"text": "fox", "created_at": "2026-03-05T18:30:00Z"})
    same_day = {"date_from": "2026-03-05", "date_to": "2026-03-05"}
    assert len((await search(kernel, "fox", **same_day)).results) == 1
    assert (await search(kernel, "fox", date_to="2026-03-05T12:00:00Z")).results == []


async def test_pages_join_to_the_whole_result(kernel: Kernel) -> None:
    notes = [{"title": f"Fox {n}", "text": f"fox {n} " + "snow river " * 40} for n in range(30)]
    await ingest(kernel, "Notes", *notes)
    seen: list[str] = []
    cursor = None
    for _ in range(30):
        page = await search(kernel, "fox river", limit=30, cursor=cursor)
        assert page.total_results == 30
        seen.extend(hit.object_id for hit in page.results)
        cursor = page.next_cursor
        if cursor is None:
            break
    assert len(seen) == len(set(seen)) == 30


async def test_a_cursor_of_another_question_is_refused(kernel: Kernel) -> None:
    notes = [{"title": f"Fox {n}", "text": f"fox {n} " + "snow river " * 40} for n in range(30)]
    await ingest(kernel, "Notes", *notes)
    page = await search(kernel, "fox", limit=30)
    assert page.next_cursor
    for query, cursor in (("owl", page.next_cursor), ("fox", "no cursor"), ("fox", "ä")):
        with pytest.raises(VrError) as refused:
            await search(kernel, query, limit=30, cursor=cursor)
        assert refused.value.code is Code.INVALID_INPUT


@pytest.mark.parametrize(
    ("arguments", "message", "hint"),
    [
        ({"query": "  "}, "empty", "look for"),
        ({"query": "x" * 2001}, "too long", ""),
        ({"query": "x", "limit": 0}, "limit", ""),
        ({"query": "x", "limit": 101}, "limit", ""),
        ({"query": "x", "alpha": 1.5}, "alpha", ""),
        ({"query": "x", "search_type": "fuzzy"}, "search_type", ""),
        ({"query": "x", "collections": ["Note"]}, "'Note'", "Did you mean 'Notes'"),
        ({"query": "x", "collections": ["Note"]}, "'Note'", "Cards"),
        ({"query": "x", "date_from": "yesterday"}, "date_from", "ISO 8601"),
        ({"query": "x", "date_to": "2026-02-30"}, "date_to", "ISO 8601"),
        ({"query": "x", "date_to": "9999-12-31T23:59:59-12:00"}, "date_to", "ISO 8601"),
        ({"query": "x", "date_from": "2026-02-01", "date_to": "2026-01-01"}, "later", "Exchange"),
        ({"query": "x", "video_id": "v" * 201}, "too long", ""),
    ],
)
async def test_a_question_that_makes_no_sense_is_refused(
    kernel: Kernel, arguments: dict[str, Any], message: str, hint: str
) -> None:
    with pytest.raises(VrError) as refused:
        await kernel.call("knowledge_search", **arguments)
    assert refused.value.code is Code.INVALID_INPUT
    assert message in refused.value.message
    assert hint in refused.value.hint


async def test_an_empty_store_answers_and_says_so(kernel: Kernel) -> None:
    result = await search(kernel, "fox")
    assert result.results == []
    assert result.notes == ["Nothing is recorded in these collections yet."]


async def test_without_an_embedder_it_finds_by_keyword_and_says_so(config: Config) -> None:
    async with Kernel.open(config, {"knowledge": knowledge, "sample": SampleKinds()}) as kernel:
        await ingest(kernel, "Notes", FOX)
        for search_type in ("hybrid", "semantic"):
            result = await search(kernel, "fox", search_type=search_type)
            assert len(result.results) == 1
            assert "keyword alone" in result.notes[0]
            assert "No Embedder" in result.notes[0]
        assert (await search(kernel, "fox", search_type="keyword")).notes == []
        stats = await kernel.call("knowledge_stats")
        assert isinstance(stats, KnowledgeStats)
        assert (stats.pending_vectors, stats.embedder) == (1, "")


async def test_without_a_store_the_tools_answer_empty(config: Config) -> None:
    class ToolsOnly:
        vr_tools = staticmethod(knowledge.vr_tools)

    plugins = {"tools": ToolsOnly(), "sample": SampleKinds()}
    async with Kernel.open(config, plugins) as kernel:
        (key,) = await ingest(kernel, "Notes", FOX)
        result = await search(kernel, "fox")
        assert (result.results, result.total_results) == ([], 0)
        assert "No store is installed" in result.notes[0]
        found = await kernel.call("knowledge_fetch", object_id=key, collection="Notes")
        assert isinstance(found, KnowledgeObject)
        assert not found.found
        stats = await kernel.call("knowledge_stats")
        assert isinstance(stats, KnowledgeStats)
        assert (stats.total, stats.backend) == (0, "")


async def test_fetch_returns_the_whole_record(kernel: Kernel) -> None:
    (key,) = await ingest(kernel, "Notes", FOX)
    found = await kernel.call("knowledge_fetch", object_id=key, collection="Notes")
    assert isinstance(found, KnowledgeObject)
    assert found.found
    assert {name: found.properties[name] for name in FOX} == FOX
    assert found.locator == {"start": 93.5}
    assert found.link == FOX["url"]
    assert found.provenance["tool"] == "knowledge_ingest"
    assert found.full is None


async def test_fetch_cuts_a_long_record_and_links_to_the_rest(kernel: Kernel) -> None:
    long = {**FOX, "text": "word " * 60_000}
    (key,) = await ingest(kernel, "Notes", long)
    found = await kernel.call("knowledge_fetch", object_id=key, collection="Notes")
    assert isinstance(found, KnowledgeObject)
    assert len(found.model_dump_json()) < 15_000
    assert found.full
    name = found.full.rpartition("/")[2]
    whole = json.loads(kernel.services.artifacts.find(name).path.read_text("utf-8"))
    assert whole["text"] == long["text"]


async def test_fetch_of_nothing_is_no_error(kernel: Kernel) -> None:
    missing = await kernel.call("knowledge_fetch", object_id="no-such-id", collection="Notes")
    assert isinstance(missing, KnowledgeObject)
    assert not missing.found
    with pytest.raises(VrError) as refused:
        await kernel.call("knowledge_fetch", object_id="x", collection="notes")
    assert "Did you mean 'Notes'" in refused.value.hint


async def test_stats_count_and_group(kernel: Kernel) -> None:
    await ingest(kernel, "Notes", FOX, OWL)
    await ingest(kernel, "Cards", CARD)
    stats = await kernel.call("knowledge_stats")
    assert isinstance(stats, KnowledgeStats)
    counts = {c.collection: c.count for c in stats.collections if c.collection not in OWN}
    assert counts == {"Notes": 2, "Cards": 1}
    assert (stats.total, stats.pending) == (3, 0)
    assert (stats.backend, stats.embedder) == ("embedded", "words-1")
    grouped = await kernel.call("knowledge_stats", group_by="video_id")
    assert isinstance(grouped, KnowledgeStats)
    assert {c.collection: c.groups for c in grouped.collections if c.collection not in OWN} == {
        "Notes": {"v1": 1, "v2": 1},
        "Cards": None,
    }


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        ({"collection": "Notess"}, "Did you mean 'Notes'"),
        ({"collection": "Notes", "group_by": "text"}, "video_id"),
        ({"collection": "Notes", "group_by": "video"}, "video_id"),
        ({"group_by": "video_i"}, "Did you mean 'video_id'"),
    ],
)
async def test_stats_refuse_what_they_cannot_count(
    kernel: Kernel, arguments: dict[str, str], hint: str
) -> None:
    with pytest.raises(VrError) as refused:
        await kernel.call("knowledge_stats", **arguments)
    assert refused.value.code is Code.INVALID_INPUT
    assert hint in refused.value.hint


async def test_stats_sum_up_what_is_too_much_to_list(kernel: Kernel) -> None:
    for start in (0, 100):
        objects = [{"text": "fox", "video_id": f"v{n}"} for n in range(start, start + 100)]
        await ingest(kernel, "Notes", *objects)
    stats = await kernel.call("knowledge_stats", collection="Notes", group_by="video_id")
    assert isinstance(stats, KnowledgeStats)
    groups = stats.collections[0].groups
    assert groups is not None
    assert len(groups) == 101
    assert sum(groups.values()) == 200
    assert groups["(others)"] == 100


@pytest.mark.parametrize(
    ("properties", "message", "hint"),
    [
        ({"titel": "x"}, "'titel'", "Did you mean 'title'"),
        ({"title": 5}, "title takes text", "title"),
        ({"stars": 1.5}, "stars takes int", ""),
        ({"stars": True}, "stars takes int", ""),
        ({"tags": "one"}, "tags takes text[]", ""),
        ({"tags": ["one", 2]}, "tags takes text[]", ""),
        ({"due": "tomorrow"}, "due takes date", "ISO 8601"),
        ({"due": "0001-01-01T00:00:00+14:00"}, "due takes date", ""),
        ({}, "no properties", "knowledge_schema"),
        ([], "nothing to record", "at least one"),
        ([OWL, {"titel": "x"}], "Object 1", "Did you mean 'title'"),
        ({"start": float("nan")}, "start", "finite"),
        ({"text": "\ud800"}, "text", "Unicode"),
        ([OWL] * 101, "properties", ""),
        ("text", "properties", ""),
    ],
)
async def test_what_does_not_fit_a_collection_is_refused_and_nothing_recorded(
    kernel: Kernel, properties: Any, message: str, hint: str
) -> None:
    with pytest.raises(VrError) as refused:
        await kernel.call("knowledge_ingest", collection="Notes", properties=properties)
    assert refused.value.code is Code.INVALID_INPUT
    assert message in refused.value.message
    assert hint in refused.value.hint
    stats = await kernel.call("knowledge_stats")
    assert isinstance(stats, KnowledgeStats)
    assert stats.total == 0


async def test_an_object_that_is_too_long_is_refused(kernel: Kernel) -> None:
    with pytest.raises(VrError) as refused:
        await kernel.call(
            "knowledge_ingest", collection="Notes", properties={"text": "x" * 1_000_001}
        )
    assert refused.value.code is Code.TOO_LARGE


async def test_schema_shows_fields_flags_and_an_example_that_can_be_ingested(
    kernel: Kernel,
) -> None:
    schema = await kernel.call("knowledge_schema")
    assert isinstance(schema, KnowledgeSchema)
    shown = {collection.collection: collection for collection in schema.collections}
    assert shown.keys() == {*OWN, "Notes", "Cards"}
    fields = {field.name: field for field in shown["Notes"].fields}
    assert fields["text"].flags == ["vectorised", "searchable", "rerank"]
    assert fields["stars"].type == "int"
    assert fields["created_at"].flags == ["filterable", "range"]
    for collection in schema.collections:
        assert collection.example
        await ingest(kernel, collection.collection, collection.example)
    one = await kernel.call("knowledge_schema", collection="Cards")
    assert isinstance(one, KnowledgeSchema)
    assert [c.collection for c in one.collections] == ["Cards"]


async def test_a_new_kernel_finds_what_an_older_one_recorded(config: Config) -> None:
    plugins = all_plugins()
    async with Kernel.open(config, plugins) as first:
        await ingest(first, "Notes", FOX)
    async with Kernel.open(config, plugins) as second:
        assert len((await search(second, "fox")).results) == 1


async def test_two_kernels_in_one_process_share_the_file(config: Config) -> None:
    plugins = all_plugins()
    async with Kernel.open(config, plugins) as one, Kernel.open(config, plugins) as other:
        await ingest(one, "Notes", FOX)
        assert len((await search(one, "fox")).results) == 1
        assert len((await search(other, "fox")).results) == 1
        await ingest(other, "Notes", OWL)
        assert await other.services.store.catch_up(PATIENT_S) == 0
        while await other.services.store.pending_vectors():  # a search waits, but not for long
            await search(one, "owl", search_type="semantic")
        assert len((await search(one, "owl", search_type="semantic")).results) == 2
