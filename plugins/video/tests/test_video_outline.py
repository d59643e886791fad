from __future__ import annotations

from itertools import pairwise
from math import inf

from hypothesis import given, settings
from hypothesis import strategies as st
from videokit import line
from vr_plugin_video.analyses.outline import Part, outline, parts_of, words
from vr_plugin_video.captions.transcripts import Segment
from vr_plugin_video.media.info import Chapter
from vr_plugin_video.text.plain_text import clean, one_line
from vr_plugin_video.vision.screen_text import arrange
from vr_plugin_video.vision.slides import Slide, looking_time, spans

OF = "(outline without a language model)"
SLIDES = [
    Slide(start=0, end=9, title="Vector Search", lines=("An introduction",)),
    Slide(start=9, end=23, title="Embeddings", lines=("A list of 384 numbers stands for meaning",)),
    Slide(start=23, end=30, title="Index types", lines=("Flat: exact, slow above 1 million rows",)),
    Slide(
        start=30,
        end=38,
        title="Index types",
        lines=("Flat: exact, slow above 1 million rows", "HNSW: graph, fast, more memory"),
    ),
]


def test_slides_make_an_outline_with_times():
    parts = parts_of([], SLIDES, [], (0, 38))
    made = outline("A talk", parts, [], 40)
    assert [part.title for part in parts] == ["Vector Search", "Embeddings", "Index types"]
    assert made.summary.splitlines() == [
        f"A talk: 00:40 in 3 parts {OF}.",
        "00:00 Vector Search",
        "00:09 Embeddings - A list of 384 numbers stands for meaning",
        "00:23 Index types - Flat: exact, slow above 1 million rows",
    ]
    assert made.key_points == [
        "[00:09] A list of 384 numbers stands for meaning",
        "[00:23] Flat: exact, slow above 1 million rows",
        "[00:30] HNSW: graph, fast, more memory",
    ]
    assert made.timestamps == [(0, "Vector Search"), (9, "Embeddings"), (23, "Index types")]
    assert made.topics == ["Vector Search", "Embeddings", "Index types"]


def test_chapters_come_before_slides():
    chapters = [Chapter(0, 20, "First"), Chapter(20, 38, "Second")]
    parts = parts_of(chapters, SLIDES, [], (0, 38))
    assert [(p.start, p.title) for p in parts] == [(0, "First"), (20, "Second")]
    assert "Embeddings" in parts[0].lines
    assert "HNSW: graph, fast, more memory" in parts[1].lines
    entry = outline("A talk", parts, [], 40).summary.splitlines()[1]
    assert entry == "00:00 First - A list of 384 numbers stands for meaning (00:09)"


def test_a_window_cuts_chapters():
    chapters = [Chapter(0, 20, "First"), Chapter(20, 38, "Second"), Chapter(38, 60, "Third")]
    parts = parts_of(chapters, [], [], (10, 30))
    assert [(p.start, p.end, p.title) for p in parts] == [(10, 20, "First"), (20, 30, "Second")]


def test_the_line_that_is_also_spoken_says_more():
    slide = Slide(start=0, end=9, title="T", lines=("Alpha beta gamma", "Delta epsilon zeta"))
    spoken = [Segment(start=1, end=2, text="delta epsilon zeta, as I said")]
    made = outline("t", parts_of([], [slide], spoken, (0, 9)), spoken, 9)
    assert made.key_points[0].endswith("zeta")


def test_speech_alone_makes_parts_of_its_own():
    spoken = [Segment(start=i * 10, end=i * 10 + 5, text=f"Sentence {i}.") for i in range(40)]
    parts = parts_of([], [], spoken, (0, 400))
    assert 1 < len(parts) <= 12
    assert parts[0].title == "Sentence 0."
    assert parts[-1].end == 395


def test_a_film_without_words_still_has_times():
    parts = parts_of([], [Slide(start=0, end=3), Slide(start=3, end=5)], [], (0, 5))
    made = outline("film", parts, [], 5)
    assert [seconds for seconds, _ in made.timestamps] == [0, 3]
    assert made.summary == f"film: 00:05 in 2 parts {OF}."
    endless = outline("film", parts[:1], [], inf)
    assert endless.summary == f"film: 1 part {OF}."


@settings(max_examples=30)
@given(
    st.lists(
        st.tuples(st.text(max_size=30), st.lists(st.text(max_size=60), max_size=5)), max_size=30
    )
)
def test_an_outline_is_bounded(contents):
    parts = [Part(i, i + 1, t, tuple(lines)) for i, (t, lines) in enumerate(contents)]
    made = outline("t", parts, [], 30)
    assert len(made.key_points) <= 12
    assert len(made.topics) <= 12
    assert len(made.timestamps) == len(parts)


def test_words_carry_meaning():
    assert words("The Recall@10 rose from 0.81, it's so") == [
        "recall",
        "10",
        "rose",
        "0.81",
        "it's",
    ]


def test_lines_come_in_reading_order_with_the_title_first():
    screen = arrange(
        [
            line("• second", 300),
            line("3 / 6", 690),
            line("Big Title", 60, height=50),
            line("0", 400),
            line("first", 200, left=40, width=80),
            line("half", 202, left=130, width=60),
        ],
        720,
    )
    assert screen.title == "Big Title"
    assert screen.lines == ("first half", "second")
    assert screen.text == "Big Title\nfirst half\nsecond"


def test_columns_are_not_joined():
    screen = arrange([line("left", 300, width=60), line("right", 300, left=600)], 720)
    assert screen.text.split("\n") == ["left", "right"]


def test_numbers_above_the_footer_and_fractions_in_text_stay():
    screen = arrange(
        [line("Title", 40, height=40), line("3 / 4", 300), line("of 1 / 2 cup", 600)], 720
    )
    assert screen.lines == ("3 / 4", "of 1 / 2 cup")


def test_a_picture_without_text():
    assert arrange([], 720).text == ""
    assert arrange([line("\x1b[2J", 10)], 720).text == ""


@given(st.lists(st.floats(0, 100), min_size=1, max_size=40), st.integers(1, 12))
def test_the_longest_scenes_are_kept_each_with_its_own_start_and_end(times, most):
    scenes = list(pairwise([*sorted({0.0, *times}), 101]))
    made = spans([start for start, _ in scenes], 101, most)
    assert made == [scene for scene in scenes if scene in made]
    assert len(made) == min(most, len(scenes))
    shortest = min(end - start for start, end in made)
    assert all(end - start <= shortest for start, end in set(scenes) - set(made))


def test_a_short_scene_is_left_out_and_joins_no_other():
    assert spans([0, 1, 10, 11, 30], 40, 3) == [(1, 10), (11, 30), (30, 40)]


@given(st.floats(0, 1000), st.floats(0.1, 500), st.booleans())
def test_a_scene_is_looked_at_within_itself(start, length, last):
    assert start <= looking_time(start, start + length, last=last) <= start + length


@given(st.text(max_size=200), st.integers(2, 60))
def test_text_is_cut_and_clean(text, limit):
    cut = one_line(text, limit)
    assert len(cut) <= limit
    assert "\n" not in cut
    assert clean(cut) == cut
    assert not any(ord(c) < 32 for c in clean(text).replace("\n", ""))
