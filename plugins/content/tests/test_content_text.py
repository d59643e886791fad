"""Text as blocks of lines, and its encodings."""

from __future__ import annotations

import time
from io import BytesIO

import pytest
from hypothesis import given
from hypothesis import strategies as st
from vr_plugin_content.formats import plain_text
from vr_plugin_content.formats.encodings import decoded
from vr_plugin_content.formats.parsed import Asked, Bounds, Parsed, ParseError


def read(content: bytes, name: str = "a.txt", **asked: object) -> Parsed:
    return plain_text.parse(BytesIO(content), Asked(name=name, **asked))


@given(st.lists(st.one_of(st.text("ab \t", max_size=60), st.text("x y", min_size=900))))
def test_every_line_is_found_in_a_piece_that_claims_its_number(lines: list[str]) -> None:
    text = "\n".join([*lines, "end"])
    pieces = read(text.encode()).pieces
    for number, line in enumerate(text.split("\n"), 1):
        claiming = [
            piece.text
            for piece in pieces
            if piece.place["first_line"] <= number <= piece.place["last_line"]
        ]
        words = "".join(line.split())
        assert words in "".join("".join(claiming).split())
    for piece in pieces:
        first, last = piece.place["first_line"], piece.place["last_line"]
        assert piece.text.count("\n") == last - first
        assert len(piece.text) <= 1_600


def test_a_form_feed_and_a_line_separator_do_not_move_the_lines_behind_them() -> None:
    pieces = read("one\r\n\x0c\r\ntwo\u2028more\rthree".encode()).pieces
    lines = pieces[0].text.split("\n")
    assert [line.strip() for line in lines] == ["one", "", "two more", "three"]
    assert pieces[0].place == {"first_line": 1, "last_line": 4}


@pytest.mark.parametrize(
    ("words", "encoding"),
    [
        ("café, naïve résumés for all of us", "latin-1"),
        ("Größe und Maß, „Zitat“, schöne Grüße", "cp1252"),
        ("Привет мир, как дела? Это проверка кодировки", "cp1251"),
        ("日本語のテキストです。これはテストです。", "shift_jis"),
        ("Zażółć gęślą jaźń, proszę bardzo", "cp1250"),
        ("日本語", "utf-8-sig"),
        ("日本語", "utf-16"),
        ("plain words without a mark", "utf-16-be"),
        ("plain words without a mark", "utf-16-le"),
        ("日本語", "utf-32"),
    ],
)
def test_the_encoding_is_found_without_a_word_of_a_server(words: str, encoding: str) -> None:
    assert decoded(words.encode(encoding)) == words


def test_a_server_says_the_encoding_and_nonsense_of_it_is_passed_over() -> None:
    assert decoded("шум".encode("koi8-r"), "koi8-r") == "шум"
    assert decoded(b"\x93quoted\x94", "ISO-8859-1") == "“quoted”"
    for nonsense in ("punycode", "zlib", "idna", "undefined", "utf-16", "\0", "x" * 9_999):
        assert decoded("größer".encode(), nonsense) == "größer"


def test_damaged_utf_8_stays_utf_8() -> None:
    text = "größere Häuser für alle\n" * 100
    assert decoded(text.encode() + b"\xff" + text.encode()).count("größere") == 200


def test_colours_of_a_terminal_and_control_characters_are_left_out() -> None:
    text = "\x1b[1;31mred\x1b[0m \x1b]0;title\x07bell\x07\tand\x00 tab" + " words" * 100
    assert decoded(text.encode()).startswith("red bell\tand tab words")


@pytest.mark.parametrize(
    ("content", "category"),
    [
        (b"", "DOCUMENT_EMPTY"),
        (b" \r\n\t\xef\xbb\xbf"[:4], "DOCUMENT_EMPTY"),
        (b"\xff\xfe", "DOCUMENT_EMPTY"),
        (b"\x7fELF\x02\x01\x01" + bytes(200), "DOCUMENT_BINARY"),
        (bytes(range(256)) * 100, "DOCUMENT_BINARY"),
    ],
)
def test_what_holds_no_text_is_said_to_be_so(content: bytes, category: str) -> None:
    with pytest.raises(ParseError) as caught:
        read(content)
    assert caught.value.category == category
    assert caught.value.hint


def test_the_media_type_is_told_by_the_name() -> None:
    kinds = {"a.json": "application/json", "A.PY": "text/x-python", "Makefile": "text/plain"}
    assert {name: read(b"x", name).mime for name in kinds} == kinds


def test_a_long_text_and_an_endless_line_are_read_fast_and_up_to_the_bound() -> None:
    code = b"def f(x):\n    return x\n\n" * 210_000
    began = time.process_time()
    found = read(code)
    endless = read(b'{"a":' * 1_000_000, bounds=Bounds(chars=1_000_000))
    assert time.process_time() - began < 3
    assert found.pieces[-1].place["last_line"] > 600_000
    assert {tuple(piece.place.values()) for piece in endless.pieces} == {(1, 1)}
    assert sum(len(piece.text) for piece in endless.pieces) == 1_000_000
    assert "max_chars" in endless.limits[0]
