"""Views of the results of the knowledge tools: each thing once, with its place."""

from __future__ import annotations

import asyncio
import re
from types import SimpleNamespace
from typing import Any

from graph_samples import FOX as FOX_FACTS
from graph_samples import OWL as OWL_FACTS
from graph_samples import tell
from refined_kernels import ingest, knowledge_kernel
from vr_kernel import RecordField, RecordKind, View, hookimpl
from vr_kernel.views import Facts, File, Graph, Prose, Records, Table, as_data, as_text, title_of
from vr_testing import FakeGemini, TrialKernel

FOX = {
    "title": "The fox",
    "text": "The fox\nA fox crossed the frozen river at dawn\nand went into the forest.",
    "video_id": "/films/foxes.mp4",
    "start": 93.5,
    "url": "https://example.org/watch?v=v1&t=93s",
}
OWL = {"title": "The owl", "text": "An owl slept in the old tower.", "video_id": "/films/owls.mp4"}
DIGEST = re.compile(r"(?<!/)\b[0-9a-f]{40,}\b")
MICROSECONDS = re.compile(r"\d\d:\d\d:\d\d\.\d")


async def show(kernel: TrialKernel, tool: str, **given: Any) -> View:
    """The view of a call's result, which is the plugin's own and not the plain form."""
    result = await kernel.call(tool, **given)
    view = await kernel.services.views.of_result(kernel.tools[tool], result)
    assert kernel.services.views.has("tool", tool)
    assert not [note for note in view.notes if "plain form" in note]
    assert as_data(view)["title"]
    text = as_text(view)
    assert not DIGEST.search(text)
    assert not MICROSECONDS.search(text)
    return view


async def test_a_hit_is_its_title_moment_and_words_each_of_them_once() -> None:
    async with knowledge_kernel() as kernel:
        key, _ = await ingest(kernel, "Notes", FOX, OWL)
        view = await show(kernel, "knowledge_search", query="frozen river fox", limit=1)
    assert view.title == "frozen river fox"
    found, scores = view.blocks
    assert isinstance(found, Records)
    (hit,) = found.items
    assert (hit.title, hit.id) == ("The fox", f"Notes/{key}")
    assert hit.text == "A fox crossed the frozen river at dawn · and went into the forest."
    assert (hit.place.address, hit.place.start, hit.place.label) == (FOX["url"], 93.5, "")
    assert hit.facts == ("foxes.mp4",)
    assert scores.detail, "collections and scores are for those who look closer"
    head = as_text(View("", [found]))
    assert head.count("The fox") == head.count("1:33") == 1


async def test_a_source_is_named_by_the_title_that_a_record_gives_it() -> None:
    film = RecordKind(
        "Films",
        "Films.",
        (RecordField("name"), RecordField("path"), RecordField("about", searchable=True)),
        rerank="about",
        source="path",
        title="name",
    )
    films = SimpleNamespace(vr_record_kinds=hookimpl(lambda: [film]))
    with FakeGemini() as gemini:
        gemini.answer({"concepts": [{"name": "Fox", "quote": "A fox crossed"}], "relations": []})
        async with knowledge_kernel(gemini=gemini, plugins={"films": films}) as kernel:
            about = {"name": "Foxes at night", "path": FOX["video_id"], "about": "Snow."}
            await ingest(kernel, "Films", about)
            await ingest(kernel, "Notes", FOX)
            view = await show(kernel, "knowledge_search", query="river", collections=["Notes"])
            await kernel.call("knowledge_extract", collections=["Notes"])
            graph = (await show(kernel, "knowledge_graph")).blocks[0]
    assert view.blocks[0].items[0].facts == ("Foxes at night",)  # type: ignore[attr-defined]
    assert isinstance(graph, Graph)
    assert graph.nodes[0].quotes[0].place.label == "Foxes at night"


async def test_hits_at_one_moment_say_which_is_speech_and_which_a_slide() -> None:
    fields = (RecordField("title"), RecordField("origin"), RecordField("text", searchable=True))
    kind = RecordKind("Moments", "Of films.", fields, rerank="text", variety="origin")
    films = SimpleNamespace(vr_record_kinds=hookimpl(lambda: [kind]))
    async with knowledge_kernel(plugins={"films": films}) as kernel:
        heard = {"title": "Rivers", "origin": "speech", "text": "The river froze early."}
        await ingest(kernel, "Moments", heard, {**heard, "origin": "slide"})
        view = await show(kernel, "knowledge_search", query="river froze")
    found, scores = view.blocks
    assert isinstance(found, Records)
    assert isinstance(scores, Table)
    assert sorted(item.facts for item in found.items) == [("slide",), ("speech",)]
    assert sorted(row[0] for row in scores.rows) == ["Rivers, slide", "Rivers, speech"]  # type: ignore[type-var]


