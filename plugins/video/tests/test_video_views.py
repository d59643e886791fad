"""Results and records of videos as views: what people see of them, whatever was recorded."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from lecture import Lecture
from sessionkit import key_for
from videokit import open_kernel, recorded, silence
from vr_kernel import Kernel, StoredRecord
from vr_kernel.views import (
    Facts,
    Media,
    Moments,
    Pictures,
    Prose,
    Records,
    Table,
    Transcript,
    View,
    as_data,
    as_markdown,
    as_text,
)
from vr_plugin_video import plugin
from vr_testing import FakeGemini, check_view

SRT = """1
00:00:01,000 --> 00:00:03,000
Foxes hunt voles.

2
00:00:03,100 --> 00:00:05,000
They listen first.
"""
DIGEST = re.compile("[0-9a-f]{40}")
ID = "dQw4w9WgXcQ"
LIST = "PLabcdefghijk"
WATCH = f"https://www.youtube.com/watch?v={ID}"


@pytest.fixture
def talk(tmp_path: Path) -> Path:
    path = tmp_path / "talk.mp4"
    path.write_bytes(Lecture((3.0, 3.0), title="Foxes").encode())
    path.with_suffix(".srt").write_text(SRT)
    return path


@pytest.fixture
async def kernel(tmp_path: Path) -> AsyncIterator[Kernel]:
    async with open_kernel(tmp_path) as opened:
        yield opened


async def result_view(kernel: Kernel, tool: str, **arguments: Any) -> View:
    """The view of a call's result."""
    result = await kernel.call(tool, **arguments)
    return await checked(await kernel.services.views.of_result(kernel.tools[tool], result))


async def record_view(kernel: Kernel, kind: str, *fields: dict[str, Any]) -> View:
    """The view of records that have been in the store for long."""
    records = [StoredRecord(kind, str(number), each) for number, each in enumerate(fields)]
    return await checked(await kernel.services.views.of_records(records))


async def checked(view: View) -> View:
    """The same view, which can be read wherever it is shown."""
    await check_view(view)
    return view


def headings(view: View) -> list[str]:
    return [block.title for block in view.blocks if block.title]


def block_of(view: View, kind: type, title: str | None = None) -> Any:
    found = [it for it in view.blocks if type(it) is kind and title in (None, it.title)]
    assert len(found) == 1, as_text(view)
    return found[0]


async def test_every_tool_and_kind_of_the_plugin_has_a_view(kernel):
    views = kernel.services.views
    assert all(views.has("tool", tool.__name__) for tool in plugin.vr_tools())
    assert all(views.has("kind", kind.name) for kind in plugin.vr_record_kinds())


async def test_an_analysis_says_everything_once_and_shows_no_digest(kernel, talk):
    view = await result_view(
        kernel, "video_analyze", file_path=str(talk), engine="local", detail="full"
    )
    text = as_text(view)
    assert text.startswith("Foxes\n=====\n")
    assert len(headings(view)) == len(set(headings(view)))
    assert not DIGEST.search(text)
    assert view.about[:2] == ("0:06", "watched by the local engine")
    assert "captions beside the file" in view.about[2]
    assert not block_of(view, Prose, "Summary").text.startswith("Foxes")
    assert len(block_of(view, Pictures).items) == 2
    said = block_of(view, Transcript)
    assert said.detail
    assert [line.text for line in said.lines] == ["Foxes hunt voles.", "They listen first."]
    assert said.lines[1].link == f"{talk.resolve().as_uri()}#t=3"


async def test_a_part_is_named_as_one_at_once_and_later(kernel, talk):
    wanted = {"file_path": str(talk), "engine": "local", "start": 0, "end": "0:04"}
    view = await result_view(kernel, "video_analyze", **wanted)
    (kept,) = await recorded(kernel, "VideoAnalyses")
    later = await record_view(kernel, "VideoAnalyses", dict(kept))
    assert "only 0:00 to 0:04" in view.about
    assert "only 0:00 to 0:04" in later.about
    assert later.title == view.title == "Foxes"
    assert block_of(later, Pictures) == block_of(view, Pictures)


