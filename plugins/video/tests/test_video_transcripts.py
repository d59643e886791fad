from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from vr_kernel import VrError
from vr_plugin_video.analyses.passages import passages
from vr_plugin_video.captions.cues import parse_captions
from vr_plugin_video.captions.transcripts import Segment, Transcript, page_of, render, segment_of
from vr_plugin_video.speech.sentences import Word, sentences

WORDS = st.text("abc äö漢", min_size=1, max_size=60).filter(lambda text: text.strip())


def said(*texts: str, length: float = 2.0) -> list[Segment]:
    return [
        Segment(start=i * length, end=(i + 1) * length, text=text) for i, text in enumerate(texts)
    ]


@settings(max_examples=30)
@given(st.lists(WORDS, min_size=1, max_size=12))
@pytest.mark.parametrize("style", ["srt", "vtt"])
def test_subtitles_read_back(style, texts):
    segments = [s for s in (segment_of(i * 2, i * 2 + 1, t) for i, t in enumerate(texts)) if s]
    assert parse_captions(render(segments, style), style) == segments


@pytest.mark.parametrize("style", ["srt", "vtt"])
def test_marks_of_the_formats_in_the_words_do_no_harm(style):
    segments = said("x < y & z", "f{a}", "--> 00:01", "back\\slash")
    again = parse_captions(render(segments, style), style)
    assert len(again) == 4
    assert again[1].text == "f(a)"
    assert [s.start for s in again] == [0, 2, 4, 6]


def test_the_other_formats():
    segments = said("One.", "Two.")
    assert render(segments, "text") == "One.\nTwo."
    assert render(segments, "md") == "**00:00** One. Two."
    assert json.loads(render(segments, "json"))[1] == {"start": 2.0, "end": 4.0, "text": "Two."}


def test_a_paragraph_ends_at_a_pause():
    segments = [Segment(start=0, end=1, text="One."), Segment(start=61, end=62, text="Two.")]
    assert render(segments, "md") == "**00:00** One.\n\n**01:01** Two."


@settings(max_examples=30)
@given(st.lists(WORDS, max_size=40), st.integers(50, 500))
def test_pages_give_every_segment_once(texts, size):
    segments = [Segment(start=i, end=i + 1, text=text) for i, text in enumerate(texts)]
    seen, first = [], 0
    while first is not None:
        page = page_of(segments, first, size)
        assert page.segments or not segments
        seen += page.segments
        first = page.next_index
    assert seen == segments


def test_a_page_behind_the_end_is_refused():
    with pytest.raises(VrError, match="past the end"):
        page_of(said("One."), 1, 1000)


def test_a_window_keeps_what_overlaps_it():
    transcript = Transcript(segments=tuple(said("a", "b", "c", "d")), origin="speech")
    assert [s.text for s in transcript.between(3, 6).segments] == ["b", "c"]


def test_rolling_captions_are_said_once():
    rolling = """WEBVTT

00:00:00.000 --> 00:00:02.000 align:start
hello<00:00:00.500><c> there</c>

00:00:02.000 --> 00:00:02.010
hello there

00:00:02.010 --> 00:00:04.000
hello there
how are &amp; you

NOTE nobody says this

00:00:05.000 --> 00:00:06.000
<v Bob>Fine.</v>

00:00:08.000 --> 00:00:09.000
Fine.
"""
    texts = [segment.text for segment in parse_captions(rolling, "vtt")]
    assert texts == ["hello there", "how are & you", "Fine.", "Fine."]


@given(st.text(max_size=300))
@pytest.mark.parametrize("style", ["srt", "vtt"])
def test_no_text_crashes_the_caption_parser(style, text):
    for segment in parse_captions(text, style):
        assert 0 <= segment.start <= segment.end


def test_terminal_escapes_never_reach_a_segment():
    segment = segment_of(1, 2, "\x1b[31mred\x1b[0m \u202etxet\u202c \x07bell")
    assert segment is not None
    assert segment.text == "red txet bell"


def test_words_become_sentences():
    words = [Word(0, 1, " One"), Word(1, 2, " two."), Word(2, 3, " Three"), Word(9, 10, " four")]
    assert [(s.start, s.end, s.text) for s in sentences(words)] == [
        (0, 2, "One two."),
        (2, 3, "Three"),
        (9, 10, "four"),
    ]


@settings(max_examples=30)
@given(st.lists(st.tuples(st.floats(0, 2), st.floats(0.05, 2), st.booleans()), max_size=60))
def test_sentences_keep_every_word_and_stay_short(steps):
    words, at = [], 0.0
    for pause, length, stop in steps:
        words.append(Word(at + pause, at + pause + length, " w." if stop else " w"))
        at += pause + length
    made = sentences(words)
    assert sum(len(s.text.split()) for s in made) == len(words)
    assert all(s.end - s.start <= 24 for s in made)


@settings(max_examples=30)
@given(
    st.lists(st.tuples(st.floats(0.1, 30), WORDS), max_size=30),
    st.lists(st.floats(0, 300), max_size=6).map(sorted),
)
def test_passages_hold_all_words_and_never_cross_a_boundary(steps, boundaries):
    segments, at = [], 0.0
    for length, text in steps:
        segments.append(Segment(start=at, end=at + length, text=text))
        at += length
    joined = passages(segments, boundaries)
    assert " ".join(p.text for p in joined).split() == " ".join(s.text for s in segments).split()
    for passage in joined:
        parts = [s for s in segments if passage.start <= s.start and s.end <= passage.end]
        middles = [(s.start + s.end) / 2 for s in parts]
        assert not any(min(middles) < b <= max(middles) for b in boundaries)
        assert len(parts) == 1 or (passage.end - passage.start <= 40 and len(passage.text) <= 400)
