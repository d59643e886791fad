"""`knowledge_graph` and the neighbours of hits, through a real kernel."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from refined_kernels import MarkdownPages, ingest, knowledge_kernel
from vr_kernel import READ_ONLY, Call, Code, VrError, hookimpl, tool
from vr_kernel.stores import Query
from vr_plugin_knowledge.graph.neighbours import graph_neighbours
from vr_plugin_knowledge.graph.results import KnowledgeGraph
from vr_plugin_knowledge.graph.withdrawal import withdraw_citations
from vr_testing import TrialKernel

EDGES = [
    ("Attention", "enables", "Transformer"),
    ("GPT", "example_of", "Transformer"),
    ("GPT", "example_of", "Language model"),
    ("Language model", "contradicts", "Hallucination"),
]


class Neighbours:
    """A plugin that asks for what is next to the hits of a question."""

    @hookimpl
    def vr_tools(self) -> list[Any]:
        """Its tools."""
        return [neighbours_find, neighbours_forget]


@tool(effects=READ_ONLY)
async def neighbours_find(call: Call, query: str, kind: str) -> KnowledgeGraph:
    """Find neighbours."""
    await call.services.store.catch_up()
    asked = Query(query, None, "keyword", kinds=(kind,), workspace=call.workspace)
    found = await graph_neighbours(call, await call.services.store.search(asked))
    said = [f"{n.from_concept} {n.relationship_type} {n.to_concept}: {n.concept}" for n in found]
    return KnowledgeGraph(nodes=[], edges=[], total_nodes=0, total_edges=0, notes=said)


@tool(effects=READ_ONLY)
async def neighbours_forget(call: Call, kind: str, key: str) -> KnowledgeGraph:
    """Forget."""
    await withdraw_citations(call, [(kind, key)])
    return KnowledgeGraph(nodes=[], edges=[], total_nodes=0, total_edges=0)


@pytest.fixture
async def kernel(tmp_path: Path) -> AsyncIterator[TrialKernel]:
    plugins = {"neighbours": Neighbours(), "pages": MarkdownPages()}
    async with knowledge_kernel(plugins=plugins, folder=tmp_path) as opened:
        edges = [
            {"from_concept": a, "relationship_type": kind, "to_concept": b} for a, kind, b in EDGES
        ]
        await ingest(opened, "RelationshipEdges", *edges)
        yield opened


async def graph(kernel: TrialKernel, **arguments: Any) -> KnowledgeGraph:
    result = await kernel.call("knowledge_graph", **arguments)
    assert isinstance(result, KnowledgeGraph)
    return result


async def test_what_is_around_a_concept_the_closest_first(kernel):
    result = await graph(kernel, concept="transformers", depth=1)
    assert result.nodes[0].concept == "Transformer"
    assert {(node.concept, node.depth) for node in result.nodes[1:]} == {
        ("GPT", 1),
        ("Attention", 1),
    }
    assert {(e.from_concept, e.relationship_type, e.to_concept) for e in result.edges} == {
        *EDGES[:2]
    }
    assert sum(node.score for node in result.nodes) == pytest.approx(1.0, abs=1e-4)
    assert (result.total_nodes, result.total_edges, result.artifact) == (3, 2, None)


async def test_a_question_finds_where_to_start(kernel):
    result = await graph(kernel, query="hallucination", depth=1)
    assert {"Hallucination", "Language model"} <= {node.concept for node in result.nodes}


async def test_the_whole_graph_without_a_start(kernel):
    result = await graph(kernel)
    assert result.total_nodes == 5
    assert result.total_edges == 4


async def test_an_unknown_concept_names_the_nearest(kernel):
    await ingest(kernel, "ConceptKnowledge", {"concept_name": "Transformer"})
    with pytest.raises(VrError) as caught:
        await graph(kernel, concept="Trasnformer")
    assert caught.value.code is Code.NOT_FOUND
    assert "Did you mean 'Transformer'?" in caught.value.hint


async def test_an_unknown_type_names_the_nearest(kernel):
    with pytest.raises(VrError) as caught:
        await graph(kernel, relationship_types=["enabled"])
    assert caught.value.code is Code.INVALID_INPUT
    assert "Did you mean 'enables'?" in caught.value.hint


async def test_an_alias_is_a_name(kernel):
    known = {"concept_name": "Language model", "aliases": ["LM"], "state": "know"}
    await ingest(kernel, "ConceptKnowledge", known)
    result = await graph(kernel, concept="lm", depth=1)
    assert (result.nodes[0].concept, result.nodes[0].state) == ("Language model", "know")


async def test_an_empty_graph_says_how_to_fill_it(tmp_path):
    async with knowledge_kernel(folder=tmp_path) as kernel:
        assert "knowledge_extract" in (await graph(kernel)).notes[0]
        asked = await graph(kernel, query="anything")
        assert asked.nodes == []
        assert "No concept answers to the query." in asked.notes


async def test_without_the_library_an_error_says_what_to_install(kernel, monkeypatch):
    monkeypatch.setitem(sys.modules, "rustworkx", None)
    with pytest.raises(VrError) as caught:
        await graph(kernel, concept="GPT")
    assert (caught.value.code, caught.value.category) == (Code.UNAVAILABLE, "EXTRA_MISSING")
    assert "video-research[graph]" in caught.value.hint
    found = await kernel.call("neighbours_find", query="hallucination", kind="RelationshipEdges")
    assert found.notes


async def test_a_page_needs_what_makes_pages_and_names_it() -> None:
    async with knowledge_kernel() as kernel:
        edge = {"from_concept": "GPT", "relationship_type": "enables", "to_concept": "Chat"}
        await ingest(kernel, "RelationshipEdges", edge)
        with pytest.raises(VrError) as caught:
            await graph(kernel, format="html")
    assert caught.value.code is Code.UNAVAILABLE
    assert "pip install vr-pages" in caught.value.hint


@pytest.mark.parametrize(
    ("form", "begins"),
    [("mermaid", "flowchart LR\n"), ("graphml", "<?xml"), ("html", "# Knowledge graph\n")],
)
async def test_an_export_is_a_file(kernel, form, begins):
    result = await graph(kernel, format=form)
    text = await asyncio.to_thread(Path(result.path).read_text, "utf-8")
    assert text.startswith(begins)
    assert "Hallucination" in text
    assert result.artifact.startswith("vr://artifacts/")
    assert (len(result.nodes), result.edges, result.total_nodes) == (5, [], 5)
    assert all(not node.sources for node in result.nodes), "the file has them"
    capped = await graph(kernel, format=form, limit=2)
    assert "2 closest" in capped.notes[0]


async def test_a_page_has_concepts_and_their_quotes_with_title_and_moment(kernel) -> None:
    quoted = {
        "concept_name": "GPT",
        "description": "A model.",
        "aliases": ["Generative"],
        "sources": ["Notes/a#1"],
        "quotes": ["so it is"],
        "links": ["https://example.org/v?t=75"],
        "titles": ["A talk"],
    }
    await ingest(kernel, "ConceptKnowledge", quoted)
    asked = await graph(kernel, format="html", concept="GPT")
    text = await asyncio.to_thread(Path(asked.path).read_text, "utf-8")
    assert text.startswith("# Knowledge graph: GPT\n")
    assert "**GPT** (unknown): A model. Also called Generative." in text
    assert "“so it is” [A talk, 1:15](https://example.org/v?t=75)" in text
    assert "GPT → example of Transformer" in text


async def test_neighbours_of_hits(kernel):
    concept = {"concept_name": "GPT", "sources": ["Notes/none#1"]}
    await ingest(kernel, "ConceptKnowledge", concept)
    (note,) = await ingest(kernel, "Notes", {"text": "About a zebra."})
    cited = {"concept_name": "Attention", "sources": [f"Notes/{note}#1"], "quotes": ["a zebra"]}
    await ingest(kernel, "ConceptKnowledge", cited)

    async def found(query: str, kind: str) -> set[str]:
        return set((await kernel.call("neighbours_find", query=query, kind=kind)).notes)

    of_gpt = {
        "GPT example_of Transformer: Transformer",
        "GPT example_of Language model: Language model",
    }
    assert await found("gpt", "ConceptKnowledge") == of_gpt
    # A record is about the concepts that were found in it.
    assert await found("zebra", "Notes") == {"Attention enables Transformer: Transformer"}
    # Both ends of a relationship are what it is about.
    assert await found("hallucination", "RelationshipEdges") == {
        "GPT example_of Language model: GPT"
    }
    assert await found("nothing", "Notes") == set()


async def test_citations_of_a_forgotten_record_are_withdrawn(kernel):
    both = {"concept_name": "GPT", "sources": ["Notes/one#1", "Notes/two#1"], "quotes": ["1", "2"]}
    await ingest(kernel, "ConceptKnowledge", both)
    await kernel.call("neighbours_forget", kind="Notes", key="one")
    changes = await kernel.services.journal.changes(0, 100)
    latest = [c.fields for c in changes if c.kind == "ConceptKnowledge" and c.fields][-1]
    assert (latest["sources"], latest["quotes"]) == (["Notes/two#1"], ["2"])
