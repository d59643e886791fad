"""The program's table of words becomes lines."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from vr_ocr_tesseract.words import parse_table

HEADER = (
    "level\tpage_num\tblock_num\tpar_num\tline_num\tword_num\tleft\ttop\twidth\theight\tconf\ttext"
)


def word(line: int, number: int, box: tuple[int, int, int, int], conf: float, text: str) -> str:
    place = "\t".join(map(str, (5, 1, 1, 1, line, number, *box)))
    return f"{place}\t{conf}\t{text}"


def table(*rows: str, end: str = "\n") -> str:
    return end.join([HEADER, "4\t1\t1\t1\t1\t0\t5\t5\t900\t40\t-1\t", *rows, ""])


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_words_of_a_line_are_joined(end):
    (line,) = parse_table(
        table(
            word(1, 1, (10, 22, 50, 20), 96.5, "Hello,"),
            word(1, 2, (70, 20, 60, 26), 90.5, "world"),
            end=end,
        ),
        0.5,
    )
    assert line.text == "Hello, world"
    assert line.box == (10, 20, 120, 26)
    assert line.confidence == pytest.approx(0.935)


def test_uncertain_and_empty_words_are_left_out():
    lines = parse_table(
        table(
            word(1, 1, (5, 20, 9, 9), 31.0, "¢"),
            word(1, 2, (20, 20, 9, 9), 95.0, "bullet"),
            word(2, 1, (20, 60, 9, 9), 95.0, " "),
        ),
        0.5,
    )
    assert [line.text for line in lines] == ["bullet"]


def test_lines_are_ordered_by_their_upper_edge():
    rows = [word(n, 1, (10, 500 - 100 * n, 9, 9), 90, f"line{n}") for n in range(4)]
    assert [line.text for line in parse_table(table(*rows), 0)] == [
        "line3",
        "line2",
        "line1",
        "line0",
    ]


def test_no_words_make_no_lines():
    assert parse_table(table(), 0) == []
    assert parse_table("", 0) == []


@given(text=st.text(st.characters(exclude_characters="\t\n\r", exclude_categories=["Cs"])))
def test_any_text_survives(text):
    found = parse_table(table(word(1, 1, (1, 1, 9, 9), 90, text)), 0)
    assert [line.text for line in found] == ([text.strip()] if text.strip() else [])
