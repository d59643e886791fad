"""Reading order."""

from __future__ import annotations

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st
from vr_kernel import TextLine
from vr_ocr_rapidocr.lines import sort_lines

coordinates = st.floats(0, 2000, allow_nan=False)
sizes = st.floats(1, 200, allow_nan=False)
text_lines = st.builds(
    TextLine,
    text=st.text(min_size=1, max_size=3),
    box=st.tuples(coordinates, coordinates, sizes, sizes),
    confidence=st.floats(0, 1),
)


def line(text: str, left: float, top: float, height: float = 30) -> TextLine:
    return TextLine(text, (left, top, 100, height), 1.0)


def words(lines: list[TextLine]) -> list[str]:
    return [found.text for found in lines]


def test_rows_from_top_columns_from_left():
    lines = [line("d", 300, 102), line("a", 10, 10), line("c", 10, 100), line("b", 300, 6)]
    assert words(sort_lines(lines)) == ["a", "b", "c", "d"]


def test_a_small_footer_beside_a_tall_title_keeps_its_row():
    assert words(sort_lines([line("title", 10, 0, 80), line("1 / 6", 900, 52, 20)])) == [
        "title",
        "1 / 6",
    ]


def test_close_rows_stay_apart():
    rows = [line(str(n), 400 - 100 * n, 20 * n, 18) for n in range(4)]
    assert words(sort_lines(reversed(rows))) == ["0", "1", "2", "3"]


@settings(max_examples=30)
@given(st.lists(text_lines, max_size=12))
def test_nothing_is_lost_or_doubled(lines):
    assert Counter(sort_lines(lines)) == Counter(lines)


@settings(max_examples=30)
@given(st.lists(text_lines, max_size=12))
def test_a_line_wholly_below_another_comes_later(lines):
    ordered = sort_lines(lines)
    for place, later in enumerate(ordered):
        for earlier in ordered[:place]:
            assert earlier.box[1] < later.box[1] + later.box[3]