async def test_hits_without_a_word_of_the_question_are_said_to_be_only_the_nearest() -> None:
    async with knowledge_kernel() as kernel:
        await ingest(kernel, "Notes", FOX, OWL)
        async with asyncio.timeout(30):
            while await kernel.services.store.pending_vectors():
                await kernel.call("knowledge_search", query="fox")
        far = await show(kernel, "knowledge_search", query="what is a submarine?")
        near = await show(kernel, "knowledge_search", query="submarines and foxes in FORESTS")
        none = await show(kernel, "knowledge_search", query="submarine", search_type="keyword")
    said = "None of these hits has a word of the question: they are only the nearest that there is."
    assert isinstance(far.blocks[0], Records)
    assert far.notes[-1:] == (said,)
    assert said not in (*near.notes, *none.notes)


async def test_a_long_text_is_shown_where_it_has_the_words_of_the_question() -> None:
    text = f"{'Snow fell on the meadow. ' * 40}The otter slid down. {'Rain fell. ' * 40}"
    async with knowledge_kernel() as kernel:
        await ingest(kernel, "Notes", {"title": "Weather", "text": text})
        view = await show(kernel, "knowledge_search", query="otter slid", search_type="keyword")
    (hit,) = view.blocks[0].items  # type: ignore[attr-defined]
    assert "The otter slid down." in hit.text
    assert hit.text[0] == hit.text[-1] == "…"
    assert hit.text.index("otter") < 72, "a narrow terminal shows it"
    assert 151 < len(hit.text) <= 301, "a page has room for more than a terminal"
    assert re.fullmatch(r".*(\bRain|\bfell\.)…", hit.text), "no word is cut"


async def test_a_search_counts_the_hits_that_are_here_and_says_that_there_are_more() -> None:
    text = "fox " + "snow river " * 40
    async with knowledge_kernel() as kernel:
        await ingest(kernel, "Notes", *({"title": f"Fox {n}", "text": text} for n in range(30)))
        view = await show(kernel, "knowledge_search", query="fox river", limit=30)
    found = view.blocks[0]
    assert isinstance(found, Records)
    assert found.total <= len(found.items) < 30
    assert view.about == (f"{len(found.items)} hits",)
    assert view.notes == ("There are more.",)


async def test_a_link_that_is_none_costs_no_more_than_itself() -> None:
    async with knowledge_kernel() as kernel:
        await ingest(
            kernel, "Notes", {**FOX, "url": "http://[::1", "video_id": "http://[x/\x1b[1m"}
        )
        view = await show(kernel, "knowledge_search", query="frozen river")
        assert "The fox" in as_text(view)
        assert "\x1b" not in as_text(view)
        (hit,) = view.blocks[0].items  # type: ignore[attr-defined]
        kind, _, key = hit.id.partition("/")
        assert "frozen" in as_text(
            await show(kernel, "knowledge_fetch", collection=kind, object_id=key)
        )


async def test_without_a_model_the_passages_are_said_once_and_how_to_get_an_answer() -> None:
    async with knowledge_kernel() as kernel:
        key, _ = await ingest(kernel, "Notes", FOX, OWL)
        view = await show(kernel, "knowledge_ask", query="What did the fox cross?")
    (found,) = view.blocks
    assert isinstance(found, Records)
    assert found.items[0].id == f"Notes/{key}"
    text = as_text(view)
    for once in ("crossed the frozen river", "slept in the old tower", "No language model", "1:33"):
        assert text.count(once) == 1, once
    assert "GEMINI_API_KEY" in text


async def test_an_answer_has_its_quotes_as_references_with_place_and_mark() -> None:
    quotes = [(1, "crossed the frozen river at dawn"), (1, "on a Tuesday in the month of May")]
    claims = [
        {"text": text, "citations": [{"passage": number, "quote": quote}]}
        for text, (number, quote) in zip(("It crossed a river.", "In May."), quotes, strict=True)
    ]
    with FakeGemini() as gemini:
        gemini.answer({"answered": True, "claims": claims})
        async with knowledge_kernel(gemini=gemini) as kernel:
            await ingest(kernel, "Notes", FOX)
            view = await show(kernel, "knowledge_ask", query="What did the fox do?")
    (prose,) = view.blocks
    assert isinstance(prose, Prose)
    assert prose.text == "It crossed a river. [1] In May. [2] (no quote was found for this)"
    assert [quote.mark for quote in prose.references] == ["verified", "not_found"]
    place = prose.references[0].place
    assert (place.label, place.start, place.address) == ("foxes.mp4", 93.5, FOX["url"])


