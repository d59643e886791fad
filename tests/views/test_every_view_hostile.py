"""Each tool's result and each kind's record is shown, whatever texts strangers put into it."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Any

import pytest
from hostile_checks import check_everywhere
from hostile_texts import shares
from pydantic import BaseModel, ValidationError
from schema_filling import fill_schema
from vr_kernel import READ_ONLY, Call, RecordField, RecordKind, StoredRecord, hookimpl, tool
from vr_kernel.views import View, ViewRenderer
from vr_pages import plugin as pages
from vr_plugin_knowledge import plugin as knowledge
from vr_plugin_video import plugin as video
from vr_testing import TrialKernel, open_kernel

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


STRANGE = RecordKind("StrangeThings", "Of a plugin that is gone.", (RecordField("about"),), "about")


class Stranger:
    """A plugin without a view."""

    vr_tools = staticmethod(hookimpl(lambda: [strange_find]))


@pytest.fixture
async def kernel() -> AsyncIterator[TrialKernel]:
    plugins = {"video": video, "knowledge": knowledge, "pages": pages, "stranger": Stranger}
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
