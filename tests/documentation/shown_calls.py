"""A call of every tool, in the order of somebody's afternoon, and what they print."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from paper_server import papers_at
from shown_research import PAPERS, RESEARCH, SEARCH, answer_to, names_after, write_documents
from vr_testing import FakeGemini
from vr_testing.gemini import RecordedRequest
from youtube_server import KEY, FakeYouTube, playlist_item, thread, video

FILES = Path(__file__).parent / "shown"
CAPTIONS = Path(__file__).with_name("talk.vtt")
"""The words of the talk, as a speech model hears others on another processor."""
LONGEST = 25
"""Most lines of an output that are kept; the rest is `…`."""
VIDEO_ID = "dQw4w9WgXcQ"
PLAYLIST = "PLabcdefghijk"
QUESTION = "Which index trades memory for speed?"
PUMP = """# Pump P7

It runs on twelve volts and weighs 4 kg.

## Care

Clean the filter once a month.
"""
OTHER_PUMP = PUMP.replace("P7", "P9").replace("twelve", "forty")
SCHEMA = '{{"type": "object", "properties": {{"volts": {{"type": "integer"}}}}}}'
BEFORE = (
    ("video_analyze", "vr video analyze talk.mp4 --engine local"),
    ("video_transcript", "vr video transcript talk.mp4"),
    ("video_scenes", "vr video scenes talk.mp4"),
    ("video_clip", "vr video clip talk.mp4 --start 0:47 --end 1:00"),
    ("video_export", "vr video export talk.mp4 --engine local"),
    ("video_metadata", f"vr video metadata https://youtu.be/{VIDEO_ID}"),
    ("video_comments", f"vr video comments https://youtu.be/{VIDEO_ID} --analyze"),
    ("video_playlist", f"vr video playlist https://www.youtube.com/playlist?list={PLAYLIST}"),
    ("video_create_session", "vr video create-session talk.mp4"),
    ("video_continue_session", f'vr video continue-session {{session}} "{QUESTION}"'),
    ("video_list_sessions", "vr video list-sessions"),
    ("video_export_session", "vr video export-session {session}"),
    ("video_batch_analyze", "vr video batch-analyze talks --engine local"),
    ("content_read", "vr content read pumps/p7.md"),
    ("content_analyze", "vr content analyze pumps/p7.md"),
    ("content_batch_analyze", "vr content batch-analyze --directory pumps"),
    ("content_extract", f"vr content extract pumps/p7.md '{SCHEMA}'"),
    (
        "knowledge_ingest",
        """vr knowledge ingest ConceptKnowledge '{{"concept_name": "HNSW", "state": "fuzzy"}}'""",
    ),
    ("knowledge_search", 'vr knowledge search "cosine similarity" --limit 4'),
    ("knowledge_ask", f'vr knowledge ask "{QUESTION}"'),
    ("knowledge_fetch", "vr knowledge fetch {record} VideoSegments"),
    ("knowledge_related", "vr knowledge related {record} VideoSegments --limit 3"),
    ("knowledge_extract", "vr knowledge extract --collections VideoSegments"),
    ("knowledge_graph", "vr knowledge graph --concept HNSW"),
    ("infra_usage", "vr infra usage"),
    ("infra_estimate", "vr video analyze talk.mp4 --estimate"),
    ("knowledge_schema", "vr knowledge schema"),
    ("knowledge_stats", "vr knowledge stats"),
    (
        "knowledge_forget",
        f"vr knowledge forget --source https://www.youtube.com/watch?v={VIDEO_ID} --dry-run",
    ),
    *SEARCH,
    *RESEARCH,
)
MEANWHILE = (
    ("job_status", "vr job status {running}"),
    ("job_cancel", "vr job cancel {running}"),
)
AFTER = (
    ("job_list", "vr job list"),
    ("job_result", "vr job result {done}"),
    ("infra_cache", "vr infra cache"),
    ("infra_configure", "vr infra configure --preset budget"),
    ("infra_plugins", "vr infra plugins"),
    ("infra_models", "vr infra models"),
)
TOOLS = sorted(tool for tool, _ in (*BEFORE, *MEANWHILE, *AFTER))
CHANGING = (
    (r"202[5-9]-\d\d-\d\d \d\d:\d\d", "2026-01-05 09:30"),
    (r"(?<![/-])\b(?=[a-f]*\d)[0-9a-f]{8}([0-9a-f]{4}|[0-9a-f]{24})?\b(?!-)", "5d41402a"),
    (r"\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b", "7f3a91c2-0d6e-5b1c-9a54-1f2e3d4c5b6a"),
    (r"\b\d+(\.\d+)? (?=(kB|bytes)\b)", "100 "),
    (r"(?m)^((?:knowledge_ask|total) +)\$[\d.]+( +\d+) +\d+", r"\1$0.0100\2   1000"),
)
"""Values that are another with each run, and what stands for them.

