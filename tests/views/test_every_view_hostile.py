"""Each tool's result and each kind's record is shown, whatever texts strangers put into it."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Any
from urllib.parse import quote

import pytest
from hostile_checks import STEERS, Skeleton, check_everywhere
from hostile_texts import shares
from pydantic import BaseModel, ValidationError
from schema_filling import fill_schema
from vr_kernel import (
    READ_ONLY,
    Call,
    Record,
    RecordField,
    RecordKind,
    StoredRecord,
    hookimpl,
    tool,
)
from vr_kernel.views import (
    Facts,
    File,
    Image,
    Link,
    Media,
    Moment,
    Moments,
    Pictures,
    Prose,
    View,
    ViewRenderer,
    as_markdown,
    as_text,
)
from vr_pages import plugin as pages
from vr_plugin_content import plugin as content
from vr_plugin_knowledge import plugin as knowledge
from vr_plugin_research import plugin as research
from vr_plugin_search import plugin as search
from vr_plugin_video import plugin as video
from vr_testing import TrialKernel, open_kernel

UNESCAPED = re.compile(r"(?<!\\)(?:<|!\[)")
PLAIN = "This is its plain form."


class Finding(BaseModel):
    """A result of a stranger's tool."""

    name: str
    said: list[str]
    rows: list[dict[str, Any]]
    inner: dict[str, Any]
    file_path: str = ""
    error: str = ""


@tool(effects=READ_ONLY)
async def strange_find(call: Call) -> Finding:
    """Find something."""
    return Finding(name="", said=[], rows=[], inner={})


@tool(effects=READ_ONLY)
async def strange_keep(call: Call, text: str, source: str) -> Finding:
    """Keep what was found."""
    for kind in KEPT:
        fields = {"name": text, "about": text, "source": source, "start": 3.5}
        call.record(Record(kind.name, fields, key=source[-90:]))
    return Finding(name="", said=[], rows=[], inner={})


FIELDS = (
    RecordField("name"),
    RecordField("about"),
    RecordField("source"),
    RecordField("start", "number"),
)
KEPT = [
    RecordKind("StrangeFilms", "Films.", FIELDS, "about", source="source", link="source"),
    RecordKind("StrangeNotes", "Notes.", FIELDS, "about", source="source", locator=("start",)),
]
STRANGE = RecordKind("StrangeThings", "Of a plugin that is gone.", (RecordField("about"),), "about")


class Stranger:
    """A plugin without a view."""

    vr_tools = staticmethod(hookimpl(lambda: [strange_find, strange_keep]))
    vr_record_kinds = staticmethod(hookimpl(lambda: KEPT))


@pytest.fixture
async def kernel() -> AsyncIterator[TrialKernel]:
    ours = {"content": content, "knowledge": knowledge, "video": video}
    ours |= {"search": search, "research": research}
    plugins = {**ours, "pages": pages, "stranger": Stranger}
    async with open_kernel(plugins) as opened:
        yield opened


@shares(share=100, others=4)
async def test_what_tools_return_and_kinds_hold_is_shown(
    kernel: TrialKernel, texts: list[str]
) -> None:
    renderer = kernel.services.providers.get(ViewRenderer)
    unfit = 0
    for text in texts:
        for name in kernel.tools:
            try:
                view = await result_view(kernel, name, text)
            except ValidationError:
                unfit += 1  # the tool takes no such text there
                continue
            await check_everywhere(view, renderer, f"{name} of {text!r}")
        for kind in (*kernel.services.kinds.values(), STRANGE):
            for records in record_sets(kind, text):
                view = await kernel.services.views.of_records(records)
                await check_everywhere(view, renderer, f"{kind.name} of {text!r}")
    assert unfit < len(texts) * len(kernel.tools) / 4


@shares(share=10)
async def test_names_of_files_are_shown(kernel: TrialKernel, texts: list[str]) -> None:
    renderer = kernel.services.providers.get(ViewRenderer)
    for text in texts:
        for path in (f"/films/{text}.mp4", f"C:\\{text}.mp4", f"file:///films/{text}.mp4"):
            place = Link(path, "", 93.0)
            blocks = [
                Media(path, title="Film"),
                File(path, "video/mp4", 7, title="File"),
                Moments([Moment(93.0, text, link=path)], title="Moments"),
                Pictures([Image(path, text, place=place)], title="Pictures"),
                Facts([("Place", place)], title="Facts"),
            ]
            await check_everywhere(View("Film", blocks, source=path), renderer, repr(path))


@shares(share=60)
async def test_all_that_is_known_of_a_source_is_shown(
    kernel: TrialKernel, texts: list[str]
) -> None:
    renderer = kernel.services.providers.get(ViewRenderer)
    for text in texts:
        kept = text.encode(errors="replace").decode()  # a call takes no half characters
        address = f"https://ok.example/{quote(kept)}"
        await kernel.call("strange_keep", text=kept, source=address)
    services = kernel.services
    sources = await services.journal.sources(services.workspace, limit=1000)
    assert len(sources) > len(texts) / 2
    for source in sources:
        view = await services.views.of_source(source.id)
        await check_everywhere(view, renderer, repr(view.title))


@pytest.mark.slow
async def test_a_text_of_a_megabyte_is_shown(kernel: TrialKernel) -> None:
    renderer = kernel.services.providers.get(ViewRenderer)
    for text in ("<b>[![a](b)" * 100_000, "# a\n" * 250_000, "\x1b[31m\u202e" * 170_000):
        view = View(text, [Prose(text), Facts([(text, text)])], [text], text)
        Skeleton(await renderer.fragment(view))
        assert not STEERS.search(as_text(view))
        assert not UNESCAPED.search(as_markdown(view))  # a parser takes a minute for it


async def result_view(kernel: TrialKernel, name: str, text: str) -> View:
    it = kernel.tools[name]
    result = it.result.model_validate(fill_schema(it.result.model_json_schema(), text))
    view = await kernel.services.views.of_result(it, result)
    assert not any(PLAIN in note for note in view.notes), (name, text, view.notes)
    return view


def record_sets(kind: RecordKind, text: str) -> Iterator[list[StoredRecord]]:
    """A record by itself, two of one source, and one whose texts hold JSON."""
    one = record(kind, text)
    yield [one]
    yield [one, record(kind, text, "2")]
    held = {name: json.dumps([{"text": value}]) for name, value in one.fields.items()}
    yield [StoredRecord(kind.name, "3", held)]


def record(kind: RecordKind, text: str, key: str = "1") -> StoredRecord:
    values: Mapping[str, Any] = {"int": 3, "number": 3.5, "bool": True, "text[]": [text, text]}
    fields = {field.name: values.get(field.type, text) for field in kind.fields}
    return StoredRecord(kind.name, key, {"title": text, "link": text, **fields})
