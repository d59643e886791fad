"""Texts of strangers in every field of every block change nothing but the words that are read."""

from __future__ import annotations

import json
from functools import cache
from itertools import pairwise

from hostile_checks import STEERS, harmless_tokens
from hostile_texts import hostile_texts, shares
from hostile_views import hostile, lively, tame
from hypothesis import given, settings
from markdown_it.token import Token
from view_strategies import any_view
from vr_kernel.views import View, as_data, as_markdown, as_text, from_data


@shares()
def test_markdown_has_the_structure_that_it_has_with_harmless_words(texts: list[str]) -> None:
    for text in texts:
        found = harmless_tokens(as_markdown(hostile(text)), text)
        assert skeleton(found) == usual_skeleton(tame(text)), repr(text)


@shares()
def test_texts_with_lines_of_their_own_stay_in_their_block(texts: list[str]) -> None:
    for text in texts:
        found = harmless_tokens(as_markdown(lively(text)), text)
        assert headings(found) == usual_headings(), repr(text)


@settings(max_examples=20)
@given(any_view())
def test_markdown_of_any_view_is_harmless(view: View) -> None:
    harmless_tokens(as_markdown(view), "any")


@shares()
def test_plain_text_steers_nothing_and_has_its_lines(texts: list[str]) -> None:
    for text in texts:
        shown = as_text(hostile(text))
        assert not STEERS.search(shown), repr(text)
        assert shown.count("\n") == usual_lines(tame(text)), repr(text)
        assert not STEERS.search(as_text(lively(text))), repr(text)


@shares()
def test_data_reads_back_as_the_same_view(texts: list[str]) -> None:
    for text in texts:
        for view in (hostile(text), lively(text)):
            data = json.dumps(as_data(view), ensure_ascii=False, allow_nan=False)
            assert from_data(json.loads(data.encode())) == view, repr(text)


@cache
def usual_skeleton(harmless: str) -> list[str]:
    return skeleton(harmless_tokens(as_markdown(hostile(harmless)), harmless))


@cache
def usual_lines(harmless: str) -> int:
    return as_text(hostile(harmless)).count("\n")


@cache
def usual_headings() -> list[str]:
    return headings(harmless_tokens(as_markdown(lively("word")), "word"))


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