Moments, ids that are drawn, sizes, and the tokens of a question, which has paths in it.
"""


@dataclass(frozen=True)
class Desk:
    """A folder to work in, its environment, and the names that calls refer to."""

    folder: Path
    environment: Mapping[str, str]
    names: dict[str, str]

    def shown(self, line: str) -> str:
        """The output of a command, on stdout."""
        done = subprocess.run(
            [sys.executable, "-m", "vr_cli", *shlex.split(line)[1:]],
            cwd=self.folder,
            env=dict(self.environment),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=280,
            check=False,
        )
        assert done.returncode == 0, f"$ {line}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    @contextmanager
    def begun(self, line: str) -> Iterator[None]:
        """A command that is at work meanwhile."""
        words = [sys.executable, "-m", "vr_cli", *shlex.split(line)[1:]]
        with subprocess.Popen(
            words,
            cwd=self.folder,
            env=dict(self.environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        ) as process:
            try:
                yield
            finally:
                process.terminate()

    def job(self, state: str) -> str:
        """The beginning of the id of the newest job in a state."""
        found = json.loads(self.shown(f"vr job list --state {state} --json"))
        return str(found["jobs"][0]["job_id"])[:8]

    def await_end(self, job_id: str) -> None:
        """Look at a job until it is at work no more."""
        while json.loads(self.shown(f"vr job status {job_id} --json"))["state"] == "running":
            pass

    def settle(self) -> None:
        """Have all vectors made, a few with each command."""
        while json.loads(self.shown("vr knowledge stats --json"))["pending_vectors"]:
            pass

    def call(self, tool: str, line: str) -> tuple[str, str]:
        """The tool, and what its file says."""
        return tool, kept(f"$ {line}\n{self.shown(line)}")


def kept(text: str) -> str:
    """A text without what changes, and not too long."""
    for pattern, stands in CHANGING:
        text = re.sub(pattern, stands, text)
    lines = text.rstrip().splitlines()
    cut = [*lines[: LONGEST - 1], "…"] if len(lines) > LONGEST else lines
    return "\n".join(cut) + "\n"


def all_shown(folder: Path, talk: Path, environment: Mapping[str, str]) -> dict[str, str]:
    """Everything that is shown, by tool."""
    (folder / "talks").mkdir(parents=True)
    for place in (folder, folder / "talks"):
        shutil.copy(talk, place / "talk.mp4")
        shutil.copy(CAPTIONS, place)
    (folder / "pumps").mkdir()
    (folder / "pumps" / "p7.md").write_text(PUMP, "utf-8")
    (folder / "pumps" / "p9.md").write_text(OTHER_PUMP, "utf-8")
    write_documents(folder)
    with FakeGemini() as gemini, youtube().running() as site, papers_at(PAPERS) as papers:
        gemini.answer(said)
        desk = Desk(folder, {**environment, **services(gemini, site, papers)}, {})
        return dict(afternoon(desk, gemini))


def services(gemini: FakeGemini, site: FakeYouTube, papers: str) -> dict[str, str]:
    """The variables that make commands ask the fakes."""
    return {
        "COLUMNS": "80",
        "GEMINI_API_KEY": "any",
        "GOOGLE_GEMINI_BASE_URL": gemini.url,
        "YOUTUBE_API_KEY": KEY,
        "VR_VIDEO__YOUTUBE_API_ENDPOINT": site.url,
        "VR_VIDEO__YOUTUBE_SITE": site.url,
        "VR_KERNEL__HTTP__ALLOWED_HOSTS": papers.removeprefix("http://"),
        "VR_SEARCH__PAPERS_ASKED_AT_ONCE": "1",
        "VR_SEARCH__SEMANTIC_SCHOLAR_BASE_URL": papers,
        "VR_SEARCH__OPENALEX_BASE_URL": papers,
        "VR_SEARCH__ARXIV_BASE_URL": papers,
    }


def afternoon(desk: Desk, gemini: FakeGemini) -> Iterator[tuple[str, str]]:
    """All calls, one after another."""
    for tool, line in BEFORE:
        yield desk.call(tool, line.format(**desk.names))
        learn(desk, tool)
    desk.names["done"] = desk.job("done")
    yield from look(desk, gemini)
    for tool, line in AFTER:
        yield desk.call(tool, line.format(**desk.names))


def learn(desk: Desk, tool: str) -> None:
    """Note the names that later calls refer to."""
    if tool in {"knowledge_ingest", "knowledge_schema"}:
        desk.settle()
    if tool == "video_create_session":
        found = json.loads(desk.shown("vr video list-sessions --json"))
        desk.names["session"] = found["sessions"][0]["session_id"]
    if tool == "knowledge_search":
        line = f'vr knowledge search "{QUESTION}" --limit 1 --json'
        desk.names["record"] = json.loads(desk.shown(line))["results"][0]["object_id"]
    desk.names.update(names_after(tool, desk.shown))


def look(desk: Desk, gemini: FakeGemini) -> Iterator[tuple[str, str]]:
    """A job at which somebody looks before they cancel it."""
    paid = len(gemini.requests_of("generateContent"))
    with gemini.hold(), desk.begun("vr video analyze talk.mp4"):
        gemini.wait(lambda: len(gemini.requests_of("generateContent")) > paid, 240)
        desk.names["running"] = desk.job("running")
        for tool, line in MEANWHILE:
            yield desk.call(tool, line.format(**desk.names))
        desk.await_end(desk.names["running"])


def youtube() -> FakeYouTube:
    """A video with comments, in a playlist."""
    said = ("The part on trees is the best there is.", "Slides please!", "Too fast for me.")
    return FakeYouTube(
        videos={VIDEO_ID: video(VIDEO_ID)},
        threads={VIDEO_ID: [thread(number, text) for number, text in enumerate(said, 1)]},
        items={PLAYLIST: [playlist_item(0, VIDEO_ID), playlist_item(1, "aqz-KE-bpKQ")]},
    )


def said(request: RecordedRequest) -> Any:
    """The answer of a model that knows the talk by heart."""
    if (researched := answer_to(request)) is not None:
        return researched
    wanted = set((request.schema or {}).get("properties", {}))
    if "claims" in wanted:
        return {"answered": True, "claims": [claim(request)]}
    if "concepts" in wanted:
        return concepts(request.text)
    answers = [answer for field, answer in SAID.items() if field in wanted]
    return answers[0] if answers else ANALYSIS if wanted else HNSW


def claim(request: RecordedRequest) -> dict[str, Any]:
    """A sentence with the passage that says so."""
    quote = "HNSW: graph, fast, uses more memory"
    line = next(each for each in request.text.splitlines() if quote in each)
    number = int(line.partition('"passage": ')[2].partition(",")[0])
    cited = [{"passage": number, "quote": quote}]
    return {"text": "HNSW, which is a graph, is fast and uses more memory.", "citations": cited}


def concepts(text: str) -> dict[str, Any]:
    """Of all concepts those that the text has the words for."""
    return {
        kind: [each for each in known if each["quote"] in text] for kind, known in KNOWN.items()
    }


KNOWN: dict[str, list[dict[str, str]]] = {
    "concepts": [
        {
            "name": "HNSW",
            "description": "A graph of near neighbours.",
            "quote": "HNSW: graph, fast",
        },
        {"name": "IVF", "description": "Clusters.", "quote": "IVF: clusters, needs training"},
        {"name": "Vector index", "quote": "three common index types"},
        {"name": "Embedding", "quote": "a list of numbers that stands for the meaning"},
    ],
    "relations": [
        {
            "from_concept": "HNSW",
            "to_concept": "IVF",
            "type": "related_to",
            "quote": "HNSW: graph, fast, uses more memory",
        },
    ],
}
REACTIONS = {
    "sentiment_positive": 2,
    "sentiment_negative": 1,
    "sentiment_neutral": 0,
    "themes_positive": ["the part on trees"],
    "themes_critical": ["too fast"],
    "consensus": "Most find it useful, and want the slides.",
}
ANALYSIS = {
    "title": "Vector search in practice",
    "summary": "How vectors find texts.",
    "key_points": ["A flat index is exact but slow."],
    "timestamps": [],
    "topics": ["vector search"],
    "sentiment": "neutral",
}
VOLTS = {"quote": "It runs on twelve volts", "place": "Pump P7"}
FILTER = {"quote": "Clean the filter once a month", "place": "Pump P7 > Care"}
REPORT = {
    "title": "Pump P7",
    "summary": "A light pump for twelve volts, with one filter to clean.",
    "key_points": [
        {"text": "It takes twelve volts.", **VOLTS},
        {"text": "Its filter wants cleaning each month.", **FILTER},
        {"text": "It is quiet.", "quote": "at most 40 decibels", "place": "Pump P7"},
    ],
    "entities": ["P7"],
}
COMPARISON = {
    "summary": "Two pumps that differ in their voltage alone.",
    "commonalities": [{"text": "Both filters are cleaned monthly.", "files": ["p7.md", "p9.md"]}],
    "differences": [{"text": "The P9 takes forty volts.", "files": ["p9.md"]}],
    "files": [
        {
            "file": "p7.md",
            "title": "Pump P7",
            "summary": "A pump for twelve volts.",
            "key_points": [{"text": "It takes twelve volts.", **VOLTS}],
        },
        {
            "file": "p9.md",
            "title": "Pump P9",
            "summary": "A pump for forty volts.",
            "key_points": [
                {
                    "text": "It takes forty volts.",
                    "quote": "It runs on forty volts",
                    "place": "Pump P9",
                }
            ],
        },
    ],
}
SAID = {
    "consensus": REACTIONS,
    "evidence": {"data": {"volts": 12}, "evidence": [{"path": "/volts", **VOLTS}]},
    "commonalities": COMPARISON,
    "entities": REPORT,
}
"""Answers by a field that only their schemas have."""
HNSW = "An HNSW index (0:23): it is a graph, fast, and uses more memory."
