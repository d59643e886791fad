"""Our rankings of a judged collection, by words, meaning and both, and the seed's fusion.

`FOLDER DATA` on the command line: what is kept for the next run, and the collection.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from vr_embedder_minilm import plugin as minilm
from vr_kernel import Kernel, Query, RecordField, RecordKind, hookimpl, load_config
from vr_kernel.state import Entry
from vr_plugin_knowledge import plugin as knowledge

from benchmarks.engines.committing import commit
from benchmarks.engines.driving import RESULT

KIND = RecordKind(
    "Texts",
    "Texts of a judged collection.",
    (RecordField("text", description="Text", vectorised=True, searchable=True),),
    rerank="text",
)
TOP = 10
SEED_DEPTH = 50
SEED_K = 60
SEED_WEIGHTS = (4.0, 1.0)
BATCH = 500


class Texts:
    """The kind of the texts."""

    @hookimpl
    def vr_record_kinds(self) -> list[RecordKind]:
        """Texts."""
        return [KIND]


def read_rows(file: Path) -> dict[str, str]:
    """Id and text, title first, of each line of a BEIR file."""
    rows = map(json.loads, file.read_text("utf-8").splitlines())
    return {row["_id"]: f"{row.get('title', '')} {row['text']}".strip() for row in rows}


async def rank(folder: Path, data: Path) -> dict[str, dict[str, list[str]]]:
    """Ids of the best texts, best first, by way of ranking and question."""
    homes = {f"VR_{name}_DIR": str(folder / name.lower()) for name in ("STATE", "CACHE", "CONFIG")}
    config = load_config({**homes, "VR_STORE__EMBEDDER": "minilm"}, working_folder=folder)
    plugins = {"knowledge": knowledge, "minilm": minilm, "texts": Texts()}
    texts = read_rows(data / "corpus.jsonl")
    tokens = {key: _tokens(text) for key, text in texts.items()}
    found: dict[str, dict[str, list[str]]] = {w: {} for w in ("words", "meaning", "both", "seed")}
    async with Kernel.open(config, plugins) as kernel:
        await _record(kernel, texts)
        for key, question in read_rows(data / "queries.jsonl").items():
            vector = tuple(await kernel.services.vectors.embed_query(question))
            nearest = await _ask(kernel, question, vector, "semantic", SEED_DEPTH)
            found["words"][key] = await _ask(kernel, question, None, "keyword", TOP)
            found["meaning"][key] = nearest[:TOP]
            found["both"][key] = await _ask(kernel, question, vector, "hybrid", TOP)
            found["seed"][key] = _seed(nearest, _overlap(question, tokens))[:TOP]
    return found


async def _record(kernel: Kernel, texts: Mapping[str, str]) -> None:
    store = kernel.services.store
    if (await store.count("Texts", "default")).get("", 0) < len(texts):
        entries = [Entry("Texts", key, {"text": text}) for key, text in texts.items()]
        for start in range(0, len(entries), BATCH):
            batch = entries[start : start + BATCH]
            await commit(kernel, batch)
    await store.catch_up(600)
    while await store.pending_vectors():  # noqa: ASYNC110 - it says so only when asked
        await asyncio.sleep(0.2)


async def _ask(kernel: Kernel, text: str, vector: Any, mode: Any, limit: int) -> list[str]:
    hits = await kernel.services.store.search(
        Query(text, vector, mode, kinds=("Texts",), limit=limit)
    )
    return [hit.record.key for hit in hits]


def _tokens(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", text.lower()))


def _overlap(question: str, tokens: Mapping[str, frozenset[str]]) -> list[str]:
    wanted = _tokens(question)
    shared = {key: len(wanted & held) for key, held in tokens.items()}
    best = sorted((key for key in shared if shared[key]), key=lambda key: -shared[key])
    return best[:SEED_DEPTH]


def _seed(*lists: Sequence[str]) -> list[str]:
    """Reciprocal rank fusion as the seed has it: vectors count four times."""
    scores: dict[str, float] = {}
    for weight, keys in zip(SEED_WEIGHTS, lists, strict=True):
        for place, key in enumerate(keys, start=1):
            scores[key] = scores.get(key, 0.0) + weight / (SEED_K + place)
    return sorted(scores, key=lambda key: -scores[key])


if __name__ == "__main__":
    print(RESULT + json.dumps(asyncio.run(rank(Path(sys.argv[1]), Path(sys.argv[2])))))
