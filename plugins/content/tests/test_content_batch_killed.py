"""Batches and extractions that are killed at every moment: no committed reply is paid again."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from vr_testing import RecordedRequest
from vr_testing.killed_calls import KilledCalls, PaidCall

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(120),
    pytest.mark.skipif(os.name == "nt", reason="SIGKILL and fork are POSIX"),
]
NAMES = ("first.md", "second.md", "third.md")
FORM = {"type": "object", "properties": {"room": {"type": "string"}}}


@pytest.fixture
def killed(tmp_path: Path) -> Iterator[KilledCalls]:
    files = [tmp_path / name for name in NAMES]
    for file in files:
        file.write_text(f"# {file.stem}\n\nIt begins in the room named {file.stem}.\n")
    with KilledCalls({"content": "vr_plugin_content.plugin"}, tmp_path, files) as calls:
        yield calls


def report(_request: RecordedRequest, word: str) -> Mapping[str, Any]:
    """An analysis of one file."""
    return {"title": word, "summary": word, "key_points": [], "entities": []}


def comparison(request: RecordedRequest, word: str) -> Mapping[str, Any]:
    """A comparison of all files."""
    names = re.findall(r"--- File: (.+?) ---", request.text)
    files = [{"file": name, "title": word, "summary": word, "key_points": []} for name in names]
    return {"summary": word, "commonalities": [], "differences": [], "files": files}


def extraction(_request: RecordedRequest, word: str) -> Mapping[str, Any]:
    """Data with evidence; the first answer to each question does not fit."""
    fits = "does not fit" in _request.text
    return {"data": {"room": word}, "evidence": []} if fits else {"data": word}


BATCH = {"directory": "{home}", "glob_pattern": "*.md"}
EACH = {**BATCH, "mode": "individual"}
CALLS = {
    "each": PaidCall("content_batch_analyze", EACH, report, ordered=False),
    "each, one at a time": PaidCall(
        "content_batch_analyze", EACH, report, {"plugins.content.batch_concurrency": 1}
    ),
    "each, resumed": PaidCall("content_batch_analyze", EACH, report, resumed=True, ordered=False),
    "compared": PaidCall("content_batch_analyze", BATCH, comparison),
    "extracted": PaidCall(
        "content_extract", {"file_path": "{home}/first.md", "schema": FORM}, extraction
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_nothing_is_paid_twice(killed: KilledCalls, name: str) -> None:
    assert killed.check(CALLS[name]) > 1
