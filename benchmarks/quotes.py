"""The quote check on real texts: true quotes with damage are found, invented ones are not."""

from __future__ import annotations

import os
import random
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from vr_kernel.quoting.quotes import Passage, QuoteIndex

from benchmarks.environments import ROOT, Environments
from benchmarks.rows import Row, bar

COUNT = 2_000
"""Quotes of each kind."""
REFUSED_LIMIT = 1.0
"""Percent of true quotes of a kind that may be refused; of inventions none may pass."""
SOURCE_WORDS, LOOKED_UP = 100_000, 40
SEED = "1"
"""The rules were mended on these quotes; docs/decisions/what-a-quote-check-finds.md has others."""


def measure(environments: Environments, rounds: int) -> list[Row]:
    """Try every kind once; only the time of looking up is repeated."""
    del environments
    data = os.environ.get("VR_TEST_DATA")
    files = sorted(Path(data, "retrieval").glob("*/corpus.jsonl")) if data else []
    if not files:
        return [Row("judged collections", "skipped: VR_TEST_DATA is not set")]
    sys.path.insert(0, str(ROOT / "kernel" / "tests"))
    import quote_inventions  # type: ignore[import-not-found]

    texts = [text for file in files for text in quote_inventions.read_collection(file)]
    return [*_true(texts), *_invented(texts), *_times(texts, rounds)]


def _true(texts: Sequence[Any]) -> list[Row]:
    from quote_damage import Damage  # type: ignore[import-not-found]
    from quote_trials import try_true  # type: ignore[import-not-found]

    rows: list[Row] = []
    for kind in Damage:
        tally = try_true(kind, texts, COUNT, random.Random(f"{kind.name} {SEED}"))
        refused = 100 * tally.refused / tally.tried
        what = f"% refused: {kind.value}"
        rows += [
            bar(what, refused, sign="<=", limit=REFUSED_LIMIT),
            bar(f"not moved back: {kind.value}", tally.unmoved, sign="<=", limit=0),
        ]
    return rows


def _invented(texts: Sequence[Any]) -> list[Row]:
    from quote_inventions import Invention
    from quote_trials import try_invented

    rows: list[Row] = []
    for kind in Invention:
        tally = try_invented(kind, texts, COUNT, random.Random(f"{kind.name} {SEED}"))
        what = f"believed of {tally.tried}: {kind.value}"
        rows.append(bar(what, tally.believed, sign="<=", limit=0))
    return rows


def _times(texts: Sequence[Any], rounds: int) -> list[Row]:
    """Processor time with a source of 100,000 words."""
    from quote_inventions import Invention, Text, invented

    sentences: list[str] = []
    words = 0
    for sentence in (it for text in texts for it in text.sentences):
        sentences.append(sentence)
        words += len(sentence.split())
        if words >= SOURCE_WORDS:
            break
    passages = [Passage(it, n, n + 1) for n, it in enumerate(sentences)]
    index = QuoteIndex(passages)
    rng = random.Random(SEED)
    said = [rng.choice(sentences) for _ in range(LOOKED_UP)]
    tried = (invented(Invention.SWAPPED, Text(sentences), rng) for _ in range(LOOKED_UP))
    lies = [quote for quote in tried if quote]
    return [
        Row("s to prepare 100,000 words", _least(lambda: QuoteIndex(passages), min(rounds, 3))),
        Row("ms for a true quote", _look_up(index, said, rounds)),
        Row("ms for an invented quote", _look_up(index, lies, rounds)),
    ]


def _look_up(index: QuoteIndex, quotes: Sequence[str], rounds: int) -> float:
    spent = _least(lambda: [index.find(quote, 0.0) for quote in quotes], rounds)
    return 1000 * spent / len(quotes)


def _least(work: Callable[[], object], rounds: int) -> float:
    spent = []
    for _ in range(rounds):
        begun = time.process_time()
        work()
        spent.append(time.process_time() - begun)
    return min(spent)