async def test_a_models_moments_have_their_quotes_and_the_chapters_are_not_repeated(tmp_path, talk):
    seen = {
        "title": "Hunters",
        "summary": "Hunters: foxes and voles.\n[0:01] Foxes appear.",
        "key_points": ["[0:02] Ears matter", "Patience"],
        "topics": ["voles"],
        "sentiment": "calm",
        "timestamps": [{"time": "0:02", "description": "A hunt", "quote": "foxes hunt voles"}],
    }
    with FakeGemini() as fake:
        fake.answer(seen)
        environ = {"GEMINI_API_KEY": "a-key", "GOOGLE_GEMINI_BASE_URL": fake.url}
        async with open_kernel(tmp_path, environ=environ) as kernel:
            await kernel.call("video_transcript", file_path=str(talk))
            view = await result_view(kernel, "video_analyze", file_path=str(talk))
    (hunt,) = block_of(view, Moments, "Moments").items
    assert (hunt.start, hunt.text, hunt.quote.mark) == (2, "A hunt", "verified")
    assert block_of(view, Prose, "Summary").text == "foxes and voles."
    assert [(it.start, it.text) for it in block_of(view, Moments, "Outline").items] == [
        (1, "Foxes appear.")
    ]
    assert [(it.start, it.text) for it in block_of(view, Moments, "Key points").items] == [
        (2, "Ears matter")
    ]
    assert block_of(view, Prose, "More key points").text == "- Patience"
    assert block_of(view, Facts).rows == (("Topics", "voles"), ("Mood", "calm"))


async def test_what_can_be_neither_read_nor_heard_says_so_first(kernel, tmp_path):
    path = tmp_path / "quiet.mp4"
    path.write_bytes(Lecture((2.0,), size=(64, 36), fps=2).encode())
    view = await result_view(kernel, "video_analyze", file_path=str(path), engine="local")
    first = next(block for block in view.blocks if isinstance(block, Prose))
    assert first.text == "Nothing could be read or heard in it."
    assert first.text not in view.notes


async def test_a_transcript_is_read_in_paragraphs(kernel, talk):
    view = await result_view(kernel, "video_transcript", file_path=str(talk))
    assert "- 0:01 Foxes hunt voles. They listen first." in as_text(view).splitlines()
    assert not block_of(view, Transcript).detail
    subtitles = await result_view(kernel, "video_transcript", file_path=str(talk), format="srt")
    assert "00:00:01,000 --> 00:00:03,000" in as_text(subtitles)


async def test_files_that_were_made_are_named(kernel, talk):
    clip = await result_view(kernel, "video_clip", file_path=str(talk), start=1, end=3)
    assert clip.title == "talk, 0:01 to 0:03"
    assert "vr://artifacts/" in as_text(clip)
    still = await result_view(kernel, "video_clip", file_path=str(talk), start=1, format="jpg")
    assert block_of(still, Pictures).items[0].image.endswith(".jpg")
    export = await result_view(
        kernel, "video_export", file_path=str(talk), format="md", engine="local"
    )
    assert "text/markdown" in as_text(export)


async def test_scenes_are_pictures_with_times(kernel, talk):
    view = await result_view(kernel, "video_scenes", file_path=str(talk), ocr=False)
    shown = block_of(view, Pictures).items
    assert [round(it.place.start) for it in shown] == [0, 3]
    assert all(it.image.startswith("vr://artifacts/") for it in shown)
    assert "2 scenes" in view.about


async def test_a_folder_lists_each_video_with_its_summary_or_its_failure(
    kernel, tmp_path, talk, monkeypatch
):
    (tmp_path / "broken.mp4").write_bytes(b"no video")
    monkeypatch.chdir(tmp_path)
    view = await result_view(kernel, "video_batch_analyze", directory=".", engine="local")
    assert (view.title, view.source) == (tmp_path.name, str(tmp_path.resolve()))
    items = {item.title: item for item in block_of(view, Records).items}
    assert "Foxes" in items
    assert not items["Foxes"].text.startswith("Foxes:")
    assert items["broken"].facts == ("failed", "broken.mp4")
    assert "1 failed" in view.about


OLD = {
    "title": "Old talk",
    "summary": "All about it.",
    "key_points": ["[0:47] A jump"],
    "timestamps": [{"time": "1:02", "description": "The end"}, "no moment"],
    "topics": ["foxes"],
    "sentiment": "calm",
    "mood_color": "red",
}


async def test_an_analysis_of_an_older_shape_is_shown_whole(kernel):
    view = await record_view(
        kernel,
        "VideoAnalyses",
        {"source_url": WATCH, "instruction": "sum up", "raw_result": json.dumps(OLD)},
    )
    text = as_text(view)
    assert view.title == "Old talk"
    for known in ("All about it.", "0:47 A jump", "1:02 The end", "no moment", "red", "sum up"):
        assert known in text
    assert "watched by" not in text
    (end,) = block_of(view, Moments, "Moments").items
    assert end.link == f"{WATCH}&t=62s"


async def test_an_analysis_without_its_result_is_shown_by_its_fields(kernel):
    fields = {"title": "T", "summary": "S.", "key_points": ["[0:05] p", "q"], "rating": 5}
    for raw in (None, "{broken", "[1]", json.dumps({"title": 3, "segments": "none"})):
        view = await record_view(kernel, "VideoAnalyses", {**fields, "raw_result": raw})
        text = as_text(view)
        assert view.title == "T"
        assert all(known in text for known in ("S.", "0:05 p", "- q", "Rating: 5"))
        assert raw != "{broken" or raw in text


