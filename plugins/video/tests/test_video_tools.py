from __future__ import annotations

import asyncio
import io
import json
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
from lecture import Lecture, draw_slide
from videokit import Reader, failure, line, open_kernel, recorded, silence
from vr_kernel import Code, Kernel, VrError, estimate_tokens

TITLES = ("Embeddings", "Index types", "Results")
SRT = """1
00:00:00,500 --> 00:00:03,000
An embedding stands for the meaning of a text.

2
00:00:05,000 --> 00:00:07,500
A flat index is exact but slow.

3
00:00:10,000 --> 00:00:13,000
Recall rose to ninety four percent.
"""


@pytest.fixture(scope="module")
def lecture() -> bytes:
    """Three slides of five, five and six seconds, without sound and chapters."""
    return Lecture((5.0, 5.0, 6.0), fps=5, size=(320, 180), gop=40, container="matroska").encode()


@pytest.fixture
def video(tmp_path, lecture) -> Path:
    path = tmp_path / "lecture.mkv"
    path.write_bytes(lecture)
    return path


@pytest.fixture
def captioned(video) -> Path:
    video.with_suffix(".en.srt").write_text(SRT)
    return video


def slide_reader() -> Reader:
    """Reads the three slides in the order in which they are shown."""
    seen: list[bytes] = []

    def read(image):
        seen.append(image)
        title = TITLES[(len(seen) - 1) % len(TITLES)]
        return [
            line(title, 30, height=40),
            line(f"What {title.lower()} are about", 120),
            line("3 / 6", 340),
        ]

    return Reader(read)


@pytest.fixture
def link(video) -> str:
    return video.resolve().as_uri()


async def test_scenes_have_times_pictures_and_text(tmp_path, video, link):
    reader = slide_reader()
    async with open_kernel(tmp_path, plugins={"reader": reader.plugin()}) as kernel:
        result = await kernel.call("video_scenes", file_path=str(video))
        pictures = [
            kernel.services.artifacts.find(s.thumbnail_uri.rpartition("/")[2])
            for s in result.scenes
        ]
        again = await kernel.call("video_scenes", file_path=str(video))
        moments = await recorded(kernel, "VideoSegments")
    assert [scene.start for scene in result.scenes] == pytest.approx([0, 5, 10], abs=0.3)
    assert [scene.title for scene in result.scenes] == list(TITLES)
    assert result.scenes[0].text == "Embeddings\nWhat embeddings are about"
    assert [str(picture.path) for picture in pictures] == [s.thumbnail_path for s in result.scenes]
    assert {picture.mime for picture in pictures} == {"image/jpeg"}
    assert not result.cached
    assert again.cached
    assert again.scenes == result.scenes
    assert len(reader.seen) == 3
    assert [m["title"] for m in moments] == list(TITLES)
    assert {m["origin"] for m in moments} == {"slide"}
    assert moments[1]["link"] == f"{link}#t=5"


NUMBERED = (4.0, 2.5, 6.0, 2.5, 5.0, 2.5)
SMALL = (320, 180)


def number_reader() -> Reader:
    """Reads the number of the slide that a picture shows."""
    import numpy as np
    from PIL import Image

    slides = [draw_slide(number, SMALL).mean(axis=2) for number in range(len(NUMBERED))]

    def read(image):
        with Image.open(io.BytesIO(image)) as picture:
            shown = np.asarray(picture.convert("L"), float)
        away = [abs(slide - shown).mean() for slide in slides]
        return [line(f"Slide {away.index(min(away))}", 30, height=40)]

    return Reader(read)


