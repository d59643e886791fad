"""Weaviate beside the embedded store: the same ranks, and how fast a journal is delivered.

Needs a Weaviate server (see plugins/knowledge/tests/weaviate_server.py) and, in the folder that
VR_TEST_DATA names, `retrieval/` with judged sets in BEIR's form; without either it is skipped.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from vr_kernel import Change, Query, RecordField, RecordKind, Store
from vr_testing import open_kernel

from benchmarks.environments import ROOT, Environments
from benchmarks.rows import Row, bar
from benchmarks.scoring import mean_ndcg

MODES = ("hybrid", "keyword", "semantic")
DEPTH = 10
BATCH = 500
MOST_APART = 0.01
LEAST_ROWS_S = 200
PASSAGES = RecordKind(
    "BenchmarkPassages",
    "Passages of a judged set.",
    (
        RecordField("title", vectorised=True, searchable=True),
        RecordField("text", vectorised=True, searchable=True),
    ),
    rerank="text",
)


@dataclass(frozen=True)
class JudgedSet:
    """Texts, questions, and which texts answer which question how well."""

    name: str
    changes: list[Change]
    questions: Mapping[str, str]
    grades: Mapping[str, Mapping[str, float]]


def measure(environments: Environments, rounds: int) -> list[Row]:
    """Fill both stores with each set and ask all its questions in every mode."""
    del rounds
    sys.path.insert(0, str(ROOT / "plugins" / "knowledge" / "tests"))
    servers = import_module("weaviate_server")
    folder = Path(os.environ.get("VR_TEST_DATA", "")) / "retrieval"
    sets = sorted(path for path in folder.glob("*") if (path / "corpus.jsonl").is_file())
    if not sets:
        return [Row("Weaviate", "skipped: VR_TEST_DATA is not set")]
    with tempfile.TemporaryDirectory() as home:
        server = servers.WeaviateServer(Path(home))
        try:
            server.start()
        except servers.NoServerError as reason:
            return [Row("Weaviate", f"skipped: {reason}")]
        try:
            kept = environments.folder / "weaviate-ranks"
            return [row for path in sets for row in asyncio.run(_compare(path, kept, server))]
        finally:
            server.stop()


async def _compare(path: Path, kept: Path, server: Any) -> list[Row]:
    judged = _read_set(path)
    folder = kept / judged.name
    for old in folder.glob("state/*"):
        # The vectors stay: what is measured is the stores, not the embedder.
        if not old.name.startswith("vectors.db"):
            old.unlink() if old.is_file() else None
    folder.mkdir(parents=True, exist_ok=True)
    from vr_embedder_minilm import plugin as minilm
    from vr_plugin_knowledge import plugin as knowledge

    settings = {
        "store.embedder": "minilm",
        "plugins.knowledge.weaviate_url": server.url,
        "plugins.knowledge.weaviate_grpc_port": server.grpc_port,
        "plugins.knowledge.weaviate_prefix": f"{judged.name.title()}_",
    }
    plugins = {"knowledge": knowledge, "minilm": minilm}
    async with open_kernel(plugins, settings=settings, folder=folder) as kernel:
        get = kernel.services.providers.get
        embedded, weaviate = (get(Store, name) for name in ("embedded", "weaviate"))
        # The vectors are made before the clock starts.
        texts = [PASSAGES.vector_text(change.fields or {}) for change in judged.changes]
        for start in range(0, len(texts), BATCH):
            await kernel.services.vectors.embed_documents(texts[start : start + BATCH])
        queries = {
            key: await kernel.services.vectors.embed_query(text)
            for key, text in judged.questions.items()
        }
        speed = {store.name: await _fill(store, judged.changes) for store in (embedded, weaviate)}
        rows = []
        for mode in MODES:
            ours = await _quality(weaviate, judged, queries, mode)
            floor = await _quality(embedded, judged, queries, mode)
            apart = abs(ours - floor)
            what = f"{judged.name}, {mode}: nDCG@10 (floor: embedded)"
            rows.append(
                bar(what, ours, sign="<=", limit=MOST_APART, by=apart, unit="apart", floor=floor)
            )
        rate = f"{judged.name}: rows/s delivered, vectors given (floor: embedded)"
        return [
            *rows,
            bar(rate, speed["weaviate"], sign=">=", limit=LEAST_ROWS_S, floor=speed["embedded"]),
        ]


async def _fill(store: Store, changes: Sequence[Change]) -> float:
    await store.open([PASSAGES])
    started = time.perf_counter()
    for start in range(0, len(changes), BATCH):
        await store.apply(changes[start : start + BATCH])
    while await store.pending_vectors():  # noqa: ASYNC110 - a store tells nobody when it is done
        await asyncio.sleep(0.05)
    return len(changes) / (time.perf_counter() - started)


async def _quality(
    store: Store, judged: JudgedSet, queries: Mapping[str, list[float]], mode: Any
) -> float:
    ranked = {}
    for key, text in judged.questions.items():
        vector = None if mode == "keyword" else queries[key]
        hits = await store.search(Query(text, vector, mode, limit=DEPTH))
        ranked[key] = [hit.record.key for hit in hits]
    return mean_ndcg(ranked, judged.grades)


def _read_set(path: Path) -> JudgedSet:
    texts = [json.loads(line) for line in (path / "corpus.jsonl").read_text("utf-8").splitlines()]
    asked = [json.loads(line) for line in (path / "queries.jsonl").read_text("utf-8").splitlines()]
    grades: dict[str, dict[str, float]] = defaultdict(dict)
    for line in (path / "qrels.tsv").read_text("utf-8").splitlines()[1:]:
        query, text, grade = line.split("\t")
        grades[query][text] = float(grade)
    return JudgedSet(
        path.name,
        [_change(seq, text) for seq, text in enumerate(texts, start=1)],
        {each["_id"]: each["text"] for each in asked if each["_id"] in grades},
        grades,
    )


def _change(seq: int, text: Mapping[str, str]) -> Change:
    return Change(
        seq=seq,
        workspace="default",
        kind=PASSAGES.name,
        key=text["_id"],
        fields={"title": text.get("title", ""), "text": text["text"]},
        provenance={},
        created_at="2026-01-01T00:00:00.000000+00:00",
    )