async def test_of_several_analyses_the_latest_whole_one_is_shown_and_the_others_listed(kernel):
    view = await record_view(
        kernel,
        "VideoAnalyses",
        {"title": "T", "summary": "Part.", "part": "60-120", "created_at": "2026-03-03T00:00:00Z"},
        {"title": "T", "summary": "New.", "created_at": "2026-02-02T00:00:00Z"},
        {"title": "T", "summary": "Old.", "instruction": "x", "created_at": "2026-01-01T00:00:00Z"},
    )
    assert block_of(view, Prose, "Summary").text == "New."
    others = block_of(view, Records, "Other analyses").items
    assert [item.text for item in others] == ["Part.", "Old."]
    assert others[0].facts[0] == "1:00 to 2:00"
    assert others[1].id == "VideoAnalyses/2"


async def test_moments_of_one_video_are_one_transcript_and_one_row_of_slides(kernel):
    def of(start: float, text: str, origin: str) -> dict[str, Any]:
        place = {"start": start, "end": start + 5, "link": f"{WATCH}&t={start:.0f}s"}
        return {"source_url": WATCH, "origin": origin, "text": text, "title": "Foxes", **place}

    view = await record_view(
        kernel,
        "VideoSegments",
        of(0, "Foxes hunt.", "speech"),
        of(5, "Voles run.", "speech"),
        {**of(0, "Foxes\nand voles", "slide"), "thumbnail_uri": "vr://artifacts/ab.jpg"},
    )
    assert [line.start for line in block_of(view, Transcript).lines] == [0, 5]
    (slide,) = block_of(view, Pictures).items
    assert (slide.caption, slide.text, slide.image) == (
        "Foxes",
        "and voles",
        "vr://artifacts/ab.jpg",
    )
    assert view.about == ("3 moments from 0:00 to 0:10 are recorded",)


async def test_speech_that_was_heard_twice_is_shown_once(kernel):
    spans = [(0, 30, "Foxes hunt."), (9, 23, "hunt."), (23, 40, "Voles run."), (40, 40, "So.")]
    fields = [
        {"origin": "speech", "start": start, "end": end, "text": text} for start, end, text in spans
    ]
    view = await record_view(kernel, "VideoSegments", *fields)
    said = [line.text for line in block_of(view, Transcript).lines]
    assert said == ["Foxes hunt.", "Voles run.", "So."]


@pytest.mark.parametrize("kind", [kind.name for kind in plugin.vr_record_kinds()])
@pytest.mark.parametrize(
    "fields", [{}, {"colour": "red"}, {"title": 3, "video_title": [1], "summary": 7, "start": "x"}]
)
async def test_a_record_that_lacks_nearly_everything_is_shown(kernel, kind, fields):
    view = await record_view(kernel, kind, fields)
    assert view.title
    assert not view.notes
    assert "colour" not in fields or "red" in as_text(view)


async def test_questions_are_shown_in_their_order(kernel):
    def turn(number: int, prompt: str) -> dict[str, Any]:
        told = {"session_id": "a", "video_title": "Foxes", "turn_index": number}
        return {**told, "turn_prompt": prompt, "turn_response": f"Answer {number}."}

    view = await record_view(
        kernel, "SessionTranscripts", turn(2, "Why?"), turn(1, "Who? " + "x" * 200)
    )
    assert view.title == "Foxes"
    first, second = (it for it in view.blocks if isinstance(it, Prose))
    assert first.title.startswith("1. Who?")
    assert first.text.endswith("Answer 1.")
    assert "x" * 200 in first.text
    assert (second.title, second.text) == ("2. Why?", "Answer 2.")


async def test_a_film_that_was_moved_or_changed_is_said_to_be_and_all_is_shown(kernel, tmp_path):
    path = tmp_path / "sound.wav"
    path.write_bytes(silence(1))
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    fields = {"source_url": str(path), "video_id": digest, "title": "T", "summary": "S."}
    same = await record_view(kernel, "VideoAnalyses", fields)
    path.write_bytes(silence(2))
    changed = await record_view(kernel, "VideoAnalyses", fields)
    path.unlink()
    moved = await record_view(kernel, "VideoAnalyses", fields)
    assert same.notes == ()
    assert changed.notes == ("sound.wav has changed since it was watched.",)
    assert moved.notes == (f"sound.wav is not there any more: {path}",)
    assert same.blocks == changed.blocks == moved.blocks