async def test_concepts_have_their_quotes_with_title_moment_and_link() -> None:
    with FakeGemini() as gemini:
        gemini.answer(tell)
        async with knowledge_kernel(gemini=gemini) as kernel:
            await ingest(kernel, "Notes", FOX_FACTS, OWL_FACTS)
            found = await show(kernel, "knowledge_extract", collections=["Notes"])
            assert "New concepts: " in as_text(found)
            view = await show(kernel, "knowledge_graph", concept="Fox")
            (graph,) = view.blocks
            assert isinstance(graph, Graph)
            assert graph.groups == ("know", "fuzzy", "unknown")
            fox = next(node for node in graph.nodes if node.name == "Fox")
            place = fox.quotes[0].place
            assert (place.label, place.start) == ("Foxes", 12.0)
            assert place.address == FOX_FACTS["url"]
            edge = next(it for it in graph.edges if graph.nodes[it.start].name == "Fox")
            assert graph.nodes[edge.end].name == "Vole"
            listed = await kernel.call("knowledge_graph", concept="Fox")
            key = listed.model_dump()["nodes"][0]["object_id"]
            one = await show(
                kernel, "knowledge_fetch", collection="ConceptKnowledge", object_id=key
            )
            hits = await show(
                kernel, "knowledge_search", query="vole", collections=["RelationshipEdges"]
            )
            exported = await show(kernel, "knowledge_graph", concept="Fox", format="mermaid")
            name = exported.blocks[0].link.rpartition("/")[2]  # type: ignore[attr-defined]
            there = kernel.services.artifacts.find(name) is not None
            edges = kernel.services.kinds["RelationshipEdges"]
    ends = {"from_concept": "Fox", "relationship_type": "related_to", "to_concept": "Vole"}
    assert title_of(edges, ends)[0] == "Fox - related to → Vole"
    related = hits.blocks[0].items[0]  # type: ignore[attr-defined]
    assert related.title in ("Fox - related to → Vole", "Vole - related to → owl")
    assert related.place.start in (5.0, 12.0)
    facts, prose = one.blocks
    assert one.title == "Fox"
    assert facts == Facts((("State", "unknown"), ("Also called", "red fox")))
    assert isinstance(prose, Prose)
    assert prose.text.startswith("A hunter of voles. [1]")
    assert prose.references[0].place == place
    file, closest = exported.blocks
    assert isinstance(file, File)
    assert there
    assert isinstance(closest, Records)
    assert closest.items[0].title == "Fox"


async def test_objects_of_one_record_are_shown_as_one() -> None:
    pond, lake = ({"concept_name": name} for name in ("Pond", "Lake"))
    async with knowledge_kernel() as kernel:
        given = {"collection": "ConceptKnowledge", "properties": [pond, lake, pond]}
        view = await show(kernel, "knowledge_ingest", **given)
    assert view.title == "2 records were made"
    assert view.about[-1] == "3 objects were given, 1 of them for the same record as another"
    (listed,) = view.blocks
    assert isinstance(listed, Records)
    assert [item.title for item in listed.items] == ["Pond", "Lake"]
    assert listed.total == 2


async def test_every_tool_of_the_plugin_has_a_view() -> None:
    async with knowledge_kernel() as kernel:
        keys = await ingest(kernel, "Notes", FOX, OWL)
        made = await show(
            kernel, "knowledge_ingest", collection="Notes", properties=[{"text": "Third"}]
        )
        assert made.title == "1 record was made"
        near = {"collection": "Notes", "object_id": keys[0]}
        calls: dict[str, dict[str, Any]] = {
            "knowledge_related": near,
            "knowledge_fetch": near,
            "knowledge_stats": {"group_by": "video_id"},
            "knowledge_schema": {},
            "knowledge_graph": {},
            "knowledge_forget": {"object_ids": [keys[1], "none"]},
        }
        for tool, given in calls.items():
            await show(kernel, tool, **given)
        missing = await show(kernel, "knowledge_fetch", collection="Notes", object_id="none")
        assert missing.title == "No such record in Notes"
        schema = await show(kernel, "knowledge_schema", collection="Notes")
        assert "Example for knowledge_ingest" in as_text(schema)
        mine = [it for it in kernel.tools.values() if it.plugin == "knowledge"]
        assert mine
        assert all(kernel.services.views.has("tool", it.name) for it in mine)
