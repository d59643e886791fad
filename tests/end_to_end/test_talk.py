"""The demo's job on the talk: watched through a real server, held against its truth file."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from installation import REPOSITORY, SERVE
from vr_server import connect

pytestmark = pytest.mark.slow
TRUTH: list[dict[str, Any]] = json.loads(
    (REPOSITORY / "tests" / "data" / "talk.truth.json").read_text("utf-8")
)
# Question -> the slide that answers it; 0 and 3 are paraphrases, 4 and 5 are answered by speech.
QUESTIONS = [
    ("Which kind of index trades memory for speed?", 2),
    ("How far did recall improve?", 4),
    ("How do I compute the cosine of two vectors with numpy?", 3),
    ("How is the sense of a sentence turned into numbers?", 1),
    ("What can you do for your country?", 5),
    ("What is the dot product divided by?", 3),
]


@pytest.fixture(scope="module")
def job(
    talk: Path, speech_model: Path, fresh_environment: Callable[..., dict[str, str]]
) -> dict[str, Any]:
    """Everything a client sees when it watches the talk and asks about it."""
    environment = fresh_environment(
        VR_ALLOWED_ROOTS=str(talk.parent), VR_VIDEO__SPEECH_MODEL=str(speech_model)
    )
    found = asyncio.run(_watch_and_ask(talk, environment))
    return {**found, "environment": environment}


async def _watch_and_ask(talk: Path, environment: dict[str, str]) -> dict[str, Any]:
    progress: list[tuple[float, float | None, str | None]] = []

    async def heard(done: float, total: float | None, message: str | None) -> None:
        progress.append((done, total, message))

    source = {"file_path": str(talk)}
    async with connect(SERVE, env=environment, cwd=talk.parent, on_progress=heard) as client:
        first = await client.call("video_analyze", **source, engine="local")
        seen = list(progress)
        again = await client.call("video_analyze", **source, engine="local")
        scenes = await client.call("video_scenes", **source)
        transcript = await client.call("video_transcript", **source)
        thumbnail = await client.read(scenes["scenes"][0]["thumbnail_uri"])
        await _vectors_there(client)
        answers = [
            await client.call(
                "knowledge_search", query=question, collections=["VideoSegments"], limit=3
            )
            for question, _ in QUESTIONS
        ]
        everywhere = await client.call("knowledge_search", query=QUESTIONS[0][0], limit=3)
        stats = await client.call("knowledge_stats")
    return {
        "first": first,
        "again": again,
        "progress": seen,
        "scenes": scenes["scenes"],
        "transcript": transcript,
        "thumbnail": thumbnail,
        "answers": answers,
        "everywhere": everywhere,
        "stats": stats,
    }


async def _vectors_there(client: Any) -> None:
    async with asyncio.timeout(60):
        while True:
            if not (await client.call("knowledge_stats"))["pending_vectors"]:
                return
            await asyncio.sleep(0.1)


def test_chapters_are_the_slides(job: dict[str, Any]) -> None:
    moments = job["first"]["timestamps"]
    assert len(moments) == len(TRUTH)
    for moment, slide in zip(moments, TRUTH, strict=True):
        assert abs(moment["seconds"] - slide["start"]) < 1
        assert slide["title"] in moment["description"]


def test_every_change_is_found_and_no_other(job: dict[str, Any]) -> None:
    starts = [scene["start"] for scene in job["scenes"]]
    assert len(starts) == len(TRUTH)
    for start, slide in zip(starts, TRUTH, strict=True):
        assert abs(start - slide["start"]) < 1


def test_text_on_slides_is_read(job: dict[str, Any]) -> None:
    wrong = total = 0
    for scene, slide in zip(job["scenes"], TRUTH, strict=True):
        expected = _plain("\n".join([slide["title"], *slide["bullets"]]))
        wrong += _distance(_plain(scene["text"]), expected)
        total += len(expected)
    assert wrong / total <= 0.03


def test_speech_is_recognised(job: dict[str, Any]) -> None:
    segments = job["transcript"]["segments"]
    assert job["transcript"]["origin"] == "speech"
    closing = " ".join(s["text"] for s in segments if s["end"] > TRUTH[5]["start"])
    expected = _words(TRUTH[5]["speech"])
    heard = _words(closing)[-len(expected) :]
    assert _distance(heard, expected) <= 1


def test_thumbnails_are_pictures(job: dict[str, Any]) -> None:
    assert job["thumbnail"][:3] == b"\xff\xd8\xff"
    for scene in job["scenes"]:
        assert Path(scene["thumbnail_path"]).is_file()


def test_progress_shows_while_it_works(job: dict[str, Any]) -> None:
    numbers = [done for done, _, _ in job["progress"]]
    assert len(numbers) >= 3
    assert numbers == sorted(numbers)
    assert any(message for _, _, message in job["progress"])


def test_a_second_call_answers_from_the_cache(job: dict[str, Any]) -> None:
    assert (job["first"]["cached"], job["again"]["cached"]) == (False, True)
    assert {**job["first"], "cached": True} == job["again"]


def test_the_engine_says_what_it_is(job: dict[str, Any]) -> None:
    assert job["first"]["engine"] == "local"
    assert "without a language model" in job["first"]["summary"]


def test_questions_find_the_right_slide_first(job: dict[str, Any]) -> None:
    right = [
        _answers(found["results"][0], TRUTH[slide])
        for (_, slide), found in zip(QUESTIONS, job["answers"], strict=True)
    ]
    assert sum(right) >= 5, list(zip(QUESTIONS, right, strict=True))


def test_hits_carry_place_link_and_thumbnail(job: dict[str, Any]) -> None:
    for found in job["answers"]:
        best = found["results"][0]
        assert best["link"].startswith("file://")
        assert f"#t={int(best['locator']['start'])}" in best["link"]
        assert best["properties"]["thumbnail_uri"].startswith("vr://artifacts/")
        assert best["source"]


def test_a_search_over_everything_finds_moment_and_analysis(job: dict[str, Any]) -> None:
    hits = [(hit["collection"], hit.get("derived", False)) for hit in job["everywhere"]["results"]]
    assert hits == [("VideoSegments", False)] * 3 + [("VideoAnalyses", True)]
    assert all("#t=" in each["link"] for each in job["everywhere"]["results"][-1]["sources"])


def test_events_are_recorded_once(job: dict[str, Any]) -> None:
    counts = job["stats"]["collections"]
    found = counts if isinstance(counts, dict) else {c["collection"]: c["count"] for c in counts}
    assert found["VideoAnalyses"] == 1


def test_a_terminal_shows_the_analysis_on_a_page_of_forty_lines(
    job: dict[str, Any], talk: Path
) -> None:
    command = [*SERVE[:-1], "video", "analyze", str(talk), "--engine", "local"]
    environment = {**job["environment"], "COLUMNS": "80"}
    done = subprocess.run(
        command, env=environment, cwd=talk.parent, capture_output=True, text=True, check=True
    )
    lines = done.stdout.splitlines()
    assert lines[0] == job["first"]["title"]
    assert len(lines) <= 40
    assert max(map(len, lines)) <= 80
    assert not re.search("[0-9a-f]{40}", done.stdout)
    assert all(
        done.stdout.count(moment["description"]) <= 2 for moment in job["first"]["timestamps"]
    )


def _answers(hit: dict[str, Any], slide: dict[str, Any]) -> bool:
    middle = (hit["locator"]["start"] + hit["locator"]["end"]) / 2
    return bool(slide["start"] - 1 <= middle <= slide["end"] + 1)


def _plain(text: str) -> str:
    """Without bullet glyphs, `n / m` footers and white space, as the figure asks."""
    without_footers = re.sub(r"(?m)^\s*\d+\s*/\s*\d+\s*$", "", text)
    return re.sub(r"[\s•·▪◦●]+", "", without_footers)


def _words(text: str) -> list[str]:
    return re.findall(r"[a-z']+", text.lower())


def _distance(left: Any, right: Any) -> int:
    """Levenshtein distance of two sequences."""
    row = list(range(len(right) + 1))
    for i, a in enumerate(left, 1):
        previous, row[0] = row[0], i
        for j, b in enumerate(right, 1):
            previous, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, previous + (a != b))
    return row[-1]
