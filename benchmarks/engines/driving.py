"""Trials that every engine is put through, and the way of its figures out of the process."""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol

from benchmarks.engines.samples import Samples, group_of

RESULT = "RESULT "
BATCH = 1000
SINGLE = 300
TOP = 10
WARM = 5


class Engine(Protocol):
    """A store of rows with text, group and vector."""

    hybrid: bool

    def add(self, samples: Samples, first: int, count: int, *, singly: bool) -> None:
        """Keep rows; when it returns they are found."""

    def vector(self, vector: Any, group: str | None) -> list[int]:
        """The nearest rows."""

    def both(self, text: str, vector: Any) -> list[int]:
        """The best rows by words and vector."""


def drive(engine: Engine, size: int, rounds: int) -> dict[str, Any]:
    """Fill an engine and ask it; milliseconds are medians."""
    samples = Samples(size + SINGLE)
    # They are made when first asked for; that is no work of the engine's.
    assert len(samples.texts) == len(samples.vectors)
    started = time.perf_counter()
    for first in range(0, size, BATCH):
        engine.add(samples, first, min(BATCH, size - first), singly=False)
    filled = time.perf_counter()
    engine.add(samples, size, SINGLE, singly=True)
    ended = time.perf_counter()
    questions = samples.questions(WARM + rounds)
    found: dict[str, Any] = {
        "batch_rows_s": size / (filled - started),
        "single_rows_s": SINGLE / (ended - filled),
    }
    found["vector_ms"], _ = timed(questions, lambda q: engine.vector(q.vector, None))
    found["filtered_ms"], _ = timed(questions, lambda q: engine.vector(q.vector, group_of(3)))
    if engine.hybrid:
        ask = timed(questions, lambda q: engine.both(q.text, q.vector))
        found["hybrid_ms"], found["hybrid"] = ask
    return found


def report(run: Callable[[Path, int, int], dict[str, Any]]) -> None:
    """Run what `FOLDER SIZE ROUNDS` on the command line say, and print the figures."""
    folder, size, rounds = sys.argv[1:4]
    print(RESULT + json.dumps(run(Path(folder), int(size), int(rounds))))


def timed(questions: Sequence[Any], ask: Callable[[Any], Any]) -> tuple[float, Any]:
    """Milliseconds of a question, the median, and all answers; the first ones warm up."""
    milliseconds, answers = [], []
    for question in questions:
        started = time.perf_counter()
        answers.append(ask(question))
        milliseconds.append(1000 * (time.perf_counter() - started))
    return statistics.median(milliseconds[WARM:]), answers
