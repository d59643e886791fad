"""Odd but honest calls: not one of them is refused."""

from __future__ import annotations

import unicodedata
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from abuse_bench import Bench
from tool_arguments import ALWAYS, CLIP

pytestmark = pytest.mark.asyncio(loop_scope="module")
NAMES = [
    "with space.mp4", " leading.mp4", "trailing .mp4", "two  spaces.mp4", ".hidden.mp4",
    "..double.mp4", "...mp4", "many.dots.in.it.mp4", "UPPER.MP4", "MiXeD.Mp4", "it's.mp4",
    'say "hi".mp4', "back`tick.mp4", "semi;colon.mp4", "am&persand.mp4", "dollar$HOME.mp4",
    "per%20cent.mp4", "per%cent.mp4", "hash#1.mp4", "question?.mp4", "star*.mp4", "[brackets].mp4",
    "{braces}.mp4", "(round) [2024].mp4", "equals=.mp4", "plus+.mp4", "comma,.mp4", "at@.mp4",
    "ex!clam.mp4", "pipe|.mp4", "less<more>.mp4", "colon:.mp4", "back\\slash.mp4", "~tilde.mp4",
    "-dash.mp4", "--flag.mp4", "caf\u00e9.mp4", "\u65e5\u672c\u8a9e.mp4", "\u0440\u0443\u0441.mp4",
    "\u0639\u0631\u0628.mp4", "\u05e2\u05d1\u05e8.mp4", "\U0001f3ac film.mp4", "\u0939\u093f.mp4",
    "\U0001f468\u200d\U0001f469\u200d\U0001f467.mp4", "\uac00.mp4", "CON.mp4", "NUL.mp4", "1.mp4",
    unicodedata.normalize("NFD", "d\u00e9compos\u00e9.mp4"), f"{'n' * 240}.mp4", "tab\t.mp4",
    "etc/passwd.mp4", "a/b/c/d/e/f.mp4", "sp ace/in folder.mp4", "root-evil/x.mp4",
]  # fmt: skip
WINDOWS: list[dict[str, Any]] = [
    {"start": "0"}, {"start": "00:01"}, {"start": "0:01"}, {"start": "00:00:01"}, {"start": 1},
    {"start": 1.5}, {"start": "1.5"}, {"end": "2"}, {"end": 2}, {"end": "00:02.5"}, {"end": 4.5},
    {"start": "1", "end": "3"}, {"start": 0, "end": 0.5}, {"start": " 1 "}, {"start": "0:0:2"},
]  # fmt: skip
SEARCHES: list[dict[str, Any]] = [
    {"limit": 1}, {"limit": 100}, {"limit": 10.0}, {"alpha": 0}, {"alpha": 1}, {"alpha": 0.333},
    {"collections": []}, {"collections": ["all"]}, {"collections": ["VideoSegments"]},
    {"collections": None}, {"search_type": "keyword"}, {"search_type": "semantic"},
    {"date_from": "2000-01-01"}, {"date_from": "2026-02-28T23:59:59Z"}, {"date_to": "2030-12-31"},
    {"date_from": "2024-02-29", "date_to": "2024-02-29"}, {"date_to": "2026-01-01T00:00:00+05:30"},
    {"evidence_tier": "primary"}, {"source_tool": "video_analyze"}, {"category": "a category"},
]  # fmt: skip
QUERIES = [
    "caf\u00e9 \u2192 na\u00efve", "\u4ec0\u4e48\u662f\u5411\u91cf", "what's a \"vector\"?",
    "C++ vs. C#", "a AND b OR c NOT d", "50% (of it)", "foo-bar_baz", "x" * 2000, "\U0001f600", "1",
    "one\ntwo", "https://example.com/a?b=c", "SELECT * FROM talk; -- really",
    "O'Reilly", "\u05e9\u05dc\u05d5\u05dd",
]  # fmt: skip
OTHERS: list[tuple[str, dict[str, Any]]] = [
    ("job_list", {"limit": 1}), ("job_list", {"limit": 100}), ("job_list", {"state": None}),
    ("job_list", {"state": "failed"}), ("infra_usage", {"since": "2020-02-29"}),
    ("infra_usage", {"by": "day", "since": "0001-01-01"}), ("infra_cache", {"action": "list"}),
    ("infra_cache", {"content_id": "f" * 64}), ("infra_configure", {}),
    ("infra_configure", {"temperature": 0}), ("infra_configure", {"temperature": 2}),
    ("infra_configure", {"thinking_level": "low"}), ("infra_plugins", {}),
    ("knowledge_stats", {"collection": "VideoAnalyses"}), ("knowledge_schema", {}),
    ("knowledge_schema", {"collection": "VideoSegments"}),
    ("knowledge_fetch", {"object_id": "anything at all", "collection": "VideoAnalyses"}),
    ("video_scenes", {"max_scenes": 1}), ("video_scenes", {"max_scenes": 200}),
    ("video_transcript", {"language": "EN-us"}), ("video_transcript", {"format": "vtt"}),
    ("video_analyze", {"fps": 0.1}), ("video_analyze", {"fps": 24}),
    ("video_analyze", {"instruction": "What's on \u00absl\u00efde\u00bb?\n\n- a\n\t\U0001f600"}),
    ("video_analyze", {"instruction": "why? " * 4000}), ("video_analyze", {"detail": "full"}),
    ("video_analyze", {"output_schema": {}}),
    ("video_analyze", {"output_schema": {"type": "object", "properties": {"a": {}}}}),
]  # fmt: skip