async def test_fewer_scenes_are_the_longest_as_they_are(tmp_path):
    path = tmp_path / "numbered.mkv"
    path.write_bytes(Lecture(NUMBERED, fps=4, size=SMALL, container="matroska").encode())
    plugins = {"reader": number_reader().plugin()}
    async with open_kernel(tmp_path, plugins=plugins) as kernel:
        few = await kernel.call("video_scenes", file_path=str(path), max_scenes=3)
        await kernel.call("video_analyze", file_path=str(path))
        all_of_it = await recorded(kernel, "VideoSegments")
    async with open_kernel(tmp_path, plugins=plugins, max_scenes="3") as kernel:
        analysis = await kernel.call("video_analyze", file_path=str(path))
        segments = await recorded(kernel, "VideoSegments")
    longest = [("Slide 0", 0, 4), ("Slide 2", 6.5, 12.5), ("Slide 4", 15, 20)]
    for scenes in (few.scenes, analysis.slides):
        assert [scene.text for scene in scenes] == [text for text, _, _ in longest]
        assert [scene.start for scene in scenes] == pytest.approx([s for _, s, _ in longest])
        assert [scene.end for scene in scenes] == pytest.approx([e for _, _, e in longest])
    assert few.found == 6
    assert "3 longest of 6" in few.limits[-1]
    assert "00:22 in 3 parts" in analysis.summary
    assert [each["text"] for each in all_of_it] == [f"Slide {n}" for n in range(len(NUMBERED))]
    assert sorted(segments, key=lambda each: each["start"]) == all_of_it


async def test_coarse_scenes_and_windows_do_not_replace_what_is_recorded(tmp_path, captioned):
    async with open_kernel(tmp_path, plugins={"reader": slide_reader().plugin()}) as kernel:
        await kernel.call("video_analyze", file_path=str(captioned))
        before = await recorded(kernel, "VideoSegments")
        await kernel.call("video_scenes", file_path=str(captioned), max_scenes=2)
        await kernel.call("video_scenes", file_path=str(captioned), start=6)
        await kernel.call("video_transcript", file_path=str(captioned), start=2, end=7)
        assert await recorded(kernel, "VideoSegments") == before
    assert len(before) == 6


async def test_a_window_of_a_video_that_is_new_is_recorded(tmp_path, captioned):
    async with open_kernel(tmp_path) as kernel:
        await kernel.call("video_transcript", file_path=str(captioned), start=2, end=7)
        assert [m["start"] for m in await recorded(kernel, "VideoSegments")] == [0.5]
        await kernel.call("video_transcript", file_path=str(captioned))
        assert len(await recorded(kernel, "VideoSegments")) == 1


async def test_without_reading_nothing_is_read(tmp_path, video):
    reader = slide_reader()
    async with open_kernel(tmp_path, plugins={"reader": reader.plugin()}) as kernel:
        result = await kernel.call("video_scenes", file_path=str(video), ocr=False)
    assert not reader.seen
    assert not any(scene.text for scene in result.scenes)
    assert not result.limits


async def test_a_window_of_a_video(tmp_path, video):
    async with open_kernel(tmp_path) as kernel:
        result = await kernel.call(
            "video_scenes", file_path=str(video), start="0:04", end=9, ocr=False
        )
    assert [scene.start for scene in result.scenes] == pytest.approx([4, 5], abs=0.3)
    assert result.scenes[-1].end == 9


async def test_no_second_is_called_true(tmp_path, video):
    async with open_kernel(tmp_path) as kernel:
        error = await failure(kernel, "video_scenes", file_path=str(video), start=True)
    assert error.code is Code.INVALID_INPUT
    assert "start: input should be a number" in error.message


async def test_an_analysis_puts_slides_and_words_together(tmp_path, captioned):
    async with open_kernel(tmp_path, plugins={"reader": slide_reader().plugin()}) as kernel:
        result = await kernel.call("video_analyze", file_path=str(captioned))
        full = await kernel.call("video_analyze", file_path=str(captioned), detail="full")
        moments = await recorded(kernel, "VideoSegments")
        analyses = await recorded(kernel, "VideoAnalyses")
    assert result.engine == "local"
    assert result.title == "lecture"
    assert "00:05 Index types" in result.summary
    assert [moment.time for moment in result.timestamps] == ["00:00", "00:05", "00:10"]
    assert result.topics == list(TITLES)
    assert result.transcript is not None
    assert (result.transcript.origin, result.transcript.language) == ("sidecar", "en")
    assert not result.segments
    assert [s.text.split()[0] for s in full.segments] == ["An", "A", "Recall"]
    assert full.cached
    spoken = [m for m in moments if m["origin"] == "speech"]
    assert [m["title"] for m in spoken] == list(TITLES)
    assert spoken[1]["thumbnail_uri"] == result.slides[1].thumbnail_uri
    assert len(analyses) == 1
    assert json.loads(analyses[0]["raw_result"])["video_id"] == result.video_id
    assert analyses[0]["key_points"] == result.key_points


