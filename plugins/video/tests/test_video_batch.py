"""`video_batch_analyze`: a folder or a playlist, some videos at a time, each paid once."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from lecture import Lecture
from test_video_gemini import SEEN, asked, key_for
from videokit import failure, open_kernel, recorded
from vr_kernel import (
    Answer,
    Code,
    Kernel,
    Provider,
    TextLine,
    TextRecognizer,
    estimate_tokens,
    hookimpl,
)
from vr_plugin_video.batch.fitting import fitted
from vr_plugin_video.batch.results import BatchEstimate, BatchVideoItem, BatchVideoResult
from vr_testing import FakeGemini, Fault
from vr_testing.gemini.request import look_up

SECONDS = 20
TOKENS = SECONDS * (258 + 32)
FORM = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}


@pytest.fixture(scope="module")
def video() -> bytes:
    """A silent lecture of 20 seconds."""
    return Lecture((10.0, 10.0), size=(64, 36), fps=1, container="matroska").encode()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "videos"
    made.mkdir()
    return made


@pytest.fixture
def gemini() -> Iterator[FakeGemini]:
    with FakeGemini() as fake:
        fake.answer(SEEN, when=lambda r: "title" in (r.schema or {}).get("properties", ()))
        yield fake


@pytest.fixture
async def kernel(tmp_path: Path, gemini: FakeGemini) -> AsyncIterator[Kernel]:
    async with open_kernel(tmp_path, environ=key_for(gemini)) as opened:
        yield opened


def fill(folder: Path, video: bytes, count: int) -> list[Path]:
    """Videos that differ in what follows them, which nobody plays."""
    paths = [folder / f"talk-{number:02}.mkv" for number in range(count)]
    for number, path in enumerate(paths):
        path.write_bytes(video + b"\xec\x84" + number.to_bytes(4, "big"))  # a void element
    return paths


async def analyse(kernel: Kernel, folder: Path, **arguments: Any) -> Any:
    return await kernel.call("video_batch_analyze", directory=str(folder), **arguments)


async def test_every_video_is_analysed_once(kernel, gemini, folder, video):
    paths = fill(folder, video, 6)
    (folder / "notes.txt").write_text("no video")
    result = await analyse(kernel, folder)
    assert (result.total, result.ok, result.failed, result.cached) == (6, 6, 0, 0)
    assert [item.source for item in result.items] == [str(path) for path in paths]
    assert {item.title for item in result.items} == {"Vector search"}
    assert len(asked(gemini)) == 6
    assert result.usage == gemini.bill
    assert result.estimate.model_dump() == {
        "files": 6,
        "seconds": 6 * SECONDS,
        "tokens_in": 6 * TOKENS,
        "unknown": 0,
    }
    assert len(await recorded(kernel, "VideoAnalyses")) == 6
    again = await analyse(kernel, folder)
    assert (again.ok, again.cached, again.usage) == (6, 6, None)
    assert again.estimate.files == 0
    assert len(asked(gemini)) == 6
    assert len(await recorded(kernel, "VideoAnalyses")) == 6


async def test_each_file_is_looked_into_once(kernel, folder, video, monkeypatch):
    import av

    opened, really_open = [], av.open
    monkeypatch.setattr(av, "open", lambda *a, **k: opened.append(a) or really_open(*a, **k))
    fill(folder, video, 5)
    assert (await analyse(kernel, folder)).ok == 5
    assert len(opened) == 5


async def test_a_file_that_is_replaced_after_the_estimate_is_looked_into_again(
    tmp_path, gemini, folder, video
):
    _, second = fill(folder, video, 2)
    other = Lecture((5.0,), size=(64, 36), fps=1, container="matroska").encode()
    async with open_kernel(tmp_path, environ=key_for(gemini), batch_concurrency="1") as kernel:
        with gemini.hold():
            call = asyncio.create_task(analyse(kernel, folder))
            await asyncio.to_thread(gemini.wait, lambda: gemini.in_flight == 1)
            second.write_bytes(other)
        result = await call
        assert (result.ok, result.estimate.seconds) == (2, 2 * SECONDS)
        found = await recorded(kernel, "VideoAnalyses")
    lengths = [json.loads(fields["raw_result"])["duration"] for fields in found]
    assert sorted(lengths) == [5.0, SECONDS]


@pytest.mark.parametrize(("most", "count"), [(3, 5), pytest.param(20, 20, marks=pytest.mark.slow)])
async def test_so_many_at_a_time_as_are_configured(tmp_path, gemini, folder, video, most, count):
    fill(folder, video, count)
    settings = {"batch_concurrency": str(most)}
    async with open_kernel(tmp_path, environ=key_for(gemini), **settings) as kernel:
        with gemini.hold():
            call = asyncio.create_task(analyse(kernel, folder))
            await asyncio.to_thread(gemini.wait, lambda: gemini.in_flight == most)
            # Meanwhile one more would come, if it were let through.
            await kernel.call("video_scenes", file_path=str(folder / "talk-00.mkv"))
        assert (await call).ok == count
    assert gemini.peak_in_flight == most
    assert len(asked(gemini)) == count


async def test_what_fails_is_told_of_each(kernel, gemini, folder, video):
    good, blocked = fill(folder, video, 2)
    (folder / "empty.mp4").write_bytes(b"")
    (folder / "text.mov").write_bytes(b"no film at all\n" * 100)
    gemini.fail(Fault.prompt_blocked())
    result = await analyse(kernel, folder)
    found = {Path(item.source).name: item for item in result.items}
    assert (result.ok, result.failed) == (1, 3)
    assert found["empty.mp4"].error.code == "INVALID_INPUT"
    assert found["text.mov"].error.category == "FILE_UNSUPPORTED"
    (refused,) = (found[path.name] for path in (good, blocked) if found[path.name].error)
    assert refused.error.category == "SAFETY_BLOCKED"
    assert refused.error.hint
    assert refused.video_id
    assert len(asked(gemini)) == 2
    assert result.estimate.files == 2
    assert len(await recorded(kernel, "VideoAnalyses")) == 1


class Moody:
    """A recogniser that breaks when it is asked for its name for the first time."""

    asked = 0

    @property
    def name(self) -> str:
        self.asked += 1
        if self.asked == 1:
            raise ZeroDivisionError
        return "moody"

    async def recognize(self, _image: bytes) -> list[TextLine]:
        return []


async def test_a_video_that_nobody_can_cope_with_does_not_end_the_others(tmp_path, folder, video):
    paths = fill(folder, video, 3)
    moody = Moody()

    @hookimpl
    def vr_providers() -> list[Provider[Any]]:
        return [Provider(TextRecognizer, "moody", lambda _services: moody)]

    plugins = {"moody": SimpleNamespace(vr_providers=vr_providers)}
    async with open_kernel(tmp_path, plugins=plugins) as kernel:
        result = await analyse(kernel, folder, engine="local")
    assert (result.ok, result.failed) == (2, 1)
    (failed,) = (item for item in result.items if item.error)
    assert failed.error.code == "INTERNAL"
    assert f"{Path(failed.source).name} could not be analysed." == failed.error.message
    assert failed.source in map(str, paths)


async def test_equal_files_are_paid_once(kernel, gemini, folder, video):
    for name in ("a.mkv", "b.mkv", "c.mkv", "d.mkv", "e.mkv"):
        (folder / name).write_bytes(video)
    result = await analyse(kernel, folder)
    assert (result.ok, result.cached) == (5, 4)
    assert len(asked(gemini)) == 1
    assert [Path(item.source).name[0] for item in result.items] == list("abcde")


async def test_batches_of_the_same_videos_do_not_wait_for_each_other(
    tmp_path, gemini, folder, video
):
    paths = fill(folder, video, 5)
    other = tmp_path / "other"
    other.mkdir()
    for path in reversed(paths):
        (other / f"{99 - int(path.stem[-2:])}.mkv").write_bytes(path.read_bytes())
    settings = {"batch_concurrency": "1"}
    async with open_kernel(tmp_path, environ=key_for(gemini), **settings) as kernel:
        async with asyncio.timeout(30):
            both = await asyncio.gather(analyse(kernel, folder), analyse(kernel, other))
    assert [result.ok for result in both] == [5, 5]
    assert len(asked(gemini)) == 5


async def test_a_video_is_kept_as_soon_as_it_is_done(kernel, gemini, folder, video):
    paths = fill(folder, video, 4)
    first = asyncio.Event()
    last = paths[-1].read_bytes()[-4:]
    gemini.fail(Fault.hang(), when=lambda request: end_of(request) == last, times=None)

    def listen(done: float, _total: float | None, _message: str) -> None:
        if done == 3:
            first.set()

    arguments = {"directory": str(folder)}
    call = asyncio.create_task(kernel.run("video_batch_analyze", arguments, listen))
    await first.wait()
    assert len(await recorded(kernel, "VideoAnalyses")) == 3
    one = await kernel.call("video_analyze", file_path=str(paths[0]))
    assert one.cached
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    gemini.heal()
    gemini.forget()
    gemini.answer(SEEN)
    assert (await analyse(kernel, folder)).cached == 3
    assert len(asked(gemini)) == 1
    assert len(await recorded(kernel, "VideoAnalyses")) == 4


async def test_records_say_who_made_them(kernel, folder, video):
    fill(folder, video, 1)
    outcome = await kernel.run("video_batch_analyze", {"directory": str(folder)})
    changes = await kernel.services.journal.changes(0, 100)
    (change,) = (each for each in changes if each.kind == "VideoAnalyses")
    assert change.provenance["tool"] == "video_batch_analyze"
    assert change.provenance["call_id"] == outcome.call_id
    assert change.provenance["plugin"] == "video"
    assert change.fields["source_tool"] == "video_batch_analyze"


async def test_progress_counts_and_names(kernel, folder, video):
    fill(folder, video, 3)
    seen: list[tuple[float, float | None, str]] = []
    await kernel.run(
        "video_batch_analyze", {"directory": str(folder)}, lambda *report: seen.append(report)
    )
    said = [message for _, _, message in seen]
    assert "To analyse: 3 videos of 01:00 in all, about 17,400 tokens" in said
    assert any(message.endswith("A model is looking at the video") for message in said)
    done = [(done, total) for done, total, message in seen if message.endswith("(ok)")]
    assert done == [(1, 3), (2, 3), (3, 3)]
    assert [done for done, _, _ in seen] == sorted(done for done, _, _ in seen)


async def test_an_estimate_costs_nothing(kernel, gemini, folder, video):
    fill(folder, video, 3)
    (folder / "empty.mp4").write_bytes(b"")
    result = await analyse(kernel, folder, estimate_only=True)
    assert [item.status for item in result.items] == ["failed", "planned", "planned", "planned"]
    assert result.estimate.tokens_in == 3 * TOKENS
    assert gemini.requests == []
    local = await analyse(kernel, folder, estimate_only=True, engine="local")
    assert (local.estimate.files, local.estimate.tokens_in) == (3, 0)


@pytest.mark.parametrize("go_on", [True, False])
async def test_a_dear_batch_asks_first(tmp_path, gemini, folder, video, go_on):
    fill(folder, video, 2)
    questions: list[str] = []

    async def person(question: Any, *, paid: bool) -> Answer:
        assert not paid
        questions.append(question.text)
        return Answer("accept", {"go_on": go_on})

    settings = {"batch_ask_above_tokens": str(2 * TOKENS - 1)}
    async with open_kernel(tmp_path, environ=key_for(gemini), **settings) as kernel:
        outcome = await kernel.run("video_batch_analyze", {"directory": str(folder)}, ask=person)
    assert questions == ["To analyse: 2 videos of 00:40 in all, about 11,600 tokens. Go on?"]
    assert len(asked(gemini)) == (2 if go_on else 0)
    if not go_on:
        assert outcome.error.category == "DECLINED"


async def test_a_cheap_batch_asks_nobody(kernel, folder, video):
    fill(folder, video, 1)

    async def person(question: Any, *, paid: bool) -> Answer:
        raise AssertionError(question.text)

    outcome = await kernel.run("video_batch_analyze", {"directory": str(folder)}, ask=person)
    assert outcome.error is None


async def test_patterns_and_links_stay_in_the_folder(kernel, gemini, tmp_path, folder, video):
    (inside,) = fill(folder, video, 1)
    below = folder / "below"
    below.mkdir()
    (below / "deep.mp4").write_bytes(video)
    outside = tmp_path.parent / f"{tmp_path.name}-outside"
    outside.mkdir()
    (outside / "secret.mkv").write_bytes(video)
    (folder / "link.mkv").symlink_to(outside / "secret.mkv")
    (folder / "linked").symlink_to(outside)
    for pattern in ("../videos/*", "/etc/*", "below/../../*", str(folder / "*")):
        error = await failure(
            kernel, "video_batch_analyze", directory=str(folder), glob_pattern=pattern
        )
        assert (error.code, error.category) == (Code.INVALID_INPUT, "PATTERN_INVALID")
    result = await analyse(kernel, folder, glob_pattern="**/*", estimate_only=True)
    assert {item.source for item in result.items} == {str(inside), str(below / "deep.mp4")}
    error = await failure(kernel, "video_batch_analyze", directory=str(outside))
    assert error.code is Code.NOT_ALLOWED
    assert gemini.requests == []


@pytest.mark.parametrize(
    ("arguments", "code", "category"),
    [
        ({}, Code.INVALID_INPUT, "SOURCE_AMBIGUOUS"),
        ({"directory": "x", "url": "y"}, Code.INVALID_INPUT, "SOURCE_AMBIGUOUS"),
        ({"url": "https://youtu.be/dQw4w9WgXcQ"}, Code.INVALID_INPUT, "URL_PARSE_FAILED"),
        ({"url": "https://example.org/?list=PL12345678901"}, Code.INVALID_INPUT, "URL_INVALID"),
        ({"directory": "/nowhere"}, Code.NOT_ALLOWED, None),
    ],
)
async def test_what_is_no_batch_is_refused(kernel, arguments, code, category):
    error = await failure(kernel, "video_batch_analyze", **arguments)
    assert error.code is code
    assert category in (None, error.category)


@pytest.mark.skipif(sys.platform != "linux", reason="other systems take no such name")
async def test_a_name_that_is_not_utf8_fails_alone(kernel, folder, video):
    odd = folder / os.fsdecode(b"caf\xe9.mp4")
    odd.write_bytes(video + b"tail")
    (folder / "sound.mkv").write_bytes(video)
    result = await kernel.call("video_batch_analyze", directory=str(folder))
    (failed,) = [each for each in result.items if each.status == "failed"]
    assert (failed.source[-8:], failed.error.code) == ("caf?.mp4", "INVALID_INPUT")
    assert len(result.items) > 1


async def test_a_folder_that_is_not_there_is_called_one(kernel, tmp_path):
    error = await failure(kernel, "video_batch_analyze", directory=str(tmp_path / "nope"))
    assert error.code is Code.NOT_FOUND
    assert error.message.startswith("No such folder: ")


async def test_an_empty_folder_says_so(kernel, folder):
    error = await failure(kernel, "video_batch_analyze", directory=str(folder))
    assert (error.code, error.category) == (Code.NOT_FOUND, "BATCH_EMPTY")
    assert "**/*" in error.hint


async def test_without_a_model_it_is_refused_before_anything(tmp_path, folder, video):
    fill(folder, video, 1)
    async with open_kernel(tmp_path) as kernel:
        error = await failure(kernel, "video_batch_analyze", directory=str(folder), engine="gemini")
    assert error.category == "ENGINE_UNAVAILABLE"


async def test_the_callers_own_form_and_the_most_files(kernel, gemini, folder, video):
    fill(folder, video, 4)
    gemini.answer({"n": 7})
    result = await analyse(kernel, folder, output_schema=FORM, max_files=2)
    assert [item.custom for item in result.items] == [{"n": 7}, {"n": 7}]
    assert "2 of 4 videos were taken" in " ".join(result.limits)


@pytest.mark.slow
async def test_a_large_result_is_cut_and_kept_whole(kernel, gemini, tmp_path, folder, video):
    fill(folder, video, 50)
    gemini.heal()
    long = {**SEEN, "summary": "So much to tell. " * 200, "key_points": ["A point " * 20] * 9}
    gemini.answer(long)
    gemini.fail(Fault.prompt_blocked(), times=2)
    result = await analyse(kernel, folder, max_files=50)
    assert (result.total, result.ok, result.failed) == (50, 48, 2)
    assert estimate_tokens(result.model_dump_json()) <= 4_100
    assert sum(item.status == "failed" for item in result.items) == 2
    assert "Shortened" in " ".join(result.limits)
    (kept,) = tmp_path.rglob(result.result_uri.rpartition("/")[2])
    whole = json.loads(kept.read_text())
    assert len(whole["items"]) == 50
    assert {len(item["summary"]) for item in whole["items"]} == {0, len(long["summary"])}


@pytest.mark.parametrize("word", ["So much to tell. ", "言うことがたくさんあります。", "ብዙ መናገር። "])
def test_a_summary_takes_as_much_of_an_answer_in_any_language(word):
    items = [BatchVideoItem(source=f"{n}", status="ok", summary=word * 200) for n in range(20)]
    estimate = BatchEstimate(files=20, seconds=1, tokens_in=1)
    cut = fitted(BatchVideoResult.of("folder", items, estimate, []))
    assert len(cut.items) == 20
    assert estimate_tokens(cut.model_dump_json()) <= 4_000
    assert {estimate_tokens(item.summary) // 16 for item in cut.items} == {9}


def test_remarks_of_a_video_end_with_a_sentence():
    long = "This one says so much that it alone is longer than a remark may be, " * 3 + "truly."
    two = ["PyAV is not there.", "Install it with pip install a-b. " + "So it goes on. " * 20]
    items = [
        BatchVideoItem(source="a", status="ok", limits=limits) for limits in ([f"{long} No."], two)
    ]
    estimate = BatchEstimate(files=2, seconds=1, tokens_in=1)
    first, second = fitted(BatchVideoResult.of("folder", items, estimate, [])).items
    assert first.limits == [long]
    assert second.limits[0] == two[0]
    assert second.limits[1] == ("Install it with pip install a-b. " + "So it goes on. " * 7).strip()


def end_of(request: Any) -> bytes:
    """The last bytes of the file that a request carries: its number; none when it carries none."""
    part = request.media[0] if request.media else {}
    data = look_up(look_up(part, "inlineData", {}), "data", "")
    return base64.urlsafe_b64decode(data)[-4:]


async def test_plugins_hear_of_every_record(tmp_path, gemini, folder, video):
    fill(folder, video, 3)
    heard = []

    @hookimpl
    def vr_call_finished(event):
        heard.append(event.records)

    plugins = {"listener": SimpleNamespace(vr_call_finished=vr_call_finished)}
    async with open_kernel(tmp_path, environ=key_for(gemini), plugins=plugins) as kernel:
        await analyse(kernel, folder)
        assert heard == [await kernel.services.journal.last_seq()]
        assert heard[0] >= 3
