"""Records that models wrote: shown and searched, and never evidence."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from knowledge_samples import NOTES
from pydantic import BaseModel
from refined_kernels import MarkdownPages, ingest, knowledge_kernel
from vr_kernel import WRITES_LOCAL, Call, Record, RecordField, RecordKind, hookimpl, tool
from vr_plugin_knowledge.answering.results import KnowledgeAnswer
from vr_plugin_knowledge.results import KnowledgeHit, KnowledgeSearchResult
from vr_testing import FakeGemini

INVENTED = "The fox built a bridge of glass over the frozen river."
SAID = "A fox crossed the frozen river at dawn."
REPORTS = RecordKind(
    "Reports",
    "What a model wrote.",
    (
        RecordField("text", vectorised=True, searchable=True),
        RecordField("url", filterable=True),
    ),
    rerank="text",
    source="url",
    derived=True,
)


class Told(BaseModel):
    """Nothing."""


@tool(effects=WRITES_LOCAL)
async def report_write(call: Call) -> Told:
    """Write a report that rests on one moment."""
    cited = {"quote": "crossed the frozen river", "link": "https://example.org/talk#t=93"}
    fields = {"text": f"{INVENTED}\n[02:05] An owl slept there.", "url": "v1"}
    call.record(Record("Reports", fields, None, {"sources": [cited]}))
    return Told()


class Reports:
    """A plugin that records what a model wrote."""

    @hookimpl
    def vr_record_kinds(self) -> list[RecordKind]:
        return [REPORTS]

    @hookimpl
    def vr_tools(self) -> list[Any]:
        return [report_write]


PLUGINS = {"reports": Reports(), "pages": MarkdownPages()}


def quoting(words: str) -> Any:
    """A model that takes the words for its evidence, whatever passages it is given."""
    cited = [{"passage": 1, "quote": words}]
    return {"answered": True, "claims": [{"text": "It did.", "citations": cited}]}


async def search(kernel: Any, **given: Any) -> list[KnowledgeHit]:
    result = await kernel.call("knowledge_search", query="fox frozen river", **given)
    assert isinstance(result, KnowledgeSearchResult)
    return result.results


@pytest.mark.parametrize("collections", [None, ["Reports"], ["Reports", "Notes"]])
async def test_an_invented_report_never_supports_a_claim(collections: list[str] | None) -> None:
    with FakeGemini() as gemini:
        gemini.answer(quoting(INVENTED))
        async with knowledge_kernel(gemini=gemini, plugins=PLUGINS) as kernel:
            await kernel.call("report_write")
            await ingest(kernel, "Notes", {"title": "Talk", "text": SAID})
            answer = await kernel.call("knowledge_ask", query="glass", collections=collections)
        assert isinstance(answer, KnowledgeAnswer)
        assert not any(claim.supported for claim in answer.claims)
        assert answer.sources == []
        assert all("glass over" not in request.text for request in gemini.requests)
        assert ("Not read: Reports" in str(answer.notes)) == bool(collections)


async def test_without_a_model_no_extract_is_a_reports() -> None:
    async with knowledge_kernel(plugins=PLUGINS) as kernel:
        await kernel.call("report_write")
        answer = await kernel.call("knowledge_ask", query="glass bridge fox")
    assert isinstance(answer, KnowledgeAnswer)
    assert (answer.answered, answer.claims, answer.sources) == (False, [], [])


async def test_sources_come_first_and_what_a_model_wrote_is_marked_and_leads_on() -> None:
    async with knowledge_kernel(plugins=PLUGINS) as kernel:
        await kernel.call("report_write")
        await ingest(kernel, "Notes", {"title": "Owl", "text": "An owl by the river."})
        first, last = await search(kernel)
        assert (first.collection, first.derived) == ("Notes", False)
        assert (last.collection, last.derived) == ("Reports", True)
        assert [s.link for s in last.sources] == ["https://example.org/talk#t=93"]
        assert last.sources[0].quote == "crossed the frozen river"
        assert "derived" not in first.model_dump()
        mixed = await search(kernel, derived="mixed")
        assert [hit.collection for hit in mixed] == ["Reports", "Notes"]
        asked = await search(kernel, collections=["Notes", "Reports"])
        assert [hit.collection for hit in asked] == ["Reports", "Notes"]
        only = await search(kernel, derived="exclude")
        assert [hit.collection for hit in only] == ["Notes"]
        found = await kernel.call("knowledge_fetch", collection="Reports", object_id=last.object_id)
        assert found.model_dump()["derived"] is True


async def test_a_graph_of_reports_leads_to_the_moments_that_they_rest_on() -> None:
    seen = {"name": "Fox", "quote": "bridge of glass over the frozen river"}
    timed = {"name": "Owl", "quote": "An owl slept there."}
    said = {"name": "Vole", "quote": "hunts voles (in deep snow)"}
    with FakeGemini() as gemini:
        gemini.answer(
            lambda request: {
                "concepts": [seen, timed] if "glass" in request.text else [said],
                "relations": [],
            }
        )
        async with knowledge_kernel(gemini=gemini, plugins=PLUGINS) as kernel:
            await kernel.call("report_write")
            link = "https://example.org/watch?v=v1&t=12s"
            fox = {"title": "Foxes", "text": "It hunts voles (in deep snow). Well.", "url": link}
            await ingest(kernel, "Notes", fox)
            sources = await kernel.call("knowledge_extract", source="v1")
            assert sources.records_read == 0, "what a model wrote is read where it is named"
            await kernel.call("knowledge_extract", collections=["Reports", "Notes"])
            graph = (await kernel.call("knowledge_graph")).model_dump()
            page = await kernel.call("knowledge_graph", format="html")
            html = await asyncio.to_thread(Path(page.path).read_text, "utf-8")
    told = {node["concept"]: node["sources"][0] for node in graph["nodes"]}
    assert told["Fox"]["link"] == "https://example.org/talk#t=93"
    assert (told["Fox"]["seconds"], told["Fox"]["derived"]) == (93, True)
    owl = told["Owl"]
    assert (owl["link"], owl["seconds"]) == ("https://example.org/talk#t=125", 125)
    assert (told["Vole"]["link"], told["Vole"]["seconds"]) == (link, 12)
    assert told["Vole"]["title"] == "Foxes"
    assert told["Vole"]["quote"] == "hunts voles (in deep snow)"
    assert "derived" not in told["Vole"]
    assert "Foxes, 0:12" in html
    assert {node.concept for node in page.nodes} == {"Fox", "Owl", "Vole"}


async def test_who_ingests_is_told_what_is_written() -> None:
    async with knowledge_kernel(plugins=PLUGINS) as kernel:
        given = {"collection": "Reports", "properties": {"text": "I think so."}}
        assert (await kernel.call("knowledge_ingest", **given)).model_dump()["derived"] is True
        given = {"collection": NOTES.name, "properties": {"text": "I heard so."}}
        assert (await kernel.call("knowledge_ingest", **given)).model_dump()["derived"] is False
