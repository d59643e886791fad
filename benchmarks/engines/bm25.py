"""The ranking of bm25s, stemmed and without stop words: `FOLDER DATA` as for ours."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import bm25s
import Stemmer

from benchmarks.engines.driving import RESULT

TOP = 10


def rank(data: Path) -> dict[str, list[str]]:
    """Ids of the best texts by question."""
    texts, questions = (_read(data / f"{name}.jsonl") for name in ("corpus", "queries"))
    keys, stem = list(texts), Stemmer.Stemmer("english")
    index = bm25s.BM25(k1=1.2, b=0.75)
    quiet = {"stopwords": "en", "stemmer": stem, "show_progress": False}
    index.index(bm25s.tokenize(list(texts.values()), **quiet), show_progress=False)
    tokens = bm25s.tokenize(list(questions.values()), **quiet)
    found, _ = index.retrieve(tokens, k=TOP, show_progress=False)
    return {
        key: [keys[number] for number in row] for key, row in zip(questions, found, strict=True)
    }


def _read(file: Path) -> dict[str, str]:
    rows = map(json.loads, file.read_text("utf-8").splitlines())
    return {row["_id"]: f"{row.get('title', '')} {row['text']}".strip() for row in rows}


if __name__ == "__main__":
    print(RESULT + json.dumps(rank(Path(sys.argv[2]))))
