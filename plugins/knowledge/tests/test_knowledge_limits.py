"""No result is too long for a client, and nothing heavy is loaded before it is used."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from knowledge_samples import NOTES
from vr_kernel import Config, Kernel, RecordField, RecordKind, estimate_tokens, hookimpl
from vr_plugin_knowledge import plugin as knowledge
from vr_plugin_knowledge.excerpts import shorten
from vr_plugin_knowledge.results import KnowledgeSchema, KnowledgeSearchResult

PAGE_CHARS = 12_000
PAGE_TOKENS = 4_000
ROOM, SLACK, FEW = 200, 20, 10
SCRIPTS = {
    "english": "a long story of a fox ",
    "japanese": "fox 知識は力なり、学びて時にこれを習う。 ",
    "arabic": "fox يقرأ الطالب كتابا في المكتبة الكبيرة ",
    "emoji": "fox 🦊🎉👩‍👩‍👧‍👦🇩🇪👍🏽 ",
    "code": 'fox = {"x": [0.25, 17]}; return fox[key] // 2\n',
}


def many_kinds(count: int) -> object:
    """A plugin of so many collections with thirty described fields each."""
    fields = tuple(RecordField(f"field_{n}", description="What it says. " * 3) for n in range(30))
    kinds = [RecordKind(f"Kind{n}", "Many fields.", fields, "field_0") for n in range(count)]

    class ManyKinds:
        @hookimpl
        def vr_record_kinds(self) -> list[RecordKind]:
            return kinds

    return ManyKinds()


@pytest.mark.parametrize(
    "text", ["a long story of a fox ", "知識は力なり fox ", '{"fox": [0.25, 17]} ']
)
async def test_a_page_fits(kernel: Kernel, text: str) -> None:
    long = {"title": text * 20, "text": text * 400, "tags": [text] * 50, "raw": text * 1000}
    await kernel.call("knowledge_ingest", collection="Notes", properties=[long] * 60)
    assert await kernel.services.store.catch_up(60) == 0
    result = await kernel.call("knowledge_search", query="fox", limit=60)
    assert isinstance(result, KnowledgeSearchResult)
    assert 1 < len(result.results) < 60
    assert result.total_results == 60
    assert result.next_cursor
    assert len(result.model_dump_json()) < PAGE_CHARS


@pytest.mark.parametrize("limit", [1, pytest.param(10, marks=pytest.mark.slow), 20])
@pytest.mark.parametrize("script", SCRIPTS)
async def test_a_page_has_as_many_hits_as_are_asked_for(
    kernel: Kernel, script: str, limit: int
) -> None:
    text = SCRIPTS[script]
    long = {"title": text * 20, "text": text * 400, "tags": [text] * 50, "url": "https://x.org/y"}
    await kernel.call("knowledge_ingest", collection="Notes", properties=[long] * limit)
    result = await kernel.call("knowledge_search", query="fox", limit=limit)
    assert isinstance(result, KnowledgeSearchResult)
    assert len(result.results) == limit
    assert result.next_cursor is None
    assert all("fox" in hit.properties["text"] for hit in result.results)
    assert estimate_tokens(result.model_dump_json()) < PAGE_TOKENS


@settings(max_examples=30)
@given(
    st.fixed_dictionaries(
        {},
        optional={
            "title": st.text(max_size=2000),
            "text": st.text(max_size=5000),
            "tags": st.lists(st.text(max_size=400), max_size=40),
            "raw": st.text(max_size=3000),
            "stars": st.integers(),
        },
    )
)
def test_what_is_shown_of_a_record_is_a_short_part_of_it(fields: dict[str, object]) -> None:
    shown = shorten(NOTES, fields, ROOM)
    assert shown.keys() <= fields.keys()
    assert estimate_tokens(json.dumps(shown, ensure_ascii=False)) < ROOM + SLACK
    for name in fields.keys() & {"text", "title", "stars"}:
        if estimate_tokens(str(fields[name])) <= FEW:
            assert shown[name] == fields[name]


@pytest.mark.parametrize(("count", "fields"), [(2, 32), (30, 0)])
async def test_the_schema_of_many_collections_fits(config: Config, count: int, fields: int) -> None:
    plugins = {"knowledge": knowledge, "many": many_kinds(count)}
    async with Kernel.open(config, plugins) as kernel:
        schema = await kernel.call("knowledge_schema")
        assert isinstance(schema, KnowledgeSchema)
        kinds = [c for c in schema.collections if c.collection.startswith("Kind")]
        assert [len(c.fields) for c in kinds] == [fields] * count
        assert len(schema.model_dump_json()) < PAGE_CHARS
        assert schema.notes
        one = await kernel.call("knowledge_schema", collection="Kind0")
        assert isinstance(one, KnowledgeSchema)
        assert one.collections[0].fields[0].description
        assert one.collections[0].example


def test_loading_the_plugin_loads_nothing_heavy() -> None:
    code = (
        "import sys, vr_plugin_knowledge.plugin as p; p.vr_tools(); p.vr_providers();"
        "heavy = ('numpy', 'fastmcp', 'vr_plugin_knowledge.embedded_store.store');"
        "print([m for m in heavy if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
