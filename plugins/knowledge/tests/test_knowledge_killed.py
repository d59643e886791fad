"""Tools of the knowledge plugin that pay, killed again and again: nothing is paid twice."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from vr_testing.gemini.request import RecordedRequest
from vr_testing.killed_calls import KilledCalls, PaidCall

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(240),
    pytest.mark.skipif(os.name == "nt", reason="SIGKILL and fork are POSIX"),
]
REFINED = {
    "store.backend": "embedded",
    "store.embedder": "gemini",
    "plugins.knowledge.reranker_enabled": "true",
    "plugins.knowledge.reranker_provider": "model",
    "plugins.knowledge.flash_summarize": "true",
    "plugins.knowledge.refining_deadline_s": 60,
    "models.retry_base_delay_s": 0.01,
}
NOTES = {
    "collection": "Notes",
    "properties": [
        {"text": "A fox crossed the frozen river at dawn."},
        {"text": "An owl slept; the fox did not cross."},
    ],
}


@pytest.fixture
def killed(tmp_path: Path) -> Iterator[KilledCalls]:
    plugins = {"knowledge": "vr_plugin_knowledge.plugin", "sample": "knowledge_samples:SampleKinds"}
    plugins |= {"words": "knowledge_samples:SampleEmbedder"}
    with KilledCalls(plugins, tmp_path) as calls:
        yield calls


INGESTED = [("knowledge_ingest", NOTES), ("knowledge_search", {"query": "river"})]


def answer(request: RecordedRequest, word: str) -> Any:
    """Answers of the models; that to a question fits when it is corrected."""
    shape = str(request.schema)
    if "scores" in shape:
        return {"scores": [{"passage": n, "score": float(f"0.{word}")} for n in (1, 2)]}
    if "summaries" in shape:
        return {"summaries": [{"hit": 1, "summary": word, "useful_properties": []}]}
    if "concepts" in shape:
        return {"concepts": [{"name": word, "quote": "fox"}], "relations": []}
    if "does not fit its schema" in request.text:
        return {"answered": True, "claims": [{"text": word, "citations": []}]}
    return {"answered": word}


CALLS = {
    "a question": PaidCall(
        "knowledge_ask", {"query": "What did the fox cross?"}, answer, REFINED, before=INGESTED
    ),
    "a search": PaidCall(
        "knowledge_search", {"query": "What did the fox cross?"}, answer, REFINED, before=INGESTED
    ),
    "concepts": PaidCall(
        "knowledge_extract",
        {"collections": ["Notes"]},
        answer,
        {"store.embedder": "words"},
        before=[("knowledge_ingest", NOTES)],
        ordered=False,
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_nothing_that_was_committed_is_paid_again(name: str, killed: KilledCalls) -> None:
    print(f"{killed.check(CALLS[name])} kills")  # noqa: T201
