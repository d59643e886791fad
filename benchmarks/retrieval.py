"""Quality of search: questions find the texts that people judged to answer them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from statistics import mean

from benchmarks.children import child
from benchmarks.environments import Environments
from benchmarks.rows import Row, bar
from benchmarks.scoring import mean_ndcg

OVER_MEANING = 1.08
OVER_SEED = 1.05

Scores = Mapping[str, Mapping[str, float]]


def measure(environments: Environments, rounds: int) -> list[Row]:
    """Rank every shared collection once; there is nothing to time."""
    del rounds
    data = os.environ.get("VR_TEST_DATA")
    folders = sorted(Path(data, "retrieval").glob("*/")) if data else []
    if not folders:
        return [Row("judged collections", "skipped: VR_TEST_DATA is not set")]
    scores = {folder.name: _scores(environments, folder) for folder in folders}
    return [*(_row(name, found) for name, found in scores.items()), *_means(scores)]


def _row(name: str, found: Mapping[str, float]) -> Row:
    return bar(
        f"nDCG@10 {name}: hybrid, BM25 (bm25s)",
        found["both"],
        floor=found["bm25s"],
        ratio=found["both"] / found["bm25s"],
        sign=">=",
        limit=1.0,
    )


def _means(scores: Scores) -> list[Row]:
    means = {
        way: mean(found[way] for found in scores.values()) for way in next(iter(scores.values()))
    }
    ours = means["both"]
    floors = (("MiniLM alone", "meaning", OVER_MEANING), ("the seed's fusion", "seed", OVER_SEED))
    rows = [
        bar(
            f"nDCG@10 mean: hybrid, {what}",
            ours,
            floor=means[way],
            ratio=ours / means[way],
            sign=">=",
            limit=limit,
        )
        for what, way, limit in floors
    ]
    words = means["words"]
    return [
        *rows,
        Row("nDCG@10 mean: our BM25, bm25s", words, means["bm25s"], ratio=words / means["bm25s"]),
    ]


def _scores(environments: Environments, data: Path) -> dict[str, float]:
    judged: dict[str, dict[str, float]] = {}
    for line in (data / "qrels.tsv").read_text("utf-8").splitlines()[1:]:
        question, text, grade = line.split("\t")
        judged.setdefault(question, {})[text] = float(grade)
    home = environments.home(f"retrieval-{data.name}")
    ours = child(environments.ours.python, "ranking", home, data)
    peer = child(environments.engine("bm25s").python, "bm25", home, data)
    return {way: mean_ndcg(ranked, judged) for way, ranked in {**ours, "bm25s": peer}.items()}