async def test_what_is_missing_is_said_and_comes_once_it_is_there(tmp_path, video):
    async with open_kernel(tmp_path) as kernel:
        poor = await kernel.call("video_analyze", file_path=str(video))
        assert (await kernel.call("video_analyze", file_path=str(video))).cached
    async with open_kernel(tmp_path, plugins={"reader": slide_reader().plugin()}) as kernel:
        rich = await kernel.call("video_analyze", file_path=str(video))
    video.with_suffix(".srt").write_text(SRT)
    async with open_kernel(tmp_path, plugins={"reader": slide_reader().plugin()}) as kernel:
        richest = await kernel.call("video_analyze", file_path=str(video))
    assert any("No TextRecognizer is installed." in limit for limit in poor.limits)
    assert any("No transcript" in limit for limit in poor.limits)
    assert poor.limits[0] == "Nothing could be read or heard in it."
    assert not any("Nothing could be" in limit for limit in rich.limits)
    assert not rich.cached
    assert rich.topics == list(TITLES)
    assert rich.transcript is None
    assert not richest.cached
    assert richest.transcript is not None
    assert not richest.limits


async def test_a_recogniser_that_fails_leaves_the_rest(tmp_path, video):
    def broken(image):
        raise VrError("The model is gone.", Code.UNAVAILABLE, hint="Install it again.")

    async with open_kernel(tmp_path, plugins={"reader": Reader(broken).plugin()}) as kernel:
        first = await kernel.call("video_analyze", file_path=str(video))
    async with open_kernel(tmp_path, plugins={"reader": slide_reader().plugin()}) as kernel:
        second = await kernel.call("video_analyze", file_path=str(video))
    assert any("The model is gone. Install it again." in limit for limit in first.limits)
    assert len(first.slides) == 3
    assert not second.cached
    assert second.topics == list(TITLES)


async def test_what_the_local_engine_cannot_honour_is_named(tmp_path, captioned):
    async with open_kernel(tmp_path) as kernel:
        result = await kernel.call(
            "video_analyze",
            file_path=str(captioned),
            instruction="List all recipes",
            output_schema={"type": "object"},
            thinking_level="low",
            fps=2,
            media_resolution="low",
        )
        plain = await kernel.call("video_analyze", file_path=str(captioned))
        analyses = await recorded(kernel, "VideoAnalyses")
    assert "instruction, output_schema, thinking_level, fps, media_resolution" in result.limits[0]
    assert not plain.cached
    assert not any("thinking_level" in limit for limit in plain.limits)
    assert [a["instruction"] for a in analyses] == ["List all recipes", "Comprehensive analysis"]


async def test_without_the_cache_nothing_is_kept(tmp_path, captioned):
    async with open_kernel(tmp_path) as kernel:
        for _ in range(2):
            result = await kernel.call("video_analyze", file_path=str(captioned), use_cache=False)
            assert not result.cached
        await kernel.call("video_transcript", file_path=str(captioned), use_cache=False)
        await kernel.call("video_scenes", file_path=str(captioned), use_cache=False)
        assert (await kernel.services.cache.stats()).entries == 0
        assert len(await recorded(kernel, "VideoAnalyses")) == 1, "the former one is history"


async def test_a_hit_records_nothing_but_another_workspace_is_another_home(tmp_path, captioned):
    async with open_kernel(tmp_path) as kernel:
        await kernel.call("video_analyze", file_path=str(captioned))
        before = await kernel.services.journal.last_seq()
        assert (await kernel.call("video_analyze", file_path=str(captioned))).cached
        await kernel.call("video_transcript", file_path=str(captioned))
        await kernel.call("video_scenes", file_path=str(captioned))
        assert await kernel.services.journal.last_seq() == before
    async with open_kernel(tmp_path, environ={"VR_STORE__WORKSPACE": "other"}) as kernel:
        assert not (await kernel.call("video_analyze", file_path=str(captioned))).cached
        assert await kernel.services.journal.last_seq() > before


