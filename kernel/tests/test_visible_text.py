"""Text without unseen signs: what goes, what stays, and that pieces are as good as the whole."""

from __future__ import annotations

import json
import unicodedata
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from vr_kernel.text.visible_text import (
    VisiblePieces,
    all_visible,
    result_text,
    spelled_out,
    visible,
    visible_json,
    visible_line,
    without_escapes,
)

SEQUENCES = [
    "\x1b[31m", "\x1b[0;1;38;5;9m", "\x9b1m", "\x1b[?25l", "\x1b]0;title\x07", "\x1b(B", "\x1bc",
    "\x1b]8;;http://a.org\x1b\\", "\x9d8;;x\x9c", "\x1bP1$r\x1b\\", "\x1b_G\x1b\\",
]  # fmt: skip
BEGUN = ["\x1b", "\x1b[", "\x1b[3", "\x1b]", "\x1b]0;", "\x9b", "\x9d", "\x1b(", "\x1bP", "\x07"]
KEPT = ["\u200c", "\u200d", "\ufe0f", "\u06dd", "\n", "\t", " ", "a", "é", "文", "🏳", "["]
UNSEEN = ["\0", "\r", "\b", "\x7f", "\x85", "\xad", "\u200b", "\u200f", "\u202e", "\u2028",
          "\u2066", "\u2060", "\ufeff", "\ufff9", "\U000e0001", "\U000e0041"]  # fmt: skip
PIECES = st.sampled_from(
    [*SEQUENCES, *BEGUN, *KEPT, *UNSEEN, "m", "\\", "0;", "\ufe01", "\ud83d", "\ude00"]
)
TEXTS = st.lists(PIECES | st.text(max_size=3), max_size=12).map("".join)
MAY_STAY = {"\n", "\t", "\u200c", "\u200d"}
SHOWN = set(
    "\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd"
)
"""Signs of format that have a form of their own."""


def is_seen(sign: str) -> bool:
    drawn = sign in SHOWN or "\U00013430" <= sign <= "\U0001343f"  # Egyptian
    return drawn or sign in MAY_STAY or unicodedata.category(sign) not in {"Cc", "Cf", "Zl", "Zp"}


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]8;;https://a.org\x1b\\a link\x1b]8;;\x1b\\.", "a link."),
        ("\x1b]0;owned\x07\x9b1mbold\x9b0m\x9d0;owned\x9c", "bold"),
        ("\x1b]0;no end", "0;no end"),
        ("\x1b]a line\nno end\x07", "a line\nno end"),
        ("\x1b\x1b[0m[31m", "[31m"),
        ("one\r\ntwo\tthree", "one\ntwo\tthree"),
        ("gpj.\u202eexe\u202c \u2066x\u2069", "gpj.exe x"),
        ("Ignore\U000e0069\U000e0067", "Ignore"),
        ("a\ufe01\ufe02\ufe03b\u200c\u200d\u200cc", "a\ufe01b\u200cc"),
        ("half \ud83d, whole \ud83d\ude00, \udc00\ud800", "half ?, whole \U0001f600, ??"),
        ("\x1b]" + "x" * 5000 + "\x07.", "x" * 5000 + "."),
    ],
)  # fmt: skip
def test_escapes_go_whole(text: str, seen: str) -> None:
    assert visible(text) == seen


@pytest.mark.parametrize(
    "text",
    [
        "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
        "क्\u200dष",
        "👩\u200d👩\u200d👧 🏳\ufe0f\u200d🌈",
        "葛\U000e0100",
        "\u06dd 1\u202f000 \u00a0",
    ],
)
def test_writing_stays(text: str) -> None:
    assert visible(text) == text


@given(TEXTS)
def test_nothing_unseen_is_left(text: str) -> None:
    seen = visible(text)
    assert visible(seen) == seen
    assert all(map(is_seen, seen))
    assert not [pair for pair in pairwise(seen) if set(pair) <= {"\u200c", "\u200d"}]


def is_form(sign: str) -> bool:
    return sign in "\u200c\u200d" or "\ufe00" <= sign <= "\ufe0f" or sign >= "\U000e0100"


@given(st.text(st.characters(categories=["L", "M", "N", "P", "S", "Zs"])))
def test_printable_text_is_left_as_it_is(text: str) -> None:
    assert [sign for sign in visible(text) if not is_form(sign)] == [
        sign for sign in text if not is_form(sign)
    ]


@given(TEXTS, st.data())
@example("\x1b]0;x\x1b\\y", None)
def test_pieces_are_as_good_as_the_whole(text: str, data: Any) -> None:
    cuts = range(len(text)) if data is None else data.draw(st.lists(st.integers(0, len(text))))
    ends = [0, *sorted(cuts), len(text)]
    pieces = VisiblePieces()
    told = [pieces.take(text[start:end]) for start, end in pairwise(ends)]
    assert "".join([*told, pieces.rest()]) == visible(text)


def test_a_stream_waits_only_for_what_an_escape_may_become() -> None:
    pieces = VisiblePieces()
    assert pieces.take("Hi \x1b[3") == "Hi "
    assert pieces.take("1mred") == "red"
    assert pieces.take("\x1b]" + "x" * 4000) == ""
    assert pieces.take("x" * 100) == "x" * 4100


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)


def texts_of(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [*value, *(text for each in value.values() for text in texts_of(each))]
    if isinstance(value, list):
        return [text for each in value for text in texts_of(each)]
    return [value] if isinstance(value, str) else []


@given(VALUES, st.booleans())
def test_json_keeps_its_shape_and_its_texts_become_visible(value: Any, spelled: bool) -> None:
    seen = all_visible(value)
    assert all(text == visible(text) for text in texts_of(seen))
    assert json.loads(visible_json(json.dumps(value, ensure_ascii=spelled))) == seen


def test_an_escape_does_not_reach_from_one_text_of_json_into_the_next() -> None:
    value = {"a": "\x9d", "b": "kept", "c": "\x9c", "d": "\x9b"}
    text = json.dumps(value, ensure_ascii=False)
    assert json.loads(visible_json(text)) == {"a": "", "b": "kept", "c": "", "d": ""}
    assert visible_json('{"a": "\x1b[31mred",') == '{"a": "red",'


@given(TEXTS)
def test_escapes_give_way_and_all_else_stays_in_its_place(text: str) -> None:
    masked = without_escapes(text)
    assert len(masked) == len(text)
    assert visible(masked) == visible(text)


def test_a_path_keeps_the_marks_of_its_name_and_nothing_that_is_obeyed() -> None:
    name = "/films/\u200eWhatsApp\u200f \u200bfilm\ufeff.mp4"
    assert result_text(name) == name
    assert result_text(name + "\u202e\x1b[31m") == "/films/WhatsApp film.mp4"
    assert result_text(f"See {name}") == "See /films/WhatsApp film.mp4"
    assert result_text("C:\\films\\\u200ea.mp4\nb") == "C:\\films\\a.mp4\nb"


def test_a_line_has_no_unseen_signs_and_single_spaces() -> None:
    assert visible_line(" a\x1b[31m\tred \n\u2028 line\u200b ") == "a red line"


@pytest.mark.parametrize(
    ("most", "line"), [(0, "one two three"), (13, "one two three"), (8, "one two…"), (5, "one…")]
)
def test_a_line_that_is_too_long_ends_in_an_ellipsis(most: int, line: str) -> None:
    assert visible_line("one two three", most) == line


@given(TEXTS)
def test_what_is_spelled_out_shows_all_it_has(text: str) -> None:
    told = spelled_out(text)
    assert told.isprintable()
    assert told == text if text.isprintable() else len(told) > len(text)
