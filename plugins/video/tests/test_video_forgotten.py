"""Forgotten records come back when the video is analysed again, and nothing is paid twice."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import pytest
from lecture import Lecture
from pydantic import BaseModel
from videokit import open_kernel
from vr_kernel import DESTRUCTIVE, WRITES_LOCAL, Call, Kernel, hookimpl, tool
from vr_testing import FakeGemini

SRT = "1\n00:00:00,500 --> 00:00:03,000\nAn embedding stands for the meaning of a text.\n"
SEEN = {
    "title": "Vector search",
    "summary": "How vectors find texts.",
    "key_points": [],
    "timestamps": [],
    "topics": [],
    "sentiment": "neutral",
}
Kinds = Sequence[str]


class Gone(BaseModel):
    """The number of records that were forgotten."""

    count: int


@tool(effects=WRITES_LOCAL | DESTRUCTIVE)
async def shelf_forget(call: Call, kind: str) -> Gone:
    """Forget all records of a kind."""
    keys = await call.services.journal.keys(kind, call.workspace)
    call.forget(kind, *keys)
    return Gone(count=len(keys))


def _tools() -> list[object]:
    return [shelf_forget]


SHELF = {"shelf": SimpleNamespace(vr_tools=hookimpl(_tools))}


@pytest.fixture
def video(tmp_path: Path) -> Path:
    path = tmp_path / "lecture.mkv"
    path.write_bytes(Lecture((3.0, 3.0), fps=1, container="matroska").encode())
    path.with_suffix(".srt").write_text(SRT, "utf-8")
    return path


@pytest.fixture
def gemini() -> Iterator[FakeGemini]:
    with FakeGemini() as fake:
        fake.answer(SEEN)
        yield fake


async def run(kernel: Kernel, who: str | None, tool: str, **arguments: object) -> dict[str, object]:
    outcome = await kernel.run(tool, arguments, principal=who)
    assert outcome.error is None, outcome.error
    return outcome.data


async def live(kernel: Kernel, who: str | None) -> dict[str, list[str]]:
    kinds = ("VideoAnalyses", "VideoSegments")
    return {kind: await kernel.services.journal.keys(kind, who or "default") for kind in kinds}


@pytest.mark.parametrize("who", [None, "anna"])
@pytest.mark.parametrize("forgotten", [["VideoAnalyses"], ["VideoSegments"]])
@pytest.mark.parametrize("window", [{}, pytest.param({"end": 5}, marks=pytest.mark.slow)])
async def test_an_outline_is_recorded_again(
    tmp_path: Path, video: Path, who: str | None, forgotten: Kinds, window: dict[str, object]
) -> None:
    environ = {"VR_KERNEL__SERVE__ROOTS": json.dumps({"anna": [str(tmp_path)]})}
    asked = {"file_path": str(video), **window}
    async with open_kernel(tmp_path, plugins=SHELF, environ=environ) as kernel:
        await run(kernel, who, "video_analyze", **asked)
        before = await live(kernel, who)
        assert all(before.values())
        for kind in forgotten:
            await run(kernel, who, "shelf_forget", kind=kind)
        assert await live(kernel, who) != before
        await run(kernel, who, "video_analyze", **asked)
        assert await live(kernel, who) == before
        last = await kernel.services.journal.last_seq()
        assert (await run(kernel, who, "video_analyze", **asked))["cached"]
        assert await kernel.services.journal.last_seq() == last, (
            "what is there is not recorded again"
        )


async def test_words_are_recorded_again(tmp_path: Path, video: Path) -> None:
    async with open_kernel(tmp_path, plugins=SHELF) as kernel:
        await run(kernel, None, "video_transcript", file_path=str(video))
        before = await live(kernel, None)
        await run(kernel, None, "shelf_forget", kind="VideoSegments")
        await run(kernel, None, "video_transcript", file_path=str(video))
        assert await live(kernel, None) == before
        assert before["VideoSegments"]


async def test_what_a_model_saw_is_recorded_again_and_not_paid_again(
    tmp_path: Path, video: Path, gemini: FakeGemini
) -> None:
    environ = {"GEMINI_API_KEY": "a-key", "GOOGLE_GEMINI_BASE_URL": gemini.url}
    async with open_kernel(tmp_path, plugins=SHELF, environ=environ) as kernel:
        await run(kernel, None, "video_analyze", file_path=str(video))
        before = await live(kernel, None)
        await run(kernel, None, "shelf_forget", kind="VideoAnalyses")
        again = await run(kernel, None, "video_analyze", file_path=str(video))
        assert again["cached"]
        assert before["VideoAnalyses"]
        assert await live(kernel, None) == before
    assert len(gemini.requests_of("generateContent")) == 1


def _moved(folder: Path) -> Path:
    return folder.rename(folder.with_name(f"{folder.name}-moved"))


def _copied(folder: Path) -> Path:
    return Path(shutil.copytree(folder, folder.with_name("restored")))


def _of_the_version_before(folder: Path) -> Path:
    with closing(sqlite3.connect(folder / "state" / "journal.db")) as journal:
        journal.execute("DROP TABLE lineage")
    return folder


def _without_journal(folder: Path) -> Path:
    for file in (folder / "state").glob("journal.db*"):
        file.unlink()
    return folder


@pytest.mark.parametrize(
    "place", [_moved, _copied, _of_the_version_before, _without_journal], ids=lambda it: it.__name__
)
async def test_folders_that_were_moved_or_restored_keep_what_was_paid(
    tmp_path: Path, video: Path, gemini: FakeGemini, place: Callable[[Path], Path]
) -> None:
    environ = {"GEMINI_API_KEY": "a-key", "GOOGLE_GEMINI_BASE_URL": gemini.url}
    before = tmp_path / "before"
    async with open_kernel(before, roots=[tmp_path], environ=environ) as kernel:
        await run(kernel, None, "video_analyze", file_path=str(video))
        recorded = await live(kernel, None)
    for _ in range(2):
        async with open_kernel(place(before), roots=[tmp_path], environ=environ) as kernel:
            assert (await run(kernel, None, "video_analyze", file_path=str(video)))["cached"]
            assert await live(kernel, None) == recorded
        before, place = kernel.config.paths.state.parent, _moved
    assert len(gemini.requests_of("generateContent")) == 1


async def test_while_the_journal_is_damaged_what_was_paid_is_given(
    tmp_path: Path, video: Path, gemini: FakeGemini
) -> None:
    environ = {"GEMINI_API_KEY": "a-key", "GOOGLE_GEMINI_BASE_URL": gemini.url}
    state = tmp_path / "state"
    async with open_kernel(tmp_path, environ=environ) as kernel:
        await run(kernel, None, "video_analyze", file_path=str(video))
    (state / "journal.db").write_bytes(b"garbage!" + (state / "journal.db").read_bytes()[8:])
    async with open_kernel(tmp_path, environ=environ) as kernel:
        outcome = await kernel.run("video_analyze", {"file_path": str(video)})
        assert outcome.error is None, outcome.error
        assert outcome.data["cached"]
        (note,) = [note for note in outcome.notes if "journal" in note]
        assert "is damaged" in note
    assert len(gemini.requests_of("generateContent")) == 1