async def test_thumbnails_that_were_cleaned_away_are_made_again(tmp_path, video):
    async with open_kernel(tmp_path) as kernel:
        first = await kernel.call("video_analyze", file_path=str(video))
        for path in kernel.services.artifacts.folder.iterdir():
            path.unlink()
        second = await kernel.call("video_analyze", file_path=str(video))
    assert not second.cached
    assert second.slides[0].thumbnail_uri == first.slides[0].thumbnail_uri


@pytest.mark.slow
@pytest.mark.parametrize("copied", [True, False], ids=["copied", "moved"])
async def test_kept_results_have_their_pictures_in_folders_of_another_place(
    tmp_path, captioned, copied
):
    reader = slide_reader()
    calls: list[tuple[str, dict[str, object]]] = [
        ("video_scenes", {}),
        ("video_analyze", {}),
        ("video_clip", {"start": 1, "format": "jpg"}),
    ]

    async def ask(kernel: Kernel) -> list[Any]:
        return [await kernel.call(t, file_path=str(captioned), **more) for t, more in calls]

    given: dict[str, Any] = {"plugins": {"reader": reader.plugin()}, "roots": [tmp_path]}
    async with open_kernel(tmp_path / "old", **given) as kernel:
        made = await ask(kernel)
    if copied:
        shutil.copytree(tmp_path / "old", tmp_path / "new")
    else:
        (tmp_path / "old").rename(tmp_path / "new")
    read = len(reader.seen)
    async with open_kernel(tmp_path / "new", **given) as kernel:
        scenes, analysis, clip = await ask(kernel)
        folder = kernel.services.artifacts.folder
    assert [result.cached for result in (scenes, analysis, clip)] == [True, True, True]
    assert len(reader.seen) == read
    assert [s.thumbnail_uri for s in scenes.scenes] == [s.thumbnail_uri for s in made[0].scenes]
    assert (analysis.slides, clip.uri) == (made[1].slides, made[2].uri)
    paths = [Path(path) for path in (*(s.thumbnail_path for s in scenes.scenes), clip.path)]
    assert len(paths) == 4
    assert {path.parent for path in paths} == {folder}
    assert all(path.is_file() for path in paths)


async def test_equal_analyses_at_once_are_one(tmp_path, captioned):
    reader = slide_reader()
    async with open_kernel(tmp_path, plugins={"reader": reader.plugin()}) as kernel:
        results = await asyncio.gather(
            *(kernel.call("video_analyze", file_path=str(captioned)) for _ in range(8))
        )
        analyses = await recorded(kernel, "VideoAnalyses")
    assert len(reader.seen) == 3
    assert len(analyses) == 1
    assert sorted(result.cached for result in results) == [False] + [True] * 7
    assert len({result.summary for result in results}) == 1


async def test_a_cancelled_leader_hands_over(tmp_path, captioned):
    gate, reading, waiting = asyncio.Event(), asyncio.Event(), asyncio.Event()

    class Slow(Reader):
        async def recognize(self, image):
            reading.set()
            await gate.wait()
            return await super().recognize(image)

    def report(_done, _total, message):
        if message.startswith("Waiting"):
            waiting.set()

    reader = Slow(slide_reader().read)
    async with open_kernel(tmp_path, plugins={"reader": reader.plugin()}) as kernel:
        arguments = {"file_path": str(captioned)}
        leader = asyncio.create_task(kernel.run("video_analyze", arguments))
        await reading.wait()
        follower = asyncio.create_task(kernel.run("video_analyze", arguments, report))
        await waiting.wait()
        leader.cancel()
        gate.set()
        with pytest.raises(asyncio.CancelledError):
            await leader
        outcome = await follower
        assert outcome.error is None
        assert not outcome.data["cached"]
        assert len(await recorded(kernel, "VideoAnalyses")) == 1


