"""Texts of strangers in every field of every block change nothing but the words that are read."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from functools import cache
from itertools import pairwise
from urllib.parse import urlsplit

from hostile_texts import hostile_texts
from markdown_it import MarkdownIt
from markdown_it.token import Token
from view_filling import filled, is_address
from vr_kernel.views import View, as_data, as_markdown, as_text, from_data, is_web
from vr_testing import sample_view

OWN = {"Prose", "Pages", "Code"}
FREE = {"Prose.text", "DocumentPage.text", "Code.text", "Image.text"}
"""Fields whose text has lines, lists and emphasis of its own."""
STEERS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def test_markdown_has_the_structure_that_it_has_with_harmless_words() -> None:
    for text in hostile_texts():
        found = harmless_tokens(as_markdown(hostile(text)), text)
        assert skeleton(found) == usual_skeleton(*sorts(text)), repr(text)


def test_texts_with_lines_of_their_own_stay_in_their_block() -> None:
    for text in hostile_texts():
        found = harmless_tokens(as_markdown(lively(text)), text)
        assert headings(found) == usual_headings(), repr(text)


def test_plain_text_steers_nothing_and_has_its_lines() -> None:
    for text in hostile_texts():
        shown = as_text(hostile(text))
        assert not STEERS.search(shown), repr(text)
        assert shown.count("\n") == usual_lines(*sorts(text)), repr(text)
        assert not STEERS.search(as_text(lively(text))), repr(text)


def test_data_reads_back_as_the_same_view() -> None:
    for text in hostile_texts()[::3]:
        for view in (hostile(text), lively(text)):
            data = json.dumps(as_data(view), ensure_ascii=False, allow_nan=False)
            assert from_data(json.loads(data.encode())) == view, repr(text)


@cache
def markdown() -> MarkdownIt:
    """A parser of CommonMark with tables, that follows every link it sees."""
    parser = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    parser.validateLink = lambda _url: True  # type: ignore[method-assign]  # to see them all
    return parser


def harmless_tokens(shown: str, text: str) -> list[Token]:
    """The tokens of Markdown, in which nothing is fetched and every link leads into the web."""
    found = markdown().parse(shown)
    for token in (inner for each in found for inner in (each, *(each.children or ()))):
        assert token.type not in ("image", "html_block", "html_inline"), (text, token)
        if token.type == "link_open":
            link = str(token.attrs["href"])
            assert urlsplit(link).scheme in ("http", "https", "file"), (text, link)
    return found


@cache
def fixed() -> View:
    """The blocks whose lines are not those of their texts."""
    view = sample_view()
    return replace(view, blocks=[it for it in view.blocks if type(it).__name__ not in OWN])


@cache
def free() -> View:
    """The others."""
    view = sample_view()
    own = {*OWN, "Pictures"}
    return replace(view, blocks=[it for it in view.blocks if type(it).__name__ in own])


@cache
def hostile(text: str) -> View:
    """The text in every field, on one line where lines would stay."""
    line = " ".join(text.split())
    return filled(fixed(), lambda place, _old: line if place in FREE else text)


@cache
def lively(text: str) -> View:
    """The text wherever it may have lines, lists and emphasis of its own."""
    return filled(free(), lambda place, old: text if place in FREE else old)


def sorts(text: str) -> tuple[str, str]:
    """Harmless words instead of a text, and instead of an address: nothing for what is unseen."""
    word = "word" if View(text).title else ""
    leads = is_web(text) or text.startswith("file://")
    return word, "https://ok.example/" if leads else word


@cache
def usual(word: str, address: str) -> View:
    return filled(fixed(), lambda place, _old: address if is_address(place) else word)


@cache
def usual_skeleton(word: str, address: str) -> list[str]:
    return skeleton(markdown().parse(as_markdown(usual(word, address))))


@cache
def usual_lines(word: str, address: str) -> int:
    return as_text(usual(word, address)).count("\n")


@cache
def usual_headings() -> list[str]:
    return headings(markdown().parse(as_markdown(free())))


def skeleton(found: list[Token]) -> list[str]:
    """The tokens without those of words."""
    every = (inner.type for each in found for inner in (each, *(each.children or ())))
    return [kind for kind in every if kind not in ("text", "text_special")]


def headings(found: list[Token]) -> list[str]:
    """The headings, with their levels."""
    heads = ((head, words) for head, words in pairwise(found) if head.type == "heading_open")
    return [f"{head.tag} {words.content}" for head, words in heads]


def test_there_are_500_texts() -> None:
    assert len(hostile_texts()) >= 500
