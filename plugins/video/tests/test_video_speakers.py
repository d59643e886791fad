"""Speakers: read off captions, and kept through formats, pages, passages and records."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lecture import Lecture
from videokit import failure, open_kernel, recorded
from vr_kernel import Code
from vr_plugin_video.analyses.passages import passages
from vr_plugin_video.captions.cues import parse_captions
from vr_plugin_video.captions.transcripts import Segment, render

VOICES = """WEBVTT

00:01.000 --> 00:02.000
<v Ann Lee>Good evening.</v>

00:02.000 --> 00:04.000
<v.loud Bob>Is it?
Is it really?</v>
<v Ann Lee>Yes, <i>really</i>.</v>

00:05.000 --> 00:06.000
Rain falls.
"""
TALK = [
    Segment(start=0, end=2, text="Good evening.", speaker="Ann"),
    Segment(start=2, end=4, text="And welcome.", speaker="Ann"),
    Segment(start=4, end=6, text="Thank you.", speaker="Bob & Co"),
    Segment(start=6, end=8, text="Rain falls."),
]


def srt(*texts: str) -> str:
    return "\n".join(
        f"{n + 1}\n00:00:{2 * n:02},000 --> 00:00:{2 * n + 2:02},000\n{text}\n"
        for n, text in enumerate(texts)
    )


def who(text: str, style: str = "srt") -> list[tuple[str, str]]:
    return [(segment.speaker, segment.text) for segment in parse_captions(text, style)]


def test_voices_of_webvtt():
    segments = parse_captions(VOICES, "vtt")
    assert [(s.speaker, s.text) for s in segments] == [
        ("Ann Lee", "Good evening."),
        ("Bob", "Is it? Is it really?"),
        ("Ann Lee", "Yes, really."),
        ("", "Rain falls."),
    ]
    assert [s.start for s in segments] == [1, 2, 3, 5]


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (("[Ann Lee]: Hello.", "There."), [("Ann Lee", "Hello."), ("", "There.")]),
        (("ANN: Hello.", "BOB: Hi."), [("ANN", "Hello."), ("BOB", "Hi.")]),
        ((">> DR. LEE: Hello.", ">> O'NEIL: Hi."), [("DR. LEE", "Hello."), ("O'NEIL", "Hi.")]),
        (("- ANN: Hello.\n- BOB: Hi.",), [("ANN", "Hello."), ("BOB", "Hi.")]),
        (("ANN: Hello\nto all.", "BOB: Hi."), [("ANN", "Hello to all."), ("BOB", "Hi.")]),
        (("ÄNNE: Hallo.", "BJÖRN: Hej."), [("ÄNNE", "Hallo."), ("BJÖRN", "Hej.")]),
    ],
)
def test_names_that_broadcasters_write(lines, expected):
    assert who(srt(*lines)) == expected


@pytest.mark.parametrize(
    "lines",
    [
        ("Ann: Hello.", "Bob: Hi."),
        ("WARNING: it is hot.", "So be careful."),
        ("HE SAID: NO.", "SHE SAID: YES."),
        ("At 12:30 we begin.", "A: one.", "B: two."),
        ("NASA said so.", "https://example.org"),
        (">> Hello.", ">> Hi."),
    ],
)
def test_what_may_be_no_name_stays_in_the_text(lines):
    assert who(srt(*lines)) == [("", line) for line in lines]


def test_a_name_is_safe_to_show():
    ((speaker, text),) = who("WEBVTT\n\n00:01.000 --> 00:02.000\n<v \x1b[31m&lt;b&gt;Eve>Hi", "vtt")
    assert (speaker, text) == ("<b>Eve", "Hi")
    ((speaker, _),) = who(f"WEBVTT\n\n00:01.000 --> 00:02.000\n<v {'x' * 150}>Hi", "vtt")
    assert len(speaker) == 60


@given(st.text(max_size=200))
@pytest.mark.parametrize("style", ["srt", "vtt"])
def test_no_text_is_mistaken_for_a_mark(style, text):
    for segment in parse_captions(f"WEBVTT\n\n00:01.000 --> 00:02.000\n{text}\n", style):
        assert segment.text.strip()
        assert not {"\x01", "\x02"} & set(segment.text + segment.speaker)


def test_every_format_says_who_speaks():
    assert render(TALK, "text").splitlines() == [
        "Ann: Good evening.",
        "And welcome.",
        "Bob & Co: Thank you.",
        "Rain falls.",
    ]
    assert render(TALK, "md") == (
        "**00:00** Ann: Good evening. And welcome.\n\n"
        "**00:04** Bob & Co: Thank you.\n\n**00:06** Rain falls."
    )
    assert "\nAnn: And welcome.\n" in render(TALK, "srt")
    assert "\n<v Bob &amp; Co>Thank you.\n" in render(TALK, "vtt")
    assert parse_captions(render(TALK, "vtt"), "vtt") == TALK
    listed = json.loads(render(TALK, "json"))
    assert listed[0]["speaker"] == "Ann"
    assert "speaker" not in listed[3]


def test_markdown_links_its_times():
    text = render(TALK[:1], "md", lambda seconds: f"https://example.org/a(b)#t={seconds:.0f}")
    assert text == "**[00:00](https://example.org/a%28b%29#t=0)** Ann: Good evening."


def test_passages_name_a_speaker_when_he_changes():
    joined = passages(TALK, [5.0])
    assert [passage.text for passage in joined] == [
        "Ann: Good evening. And welcome.",
        "Bob & Co: Thank you. Rain falls.",
    ]


@pytest.fixture
def video(tmp_path) -> Path:
    path = tmp_path / "talk.mkv"
    path.write_bytes(Lecture((8.0,), fps=1, size=(160, 90), container="matroska").encode())
    return path


async def test_a_transcript_and_its_records_say_who_speaks(tmp_path, video):
    video.with_suffix(".vtt").write_text(VOICES)
    async with open_kernel(tmp_path) as kernel:
        page = await kernel.call("video_transcript", file_path=str(video))
        moments = await recorded(kernel, "VideoSegments")
    assert [segment.speaker for segment in page.segments] == ["Ann Lee", "Bob", "Ann Lee", ""]
    assert [moment["text"] for moment in moments] == [
        "Ann Lee: Good evening. Bob: Is it? Is it really? Ann Lee: Yes, really. Rain falls."
    ]


async def test_a_language_that_is_not_there_lists_what_is(tmp_path, video):
    for name in ("talk.de.srt", "talk.pt-BR.srt", "talk.en.srt", "talk.srt.bak"):
        video.with_name(name).write_text(srt("Eins.", "Zwei."))
    async with open_kernel(tmp_path, speech_model="no-such-model") as kernel:
        error = await failure(kernel, "video_transcript", file_path=str(video), language="fr")
        found = await kernel.call("video_transcript", file_path=str(video), language="pt")
    assert (error.code, error.category) == (Code.NOT_FOUND, "CAPTIONS_MISSING")
    assert "'fr'" in error.message
    assert "de, en, pt" in error.hint
    assert found.language == "pt"