async def test_scenes_are_read_on_when_the_first_of_two_callers_leaves(tmp_path, captioned):
    gate, reading, waiting = asyncio.Event(), asyncio.Event(), asyncio.Event()
    begun: list[bool] = []

    class Slow(Reader):
        async def recognize(self, image):
            begun.append(True)
            reading.set()
            await gate.wait()
            return await super().recognize(image)

    def report(_done, _total, message):
        if message.startswith("Waiting"):
            waiting.set()
        told.append(message)

    told: list[str] = []
    reader = Slow(slide_reader().read)
    async with open_kernel(tmp_path, plugins={"reader": reader.plugin()}) as kernel:
        arguments = {"file_path": str(captioned)}
        leader = asyncio.create_task(kernel.run("video_scenes", arguments))
        await reading.wait()
        follower = asyncio.create_task(kernel.run("video_scenes", arguments, report))
        await waiting.wait()
        leader.cancel()
        await asyncio.wait({leader})
        gate.set()
        outcome = await follower
    assert leader.cancelled()
    assert outcome.error is None
    assert len(begun) == len(outcome.data["scenes"]) == 3
    assert len(set(told)) > 1


async def test_scenes_stay_kept_when_the_call_that_found_them_is_cancelled(tmp_path, captioned):
    reader = slide_reader()

    def cancel(_done, _total, message):
        if message == "Writing the outline":
            analysing.cancel()

    async with open_kernel(tmp_path, plugins={"reader": reader.plugin()}) as kernel:
        arguments = {"file_path": str(captioned)}
        analysing = asyncio.create_task(kernel.run("video_analyze", arguments, cancel))
        with pytest.raises(asyncio.CancelledError):
            await analysing
        scenes = await kernel.call("video_scenes", file_path=str(captioned))
        assert await recorded(kernel, "VideoAnalyses") == []
    assert scenes.cached
    assert len(reader.seen) == 3


async def test_all_who_wait_for_scenes_are_told_that_pictures_are_not_kept(tmp_path, captioned):
    (tmp_path / "state").touch()
    reader = slide_reader()
    async with open_kernel(tmp_path, plugins={"reader": reader.plugin()}) as kernel:
        found = await asyncio.gather(
            *(kernel.call("video_scenes", file_path=str(captioned)) for _ in range(3))
        )
    assert len(reader.seen) == 3
    for scenes in found:
        assert any("were not kept" in limit for limit in scenes.limits)


async def test_progress_rises_to_the_end(tmp_path, captioned):
    seen: list[tuple[float, str]] = []
    async with open_kernel(tmp_path, plugins={"reader": slide_reader().plugin()}) as kernel:
        await kernel.run(
            "video_analyze",
            {"file_path": str(captioned)},
            lambda done, _total, message: seen.append((done, message)),
        )
    numbers = [done for done, _ in seen]
    assert numbers == sorted(numbers)
    assert len(numbers) > 5
    assert all(message for _, message in seen)