async def test_nothing_of_a_source_becomes_markup(kernel):
    raw = {**OLD, "summary": "<script>x</script>", "key_points": ["[0:05] <b>*bold*</b> [1](x)"]}
    view = await record_view(
        kernel, "VideoAnalyses", {"source_url": WATCH, "raw_result": json.dumps(raw)}
    )
    assert as_data(view)["blocks"]
    text = as_markdown(view)
    assert "<script>" not in text.replace("\\<", "")
    assert f"**[0:05]({WATCH}&t=5s)**" in text


async def test_a_conversation_is_shown_with_the_times_that_it_names(tmp_path, talk):
    with FakeGemini() as fake:
        fake.answer("Foxes listen.\n* At 0:02 one jumps.")
        async with open_kernel(tmp_path, environ=key_for(fake)) as kernel:
            begun = await result_view(
                kernel, "video_create_session", file_path=str(talk), description="To learn."
            )
            session = dict(block_of(begun, Facts).rows)["Session"]
            arguments = {"session_id": session, "prompt": "What do they do?"}
            answer = await result_view(kernel, "video_continue_session", **arguments)
            listed = await result_view(kernel, "video_list_sessions")
            written = await result_view(kernel, "video_export_session", session_id=session)
    assert block_of(answer, Prose).text.startswith("Foxes listen.")
    (jump,) = block_of(answer, Moments).items
    assert (jump.start, jump.text) == (2, "At 0:02 one jumps.")
    (row,) = block_of(listed, Table).rows
    assert session.startswith(row[0])
    assert "To learn." in row
    assert "1 turn" in written.about


async def test_what_youtube_says_is_shown(tmp_path):
    pytest.importorskip("googleapiclient", reason="google-api-python-client is not installed")
    from youtube_server import KEY, FakeYouTube, playlist_item, thread, video

    items = [playlist_item(number, f"video{number:06}") for number in range(3)]
    fake = FakeYouTube(videos={ID: video(ID)}, threads={ID: [thread(1)]}, items={LIST: items})
    with fake.running():
        site = {"youtube_api_endpoint": fake.url, "youtube_site": fake.url}
        async with open_kernel(tmp_path, environ={"YOUTUBE_API_KEY": KEY}, **site) as kernel:
            seen = await result_view(kernel, "video_metadata", url=WATCH)
            (kept,) = await recorded(kernel, "VideoMetadata")
            later = await record_view(kernel, "VideoMetadata", dict(kept))
            comments = await result_view(kernel, "video_comments", url=WATCH)
            playlist = await result_view(kernel, "video_playlist", url=f"{WATCH}&list={LIST}")
    assert seen.title == later.title == "Vector search from scratch"
    assert seen.about[:2] == ("1:02:03", "Search School")
    assert block_of(seen, Moments, "Chapters").items[1].link == f"{WATCH}&t=90s"
    assert dict(block_of(later, Facts).rows)["Views"] == 1234567
    assert block_of(comments, Records).items[0].text == "Comment 1"
    assert [row[1].label for row in block_of(playlist, Table).rows][:2] == [
        "Lecture 1",
        "Lecture 2",
    ]


async def test_all_that_is_known_of_a_video_is_one_view(kernel, talk):
    await kernel.call("video_analyze", file_path=str(talk), engine="local")
    await kernel.call("video_analyze", file_path=str(talk), engine="local", start=0, end="0:04")
    services = kernel.services
    (source,) = await services.journal.sources(services.workspace)
    view = await checked(await services.views.of_source(source.id))
    assert view.title == "Foxes"
    assert len(block_of(view, Pictures).items) == 2
    said = [line.text for line in block_of(view, Transcript).lines]
    assert said == ["Foxes hunt voles.", "They listen first."]
    assert block_of(view, Media).source == str(talk)
    (part,) = block_of(view, Records, "Other analyses").items
    assert "0:00 to 0:04" in part.facts


async def test_one_moment_says_what_it_is_of_and_plays_there(kernel, talk):
    await kernel.call("video_analyze", file_path=str(talk), engine="local")
    last = max(await recorded(kernel, "VideoSegments"), key=lambda it: it["start"])
    speech = await record_view(kernel, "VideoSegments", {**last, "title": "Voles"})
    slide = await record_view(kernel, "VideoSegments", {**last, "origin": "slide", "title": ""})
    assert (speech.title, speech.about) == ("Voles", ("speech in Foxes", "0:03-0:05"))
    assert (slide.title, slide.about) == ("Foxes", ("slide", "0:03-0:05"))
    unknown = {**last, "source_url": "/films/owls.mp4", "title": "Owls"}
    assert (await record_view(kernel, "VideoSegments", unknown)).about[0] == "speech"
    assert (block_of(speech, Media).start, block_of(slide, Media).start) == (3.1, 3.1)
