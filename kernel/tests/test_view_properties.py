"""Views of any values: what JSON can say is shown in every form, and read back as it was."""

from __future__ import annotations

import asyncio
import json
import math
import re
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict
from view_strategies import any_view, json_values, odd_numbers, texts
from vr_kernel import (
    READ_ONLY,
    Call,
    Config,
    Kernel,
    RecordField,
    RecordKind,
    StoredRecord,
    hookimpl,
    tool,
    visible_json,
)
from vr_kernel.views import Prose, View, as_data, as_markdown, as_text, from_data, paragraphs

STEERS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
PLACES = RecordKind(
    "Places",
    "Places of films.",
    fields=(
        RecordField("title"),
        RecordField("source"),
        RecordField("start", "number"),
        RecordField("page", "int"),
        RecordField("text"),
        RecordField("parts", "text[]"),
    ),
    rerank="text",
    source="source",
    link="source",
    locator=("start", "page"),
)
FIELDS = st.dictionaries(
    st.sampled_from([it.name for it in PLACES.fields]) | texts,
    json_values | odd_numbers,
    max_size=6,
)
FENCED = re.compile("```|~~~")
WORDLESS = re.compile(r"[\W_]+")
DEEP: Any = "end"
for _ in range(500):
    DEEP = {"inner": [DEEP]}
ODD_RECORDS: tuple[dict[str, Any], ...] = (
    {"start": 10**400, "page": math.inf},
    {"start": math.nan, "page": -1e300},
    {"start": True, "page": "7", "parts": 3},
    {"title": DEEP, "text": "T" * 1_000_000, "about": [DEEP]},
    {"text": "[[[]]]", "parts": '{"a": ' * 900 + "1" + "}" * 900},
    {
        "text": "日本語の長い題名" * 40,
        "title": "العربية و English",
        "source": "/films/映画.mp4",
    },
    {},
)
LONG = 500_000
PATTERNS = (
    "*", "**a", "[", "[a](", "[a](https://", "`", "`a", "```\n", "~~~ a\n", "> ", "\n> ", "- ",
    "\n- ", "1. ", "\n1. ", "https://", "https://a", "[1]", "_a", "# ", "\n# ", "a\n", "\n\n",
    " ", "\t", "!", "![", "&a", "|", "\\",
)  # fmt: skip


class Anything(BaseModel):
    """A result with any fields."""

    model_config = ConfigDict(extra="allow")


@tool(effects=READ_ONLY)
async def any_tool(call: Call) -> Anything:
    """Return anything."""
    return Anything()


def shown(view: View) -> str:
    """All forms of a view, whose data is read back as the same view."""
    data = json.dumps(as_data(view), ensure_ascii=False, allow_nan=False)
    assert from_data(json.loads(data.encode())) == view
    text, markdown = as_text(view), as_markdown(view)
    assert not STEERS.search(text)
    assert not STEERS.search(markdown)
    return text


@settings(max_examples=20)
@given(any_view())
def test_any_view_is_shown_and_reads_back_as_it_was(view: View) -> None:
    shown(view)


def test_any_result_and_any_record_is_shown(config: Config) -> None:
    plugin = SimpleNamespace(
        vr_tools=hookimpl(lambda: [any_tool]), vr_record_kinds=hookimpl(lambda: [PLACES])
    )
    with asyncio.Runner() as runner:
        kernel = Kernel(config, {"any": plugin})
        views = kernel.services.views

        @settings(max_examples=25)
        @given(st.dictionaries(texts, json_values | odd_numbers, max_size=5))
        @example({"title": "T" * 1_000_000, "much": ["M" * 1_000_000], "one": "O" * 1_000_000})
        def results(values: dict[str, Any]) -> None:
            seen = json.loads(visible_json(json.dumps(values)))  # as the kernel cleans results
            result = Anything.model_validate(seen)
            shown(runner.run(views.of_result(kernel.tools["any_tool"], result)))

        @settings(max_examples=25)
        @given(st.sampled_from(["Places", "Gone"]), st.lists(FIELDS, min_size=1, max_size=3))
        def records(kind: str, values: list[dict[str, Any]]) -> None:
            stored = [StoredRecord(kind, str(n), it) for n, it in enumerate(values)]
            shown(runner.run(views.of_records(stored)))

        try:
            results()
            records()
            for kind in ("Places", "Gone"):
                for fields in ODD_RECORDS:
                    one = StoredRecord(kind, "1", fields)
                    shown(runner.run(views.of_records([one])))
                    shown(runner.run(views.of_records([one, one])))
        finally:
            runner.run(kernel.aclose())


@given(texts)
def test_the_words_of_prose_stay_in_order(text: str) -> None:
    told = View("", [Prose(text)]).blocks[0]
    assert isinstance(told, Prose)
    read = "".join(f"{each.mark}{each.text}" for each in paragraphs(told.text))
    if "](" not in told.text and not FENCED.search(told.text):
        assert WORDLESS.sub("", read) == WORDLESS.sub("", told.text)


@pytest.mark.slow
@pytest.mark.parametrize("pattern", PATTERNS)
def test_prose_takes_time_in_proportion(pattern: str) -> None:
    """Half a million signs: their square would take hours, and the limit of tests ends it."""
    text = pattern * (LONG // len(pattern))
    shown(View("Long", [Prose(text)]))