async def test_a_cut_off_video_gives_what_is_there(tmp_path, lecture):
    path = tmp_path / "cut.mkv"
    path.write_bytes(lecture[: len(lecture) * 3 // 4])
    async with open_kernel(tmp_path, plugins={"reader": slide_reader().plugin()}) as kernel:
        result = await kernel.call("video_analyze", file_path=str(path))
        scenes = await kernel.call("video_scenes", file_path=str(path))
    assert result.partial
    assert "cut off" in result.limits[0]
    assert result.slides[0].title == "Embeddings"
    assert scenes.partial


async def test_a_state_folder_that_cannot_be_written_costs_the_files_alone(tmp_path, captioned):
    (tmp_path / "state").touch()
    async with open_kernel(tmp_path, plugins={"reader": slide_reader().plugin()}) as kernel:
        for _ in range(2):
            result = await kernel.call("video_analyze", file_path=str(captioned))
            assert not result.cached
        scenes = await kernel.call("video_scenes", file_path=str(captioned))
        transcript = await kernel.call("video_transcript", file_path=str(captioned))
    assert result.topics == list(TITLES)
    assert any("were not kept" in limit for limit in result.limits)
    assert any("were not kept" in limit for limit in scenes.limits)
    assert scenes.scenes[0].thumbnail_uri == ""
    assert transcript.total == 3


@pytest.mark.parametrize("word", ["word ", "言葉", "ቃል "])
async def test_a_long_result_is_shortened_and_kept_whole(word, tmp_path, video):
    def chatty(image):
        return [
            line("Title", 10, height=40),
            *(line(word * 120, 60 + 20 * n) for n in range(12)),
        ]

    async with open_kernel(tmp_path, plugins={"reader": Reader(chatty).plugin()}) as kernel:
        scenes = await kernel.call("video_scenes", file_path=str(video))
        analysis = await kernel.call("video_analyze", file_path=str(video))

    def shown(result):
        return result.scenes if result is scenes else result.slides

    for result in (scenes, analysis):
        assert estimate_tokens(result.model_dump_json()) < 4_200
        assert max(estimate_tokens(it.text) for it in shown(result)) == pytest.approx(75, abs=15)
        assert any("Shortened" in limit for limit in result.limits)
        name = result.result_uri.rpartition("/")[2]
        whole = json.loads(kernel.services.artifacts.find(name).path.read_bytes())
        assert len(whole["scenes" if result is scenes else "slides"]) == 3


BAD_FILES = {
    "empty.mp4": (b"", Code.INVALID_INPUT),
    "text.mp4": (b"this is no video\n" * 100, Code.UNSUPPORTED),
    "zeros.mkv": (bytes(4096), Code.UNSUPPORTED),
    "notes.txt": (b"notes", Code.UNSUPPORTED),
    "noextension": (b"notes", Code.UNSUPPORTED),
}
TOOLS = ("video_analyze", "video_scenes", "video_transcript")


@pytest.mark.parametrize("name", BAD_FILES)
@pytest.mark.parametrize("tool", TOOLS)
async def test_bad_files_are_refused_and_leave_nothing(tmp_path, tool, name):
    content, code = BAD_FILES[name]
    path = tmp_path / name
    path.write_bytes(content)
    async with open_kernel(tmp_path) as kernel:
        error = await failure(kernel, tool, file_path=str(path))
        assert await kernel.services.journal.last_seq() == 0
        assert not kernel.services.artifacts.folder.exists()
    assert error.code is code
    assert error.hint


@pytest.mark.parametrize("tool", TOOLS)
async def test_bad_arguments_are_refused(tmp_path, video, tool):
    (tmp_path / "folder.mp4").mkdir()
    (tmp_path / "inside").mkdir()
    cases = [
        ({}, Code.INVALID_INPUT, "SOURCE_AMBIGUOUS"),
        (
            {"file_path": str(video), "url": "https://youtu.be/dQw4w9WgXcQ"},
            Code.INVALID_INPUT,
            None,
        ),
        ({"file_path": ""}, Code.INVALID_INPUT, "SOURCE_AMBIGUOUS"),
        ({"file_path": str(tmp_path / "no.mp4")}, Code.NOT_FOUND, "FILE_NOT_FOUND"),
        ({"file_path": str(tmp_path / "folder.mp4")}, Code.INVALID_INPUT, None),
        ({"file_path": "/etc/passwd"}, Code.NOT_ALLOWED, None),
        ({"file_path": str(video), "start": 9, "end": 3}, Code.INVALID_INPUT, "TIME_REVERSED"),
        ({"file_path": str(video), "start": "1:00"}, Code.INVALID_INPUT, "TIME_OUTSIDE_VIDEO"),
        ({"file_path": str(video), "end": 90}, Code.INVALID_INPUT, "TIME_OUTSIDE_VIDEO"),
        ({"file_path": str(video), "start": "soon"}, Code.INVALID_INPUT, "TIME_INVALID"),
        ({"url": "https://127.0.0.1/a.mp4"}, Code.NOT_ALLOWED, "URL_NOT_ALLOWED"),
        ({"url": "https://example.com/a"}, Code.INVALID_INPUT, "URL_INVALID"),
        ({"url": "https://youtube.com.evil.com/watch?v=dQw4w9WgXcQ"}, Code.INVALID_INPUT, None),
        (
            {"url": "https://www.youtube.com/playlist?list=PL1"},
            Code.INVALID_INPUT,
            "URL_PARSE_FAILED",
        ),
    ]
    async with open_kernel(tmp_path / "inside", roots=[tmp_path]) as kernel:
        for arguments, code, category in cases:
            error = await failure(kernel, tool, **arguments)
            assert error.code is code, arguments
            assert category in (None, error.category), arguments
            assert error.hint, arguments
        assert await kernel.services.journal.last_seq() == 0


async def test_a_source_in_the_wrong_place_is_told_the_right_one(tmp_path):
    async with open_kernel(tmp_path) as kernel:
        misplaced = await failure(kernel, "video_scenes", file_path="https://youtu.be/dQw4w9WgXcQ")
        assert misplaced.code is Code.INVALID_INPUT
        assert "as url" in misplaced.hint
        for url in ("talk.mp4", "file:///talk.mp4"):
            error = await failure(kernel, "video_scenes", url=url)
            assert error.code is Code.INVALID_INPUT
            assert "as file_path" in error.hint


async def test_a_file_outside_the_roots_is_refused(tmp_path, video):
    (tmp_path / "inside").mkdir()
    link = tmp_path / "inside" / "link.mkv"
    link.symlink_to(video)
    async with open_kernel(tmp_path / "inside") as kernel:
        for path in (video, link):
            error = await failure(kernel, "video_scenes", file_path=str(path))
            assert error.code is Code.NOT_ALLOWED


async def test_gemini_says_what_to_set(tmp_path, video):
    async with open_kernel(tmp_path) as kernel:
        error = await failure(kernel, "video_analyze", file_path=str(video), engine="gemini")
    assert error.code is Code.AUTH
    assert "GEMINI_API_KEY" in error.hint
    assert "engine='local'" in error.hint


async def test_a_bottomless_schema_is_refused(tmp_path, video):
    schema: dict[str, object] = {}
    for _ in range(200):
        schema = {"properties": {"x": schema}}
    async with open_kernel(tmp_path) as kernel:
        for bad in (schema, {"description": "x" * 70_000}):
            error = await failure(kernel, "video_analyze", file_path=str(video), output_schema=bad)
            assert error.code is Code.TOO_LARGE
        fine = await kernel.run("video_analyze", {"file_path": str(video), "output_schema": {}})
        assert fine.error is None


async def test_missing_speech_recognition_names_the_install_command(tmp_path, monkeypatch):
    path = tmp_path / "sound.wav"
    path.write_bytes(silence(2))
    monkeypatch.setitem(sys.modules, "faster_whisper", None)
    async with open_kernel(tmp_path) as kernel:
        for tool in ("video_transcript", "video_analyze"):
            error = await failure(kernel, tool, file_path=str(path))
            assert error.code is Code.UNAVAILABLE
            assert 'pip install "video-research[local]"' in error.hint


async def test_without_the_picture_library_the_words_remain(tmp_path, captioned, monkeypatch):
    with monkeypatch.context() as without:
        without.setitem(sys.modules, "PIL", None)
        async with open_kernel(tmp_path) as kernel:
            poor = await kernel.call("video_analyze", file_path=str(captioned))
            error = await failure(kernel, "video_scenes", file_path=str(captioned))
    async with open_kernel(tmp_path) as kernel:
        rich = await kernel.call("video_analyze", file_path=str(captioned))
    assert any('pip install "video-research[local]"' in limit for limit in poor.limits)
    assert poor.transcript is not None
    assert error.code is Code.UNAVAILABLE
    assert not rich.cached
    assert len(rich.slides) == 3


async def test_a_missing_model_names_the_command_that_fetches_it(tmp_path):
    path = tmp_path / "sound.wav"
    path.write_bytes(silence(2))
    async with open_kernel(tmp_path, speech_model="no-such-model") as kernel:
        error = await failure(kernel, "video_transcript", file_path=str(path))
    assert error.code is Code.UNAVAILABLE
    assert error.category == "MODEL_MISSING"
    assert "vr video fetch-models no-such-model" in error.hint


async def test_a_sound_file_has_no_scenes(tmp_path):
    path = tmp_path / "sound.wav"
    path.write_bytes(silence(2))
    async with open_kernel(tmp_path) as kernel:
        error = await failure(kernel, "video_scenes", file_path=str(path))
    assert error.code is Code.UNSUPPORTED


async def test_a_silent_video_without_captions_has_no_transcript(tmp_path, video):
    async with open_kernel(tmp_path) as kernel:
        error = await failure(kernel, "video_transcript", file_path=str(video))
    assert error.code is Code.UNSUPPORTED