@pytest.fixture(scope="module")
def named(inside: Path) -> Path:
    """The folder with the clip under every name, captions beside it."""
    whole = inside / CLIP
    for name in NAMES:
        path = inside / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.hardlink_to(whole)
        captions = path.with_name(f"{path.name.rpartition('.')[0]}.srt")
        if not captions.exists():
            captions.hardlink_to(whole.with_suffix(".srt"))
    (inside / "inner.mp4").symlink_to(whole)
    return inside


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def watched(bench: Bench, named: Path) -> Bench:
    """The bench after the clip was watched."""
    await bench.kernel.call("video_analyze", file_path=str(named / CLIP))
    return bench


GIVEN = [*SEARCHES, *({"query": query} for query in QUERIES)]


async def _accepted(bench: Bench, tool: str, arguments: dict[str, Any]) -> None:
    outcome = await bench.call(tool, arguments, tool)
    assert outcome.error is None, f"{outcome.error.message} {outcome.error.hint}"
    bench.verdict()


def sampled(cases: list[Any], every: int) -> list[Any]:
    """Mark all cases slow but one of so many; those stand for all of them in the fast tests."""
    return [
        case
        if n % every == 0
        else pytest.param(*(case if isinstance(case, tuple) else [case]), marks=pytest.mark.slow)
        for n, case in enumerate(cases)
    ]


@pytest.mark.parametrize("name", [*sampled(NAMES, every=12), "inner.mp4"])
async def test_names_of_files(watched: Bench, name: str) -> None:
    path = str(watched.inside / name)
    await _accepted(watched, "video_scenes", {"file_path": path, "ocr": False})
    await _accepted(watched, "video_transcript", {"file_path": path})
    relative = f"./{name}" if name.startswith("~") else name
    await _accepted(watched, "video_scenes", {"file_path": relative, "ocr": False})


@pytest.mark.parametrize(
    "tool", ["video_transcript", pytest.param("video_scenes", marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("window", WINDOWS, ids=str)
async def test_parts_of_a_video(watched: Bench, tool: str, window: dict[str, Any]) -> None:
    more = {"ocr": False} if tool == "video_scenes" else {}
    await _accepted(watched, tool, {"file_path": CLIP, **more, **window})


@pytest.mark.parametrize("given", sampled(GIVEN, every=3), ids=str)
async def test_searches(watched: Bench, given: dict[str, Any]) -> None:
    await _accepted(watched, "knowledge_search", {"query": "recall", **given})


@pytest.mark.parametrize(("tool", "given"), sampled(OTHERS, every=3), ids=str)
async def test_everything_else(watched: Bench, tool: str, given: dict[str, Any]) -> None:
    filled = {"file_path": CLIP} if tool.startswith("video_") else {}
    if tool == "video_scenes":
        filled["ocr"] = ALWAYS["ocr"]
    await _accepted(watched, tool, {**filled, **given})


async def test_there_are_enough() -> None:
    assert len(NAMES) + len(WINDOWS) + len(SEARCHES) + len(QUERIES) + len(OTHERS) >= 60
