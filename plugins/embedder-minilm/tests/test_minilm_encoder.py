"""Texts of every kind become unit vectors; only the first 256 tokens count."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from vr_embedder_minilm.checksums import MODEL_FOLDER
from vr_embedder_minilm.encoder import CHARACTER_LIMIT, TOKEN_LIMIT, Encoder

SPECIAL_TOKENS = 2


def length(vector: list[float]) -> float:
    return math.sqrt(math.fsum(x * x for x in vector))


@settings(max_examples=40, deadline=None)
@given(text=st.text(max_size=300))
def test_every_text_has_a_unit_vector(encoder, text):
    vector = encoder.encode(text)
    assert len(vector) == 384
    assert length(vector) == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize(
    "text",
    ["", " \n\t", "\x00", "\ud800 lone surrogate", "🙂" * 400, "x" * 1_000_000, "日本語の文章"],
    ids=["empty", "blank", "nul", "surrogate", "emoji", "one huge word", "japanese"],
)
def test_odd_texts_have_a_unit_vector(encoder, text):
    assert length(encoder.encode(text)) == pytest.approx(1, abs=1e-5)


def test_only_the_first_tokens_count(encoder):
    fits = "river " * (TOKEN_LIMIT - SPECIAL_TOKENS)
    assert encoder.encode(fits + "quantum chemistry " * 500) == encoder.encode(fits)
    assert encoder.encode(fits[: -len("river ")] + "chemistry") != encoder.encode(fits)


def test_the_character_limit_cuts_no_countable_token(encoder):
    word = "u" * 100 + " "  # 100 characters make a token at most, longer words are unknown
    fits = word * (TOKEN_LIMIT - SPECIAL_TOKENS)
    assert len(fits) < CHARACTER_LIMIT
    assert encoder.encode(fits + "end " * 10_000) == encoder.encode(fits)


def test_the_number_of_threads_does_not_change_the_meaning(encoder):
    other = Encoder(MODEL_FOLDER, threads=1)
    text = "A flat index is exact but slow above one million rows."
    product = math.fsum(
        a * b for a, b in zip(encoder.encode(text), other.encode(text), strict=True)
    )
    assert product == pytest.approx(1, abs=1e-4)
