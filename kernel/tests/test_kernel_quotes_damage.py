"""Quotes: true ones are found whatever befell them, moved ones corrected, invented ones caught."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from quote_damage import Damage, damaged
from quote_inventions import Invention, Text, invented, read_collection, stands
from quote_speech import spelled
from quote_trials import in_order, try_invented, try_true
from vr_kernel.quoting.quotes import Passage, QuoteIndex

COLLECTIONS = ("cacm", "cisi", "cranfield")
TRIED = 14
"""Quotes of a kind and collection here; `make bench ARGS=quotes` tries thousands."""
REPORT = Text(
    [
        "The committee of Rotterdam met twenty-five engineers in the spring of the year 1984.",
        "Professor Lindqvist was not convinced that the dike would hold a storm from the west.",
        "Her colleague Abernathy wanted to raise the wall by three metres before the winter began.",
        "They finally agreed on a defence of steel and clay, which the harbour could pay for.",
        "A first gate was closed in November, and the café behind it stayed perfectly dry.",
        "No official of the ministry has ever explained why the difficult second gate took longer.",
        "Fishermen complained that the flow of the river carried sand into their narrow channel.",
        "The method of the engineers is shown in a large model, and the results are told here.",
    ]
)


@pytest.fixture(scope="module")
def texts() -> dict[str, list[Text]]:
    folder = os.environ.get("VR_TEST_DATA")
    if not folder:
        pytest.skip("needs VR_TEST_DATA, the folder with retrieval/ that does not ship")
    return {
        it: read_collection(Path(folder, "retrieval", it, "corpus.jsonl")) for it in COLLECTIONS
    }


@pytest.mark.parametrize("kind", Damage, ids=lambda kind: kind.name.lower())
def test_true_quotes_of_real_texts_are_found_and_their_places_corrected(kind, texts):
    """One in a hundred may be refused, and every one that is found is also found when moved."""
    for name, found in texts.items():
        tally = try_true(kind, found, TRIED, random.Random(f"{kind.name} {name}"))
        assert tally.refused <= 1, tally.wrong
        assert tally.unmoved == 0


@pytest.mark.parametrize("kind", Invention, ids=lambda kind: kind.name.lower())
def test_quotes_invented_of_real_words_are_caught(kind, texts):
    for name, found in texts.items():
        tally = try_invented(kind, found, TRIED, random.Random(f"{kind.name} {name}"))
        # Cranfield is in small letters, and has no names.
        assert tally.tried == TRIED or (kind, name) == (Invention.NAME, "cranfield")
        assert tally.believed == 0, tally.wrong


@settings(max_examples=60, derandomize=True, deadline=None)
@given(kind=st.sampled_from(Damage), seed=st.integers(0, 2**32))
def test_a_damaged_quote_of_a_small_text_is_found(kind, seed):
    rng = random.Random(seed)
    half = len(REPORT.sentences) // 2
    words, beside = (
        " ".join(it).split() for it in (REPORT.sentences[:half], REPORT.sentences[half:])
    )
    quote = damaged(kind, words, beside, rng)
    found = QuoteIndex([Passage(quote.text, 0, 10)]).find(quote.quote, 5, 10)
    assert found.verdict == "verified", quote


@settings(max_examples=80, derandomize=True, deadline=None)
@given(kind=st.sampled_from(Invention), seed=st.integers(0, 2**32))
def test_an_invented_quote_of_a_small_text_is_caught(kind, seed):
    quote = invented(kind, REPORT, random.Random(seed))
    if quote is not None:
        found = QuoteIndex(in_order(REPORT.sentences)).find(quote)
        assert found.verdict == "not_found", found


@settings(max_examples=80, derandomize=True, deadline=None)
@given(number=st.integers(0, 9999), other=st.integers(0, 9999), seed=st.integers(0, 2**32))
def test_numbers_are_the_same_in_digits_and_in_words(number, other, seed):
    said = f"the harbour counted {spelled(number, random.Random(seed))} ships in that long year"
    index = QuoteIndex([Passage(said, 0, 1)])
    assert index.find(f"harbour counted {number} ships in that long year").verdict == "verified"
    if other != number:
        lie = f"harbour counted {other} ships in that long year"
        assert index.find(lie).verdict == "not_found"


@pytest.mark.parametrize(
    ("said", "quote"),
    [
        ("The efﬁcient ofﬁce baﬄes ﬁne ﬂocks", "the efficient office baffles fine flocks"),
        ("it is the Ørsted number of the flow", "it is the Orsted number of the flow"),
        (
            "wait for the tide and for the wind that blows from the old harbour in the west",
            "weight for the tied and for the wind that blows from the old harbour in the west",
        ),
        (
            "language models are here to stay".replace("a", "\u0430").replace("e", "\u0435"),
            "language models are here to stay",
        ),
        ("one such network has been built here", "onesuchnetworkhasbeenbuilthere"),
        ("it rose by .75 and then by 3.5 million", "rose by 0.75 and then by 3,500,000"),
        ("the fourth and the twenty-first of May", "the 4th and the 21st of May"),
        ("don\u00b4t trust the cannot of a captain", "don't trust the can't of a captain"),
        ("services that ninety\u2212two schools offer", "services that 92 schools offer"),
    ],
)
def test_forms_of_one_text(said, quote):
    assert QuoteIndex([Passage(said, 0, 1)]).find(quote).verdict == "verified"


@pytest.mark.parametrize(
    ("said", "quote"),
    [
        (
            "the pressure is likely to increase with speed",
            "the pressure is unlikely to increase with speed",
        ),
        (
            "the pressure is going to increase with speed",
            "the pressure is going to decrease with speed",
        ),
        (
            "it holds before the gate of the old harbour",
            "it holds after the gate of the old harbour",
        ),
        ("the first gate of the old harbour is dry", "the second gate of the old harbour is dry"),
        ("they know that the old harbour gate is dry", "they no that the old harbour gate is dry"),
        ("factors of 1 to 3, for the whole of the range", "for the factors of 1 to 4"),
        ("the following objectives are met: 1. to be dry", "the following objectives are met: 2."),
        (
            "plates with one, two, three and more of them",
            "plates with one, twenty three and more of them",
        ),
        (
            "a letter to Lindqvist from the old harbour",
            "a letter to Abernathy from the old harbour",
        ),
        ("this harmless harbour has a wall of clay", "this harmful harbour has a wall of clay"),
    ],
)
def test_small_changes_that_say_something_else(said, quote):
    assert QuoteIndex([Passage(said, 0, 1)]).find(quote).verdict == "not_found"


PAGE = """The old harbour of the city was      The wall along the river is made
built by monks who had come from     of clay and of stones that ships
the north, and it was closed when    had brought as ballast. It broke
the river brought too much sand.     twice, and was raised both times."""


@pytest.mark.parametrize(
    "quote",
    [
        "built by monks who had come from the north, and it was closed when the river brought",
        "of clay and of stones that ships had brought as ballast. It broke twice",
        "had come from the north, and it was closed",
    ],
)
def test_a_quote_of_one_column_of_a_page_that_was_read_across(quote):
    found = QuoteIndex([Passage("A page before.", 0, 1), Passage(PAGE, 1, 2)]).find(quote, 1, 1)
    assert (found.verdict, found.passage) == ("verified", 1)
    assert " ".join(found.text.split()).rstrip(".") == quote


@pytest.mark.parametrize(
    "quote",
    [
        "built by monks who had come from had brought as ballast. It broke",
        "The wall along the river built by monks who had come from the north",
        "the river brought too much sand. The old harbour of the city was built by monks",
        "the north, and it was closed when the river was made of clay and of stones",
    ],
)
def test_lines_of_columns_that_were_picked_are_no_quote(quote):
    assert QuoteIndex([Passage(PAGE, 0, 1)]).find(quote).verdict == "not_found"


def test_the_generator_of_inventions_knows_what_stands():
    words = ["The", "gate,", "which", "was", "old,", "is", "dry."]
    assert stands("gate which was OLD", words)
    assert not stands("old gate which", words)
    assert not stands("gat", words)
