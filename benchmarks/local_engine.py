"""The local engine: what it finds on recordings whose truth is known, and how fast."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

from benchmarks.environments import ROOT, Environments
from benchmarks.local_job import Done, run_job
from benchmarks.long_video import long_video
from benchmarks.questions import QUESTIONS
from benchmarks.rows import Row, bar
from benchmarks.scoring import distance, match_times, plain, words

TALK = ROOT / "src" / "video_research" / "talk.mp4"
TRUTH = ROOT / "tests" / "data" / "talk.truth.json"
SCREENCAST_CHANGES = (11.3, 23.7, 30.5, 38.2, 49.6)
SPOKEN = (
    "And so, my fellow Americans, ask not what your country can do for you, ask what you can do"
    " for your country."
)
TOLERANCE_S = 1.0
MOST_TRIES = 3
Truth = list[dict[str, Any]]
Run = Callable[[str, Path], Done]


def measure(environments: Environments, rounds: int) -> list[Row]:
    """Run every job in a process of its own; of those with a bar on time, the fastest counts."""
    tries = min(rounds, MOST_TRIES)
    truth: Truth = json.loads(TRUTH.read_text("utf-8"))
    long = long_video(environments.folder / "media")
    with tempfile.TemporaryDirectory() as folder:
        run = partial(_run, Path(folder), count())
        return [
            *_scenes(run("scenes", TALK), truth),
            *_analysis(run("analysis", TALK), truth),
            *_speed("speech on the talk", "speech", _fastest(run, tries, "speech", TALK), limit=8),
            *_shared_data(run),
            *_media(_fastest(run, tries, "media", long)),
            *_changes("10 min of 720p", run("changes", long), [t * 15.0 for t in range(1, 40)]),
        ]


def _run(folder: Path, numbers: Any, job: str, path: Path) -> Done:
    return run_job(job, path, folder / str(next(numbers)))


def _fastest(run: Run, tries: int, job: str, path: Path) -> Done:
    """A busy neighbour can only slow a job down."""
    return min((run(job, path) for _ in range(tries)), key=lambda d: sum(d.seconds.values()))


def _shared_data(run: Run) -> list[Row]:
    """Rows that need recordings which do not ship."""
    data = os.environ.get("VR_TEST_DATA")
    if not data:
        return [Row("screencast, 11 s of clear speech", "skipped: VR_TEST_DATA is not set")]
    media = Path(data) / "media"
    screencast = run("changes", media / "screencast.mp4")
    speech = run("speech", media / "jfk.flac")
    wrong = distance(words(speech.found["text"]), words(SPOKEN))
    return [
        *_changes("screencast", screencast, SCREENCAST_CHANGES, held=True),
        bar("wrong words in 11 s of clear speech", wrong, sign="<=", limit=1, unit="of 22"),
        *_speed("speech on those 11 s", "speech", speech),
    ]


def _scenes(done: Done, truth: Truth) -> list[Row]:
    found = done.found["scenes"]
    wrong = total = 0
    for slide in truth:
        middle = (slide["start"] + slide["end"]) / 2
        shown = next((s["text"] for s in found if s["start"] <= middle < s["end"]), "")
        expected = plain("\n".join([slide["title"], *slide["bullets"]]))
        wrong += distance(plain(shown), expected)
        total += len(expected)
    return [
        *_found(
            "talk",
            [s["start"] for s in found if s["start"] > 0],
            [s["start"] for s in truth[1:]],
            held=True,
        ),
        bar("character error rate of the slides", wrong / total, sign="<=", limit=0.03),
        Row(
            "text recognition, s a picture",
            done.seconds["reading"] / done.found["read"],
            target="~ 0.6",
        ),
    ]


def _analysis(done: Done, truth: Truth) -> list[Row]:
    seconds = done.seconds
    first = [
        bool(hits) and _is_of(hits[0]["locator"], truth[slide])
        for (_, slide), hits in zip(QUESTIONS, done.found["answers"], strict=True)
    ]
    missed = [text for (text, _), hit in zip(QUESTIONS, first, strict=True) if not hit]
    return [
        bar("questions whose slide is found first", sum(first), sign=">=", limit=5, unit="of 6"),
        *(Row(f"  missed: {text}", "") for text in missed),
        *_speed("whole analysis of the talk", "analysis", done),
        Row("  its peak memory, MB", done.peak_mb),
        Row("  again, from the cache, ms", seconds["again"] * 1000),
        Row("a question, ms", seconds["questions"] / len(QUESTIONS) * 1000),
    ]


def _media(done: Done) -> list[Row]:
    found, seconds = done.found, dict(done.seconds)
    between = seconds.pop("pictures between")
    return [
        bar(
            "probe, chapters, key frames, sound, x real time",
            found["duration"] / sum(seconds.values()),
            sign=">=",
            limit=100,
            unit="on 10 min of 720p",
        ),
        *(Row(f"  of it {part}, s", spent) for part, spent in seconds.items()),
        bar("  peak memory, MB", found["peak_mb"], sign="<=", limit=150, unit="MB"),
        Row("  of it before the job", done.before_mb),
        Row(f"{found['between']} pictures between key frames, s each", between / found["between"]),
    ]


def _changes(what: str, done: Done, true: Sequence[float], *, held: bool = False) -> list[Row]:
    times = [time for time in done.found["times"] if time > 0]
    return [
        *_found(what, times, true, held=held),
        *_speed(f"  finding them ({what})", "changes", done),
        Row("  peak memory, MB", done.peak_mb),
    ]


def _found(
    what: str, times: Sequence[float], true: Sequence[float], *, held: bool = False
) -> list[Row]:
    match = match_times(times, true, TOLERANCE_S)
    name = f"changes found, {what}"
    if not held:
        return [Row(name, match.found, target=f"of {len(true)}"), Row("  false", match.false)]
    return [
        bar(name, match.found, sign=">=", limit=len(true), unit=f"of {len(true)}"),
        bar("  false ones", match.false, sign="<=", limit=0),
        bar("  worst error in time, s", match.worst_s, sign="<=", limit=TOLERANCE_S),
    ]


def _speed(what: str, part: str, done: Done, *, limit: float | None = None) -> list[Row]:
    factor = done.found["duration"] / done.seconds[part]
    name = f"{what}, x real time"
    row = Row(name, factor) if limit is None else bar(name, factor, sign=">=", limit=limit)
    return [row]


def _is_of(locator: dict[str, Any], slide: dict[str, Any]) -> bool:
    middle = (locator["start"] + locator["end"]) / 2
    return bool(slide["start"] - TOLERANCE_S <= middle <= slide["end"] + TOLERANCE_S)
