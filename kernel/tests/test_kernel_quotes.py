"""Quotes: what stands in the source is found in spite of damage, what does not is not believed."""

from __future__ import annotations

import math
import random
import sys
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from vr_kernel.quoting.quotes import MOST_CHARS, Finding, Passage, QuoteIndex, find_in

TALK = [
    Passage("Welcome. Today I will talk about vector search in practice.", 0, 5),
    Passage("A flat index is exact but slow above one million rows, and it does", 5, 10),
    Passage("not need any training. The colour of the centre", 10, 15),
    Passage("is what we organise by: recall rose from 0.81 to 0.94,", 15, 20),
    Passage(
        "latency fell by 15 percent. It is not clear that a larger model helps us here.", 20, 25
    ),
    Passage("And so, my fellow Americans, ask not what your country can do for you.", 25, 30),
]


def some_words(rng: random.Random, consonants: str, count: int) -> list[str]:
    """Different words that are no number and no negation in any language."""
    words: dict[str, None] = {}
    while len(words) < count:
        size = rng.randint(2, 4)
        words["".join(rng.choice(consonants) + rng.choice("aeiou") for _ in range(size))] = None
    return list(words)


@dataclass
class Source:
    """Words, cut into passages of a second a word, and the passage of each word."""

    rng: random.Random
    words: list[str]
    passages: list[Passage]
    homes: list[Passage]


def make_source(seed: int) -> Source:
    rng = random.Random(seed)
    words = some_words(rng, "bdfklmrs", rng.randint(40, 80))
    ends = [n for n in range(1, len(words)) if rng.random() < rng.choice([0.1, 0.3, 0.9])]
    cuts = list(pairwise([0, *ends, len(words)]))
    passages = [Passage(" ".join(words[a:b]), a, b) for a, b in cuts]
    homes = [passages[n] for n, (a, b) in enumerate(cuts) for _ in range(a, b)]
    return Source(rng, words, passages, homes)


sources = st.integers(0, 2**32).map(make_source)


def spoil_signs(words: list[str], rng: random.Random) -> str:
    def spoil(word: str) -> str:
        at = rng.randrange(len(word))
        accented = unicodedata.normalize(rng.choice(["NFC", "NFD"]), word[at] + "\u0301")
        hidden = rng.choice(["", "\u00ad", "\u200b", "\ufeff"])
        word = word[:at] + accented + hidden + word[at + 1 :]
        return rng.choice([word, word.upper(), f"**{word}**", f"“{word},”", f"- {word}"])

    text = rng.choice([" ", "  ", "\n", " \u2014 ", "\u00a0"]).join(map(spoil, words))
    return rng.choice([text, f"…{text}...", f"> {text}"])


def spoil_letters(words: list[str], rng: random.Random) -> str:
    """At most one letter in ten is another one, is missing or has one behind it."""
    letters = list(" ".join(words))
    places = [at for at, letter in enumerate(letters) if letter != " "]
    for at in rng.sample(places, len(places) // 10):
        letters[at] = rng.choice(["q", "", letters[at] + "q"])
    return "".join(letters)


def spoil_words(words: list[str], rng: random.Random) -> str:
    """One word in eight is another one, is missing or has one before it."""
    words = list(words)
    for at in sorted(rng.sample(range(len(words)), len(words) // 8), reverse=True):
        words[at : at + 1] = rng.choice([["qqxqqx"], [], ["qqxqqx", words[at]]])
    return " ".join(words)


def spoil_spaces(words: list[str], rng: random.Random) -> str:
    at, cut = rng.randrange(len(words) - 1), rng.randrange(len(words))
    broken = [
        f"{w[:2]}{rng.choice(['-', ' ', '-' + chr(10)])}{w[2:]}" for w in words[cut : cut + 1]
    ]
    words = [*words[:cut], *broken, *words[cut + 1 :]]
    return " ".join([*words[:at], words[at] + words[at + 1], *words[at + 2 :]])


@pytest.mark.parametrize(
    ("spoil", "most"), [(spoil_signs, 0), (spoil_letters, 1), (spoil_words, 1), (spoil_spaces, 0)]
)
def test_what_was_said_is_found_in_spite_of_damage(spoil, most):
    """Hardly any quote is refused: a word lost beside one like it may cost as much as two."""
    refused = 0
    for source in map(make_source, range(60)):
        length = source.rng.randint(8, 30)
        at = source.rng.randint(0, len(source.words) - length)
        quote = spoil(source.words[at : at + length], source.rng)
        finding = QuoteIndex(source.passages).find(quote, at, tolerance=12)
        if finding.verdict != "verified":
            refused += 1
            continue
        # A lost first word lets the quote begin with a word after it.
        assert source.homes[at].start - 2 <= finding.place <= source.homes[at].end + 4
        moved = QuoteIndex(source.passages).find(quote, at + 500, tolerance=12)
        assert moved.verdict == "moved"
        assert moved.place == pytest.approx(finding.place, abs=3)
    assert refused <= most


@settings(max_examples=25)
@given(source=sources, length=st.integers(6, 24))
def test_what_was_not_said_is_never_believed(source, length):
    index = QuoteIndex(source.passages)
    at = source.rng.randint(0, len(source.words) - length)
    said = source.words[at : at + length]
    invented = some_words(source.rng, "ghjpvwxz", length)
    half, where = length // 2, source.rng.randint(1, length - 1)
    lies = {
        "other words": invented,
        "half of it": said[:half] + invented[half:],
        "the other half": invented[:half] + said[half:],
        "every second word": [
            b if n % 2 else a for n, (a, b) in enumerate(zip(said, invented, strict=True))
        ],
        "the other order": said[::-1],
        "halves exchanged": said[half:] + said[:half],
        "a negation": [*said[:where], "not", *said[where:]],
        "a number": [*said[:where], "15", *said[where:]],
        "a number in words": [*said[:where], "fifty", *said[where:]],
    }
    for what, lie in lies.items():
        assert index.find(" ".join(lie), at).verdict == "not_found", what


@settings(max_examples=25)
@given(source=sources, at=st.integers(1, 10))
def test_a_negation_or_number_of_the_source_is_not_left_out_or_changed(source, at):
    words = source.words
    for word, wrong in [("not", ""), ("never", ""), ("15", "50"), ("fifteen", "fifty")]:
        said, lie = ([*words[:at], own, *words[at:30]] for own in (word, wrong))
        index = QuoteIndex([Passage(" ".join([*words[:at], word, *words[at:]]), 0, 10)])
        assert index.find(" ".join(said)).verdict == "verified"
        assert index.find(" ".join(lie)).verdict == "not_found"


SMALL = str.split("one two three four five six seven eight nine")
TENS = str.split("twenty thirty forty fifty sixty seventy eighty ninety")


def spellings(number: int) -> list[str]:
    """A number from 20 to 99 in digits, and in words with and without a hyphen."""
    tens, unit = TENS[number // 10 - 2], SMALL[number % 10 - 1] if number % 10 else ""
    return [str(number), *(f"{tens}{between}{unit}".strip("- ") for between in " -")]


@settings(max_examples=25)
@given(number=st.integers(20, 99), other=st.integers(1, 99), cut=st.booleans())
def test_a_number_is_the_same_in_digits_and_in_words_and_no_other_is(number, other, cut):
    wrong = spellings(other) if other >= 20 else [str(other)]
    wrong += [str(number)[::-1], str(number)[0] + "0", *SMALL[number % 10 - 1 :][:1]]
    for said in spellings(number):
        text = f"they say that profits rose by {said} percent in the last year of the war"
        at = text.index(said) + max(said.find(" "), 0)
        cuts = [text[:at], text[at:]] if cut else [text]
        index = QuoteIndex([Passage(part, n, n + 1) for n, part in enumerate(cuts)])
        for form in spellings(number):
            for quote in (f"{form} percent", f"{form}%", f"profits rose by {form}"):
                found = index.find(quote)
                assert (found.verdict, found.score) == ("verified", 1.0), (said, quote)
            assert index.find(f"{form}%").text.split() == [*said.split(), "percent"]
        for form in set(wrong) - set(spellings(number)) - {str(number)}:
            for quote in (f"{form} percent", f"that profits rose by {form} percent in the last"):
                assert index.find(quote).verdict == "not_found", (said, quote)


def test_numbers_that_follow_each_other_stay_apart():
    index = QuoteIndex([Passage("I was twenty. Five years later: thirty, two of us left.", 0, 9)])
    assert index.find("five years later").verdict == "verified"
    for quote in ("25 years later", "twenty-five years later", "32 of us left"):
        assert index.find(quote).verdict == "not_found"
    assert QuoteIndex([Passage("ten five 20 5", 0, 9)]).find("20 5").verdict == "verified"


@settings(max_examples=60)
@given(
    texts=st.lists(st.text(max_size=30), max_size=5),
    quote=st.text(max_size=60),
    claimed=st.none() | st.floats(),
)
def test_any_text_gets_a_finding(texts, quote, claimed):
    passages = [Passage(text, n, n + 1) for n, text in enumerate(texts)]
    finding = QuoteIndex(passages).find(quote, claimed)
    assert 0 <= finding.score <= 1
    found = finding.verdict in ("verified", "moved")
    assert (finding.place is not None) == found
    assert (finding.passage is not None) == found
    if found:
        assert finding.passage <= finding.place <= finding.passage + 1


@settings(max_examples=60)
@given(text=st.text(min_size=1, max_size=80))
def test_a_text_is_found_in_itself(text):
    finding = QuoteIndex([Passage(text, 3, 4)]).find(text)
    if finding.verdict != "unchecked":
        readable = finding.text or any(map(str.isalnum, text))
        assert finding.verdict == ("verified" if readable else "not_found")


@pytest.mark.parametrize(
    "quote",
    [
        "today I will talk about VECTOR-search in practice",
        "“…talk about vector search in practice…”",
        "* exact but slow above 1 million rows",
        "exact but slow above one million rows",
        "and it doesn't need any training",
        "the color of the center is what we organize by",
        "recall rose from 0.81 to 0.94",
        "recall rose from 0,81 to 0,94",
        "latency fell by 15%",
        "latency fell by fifteen per cent",
        "latency fell by 15 percent ... a larger model helps us",
        "I will talk about [...] a flat index is exact (…) not need any training",
        "my felow Amerikans, ask not what your country can do for you",
    ],
)
def test_quotes_as_people_write_them(quote):
    assert QuoteIndex(TALK).find(quote).verdict == "verified"


@pytest.mark.parametrize(
    "quote",
    [
        "a flat index is slow but exact above one million rows and needs no training",
        "and it does need any training",
        "It is clear that a larger model helps us here",
        "It is ... clear that a larger model helps us here",
        "recall rose from 0.94 to 0.81",
        "recall rose from 0.81 to 0.95",
        "latency fell by 50 percent",
        "latency fell by fifty percent",
        "ask what your country can do for you",
        "ask not what you can do for your country, my fellow Americans",
        "a larger model helps us here ... latency fell by 15 percent",
        "Welcome ... my fellow Americans, ask not what your country ... thank you",
        "index types in practice are flat, inverted lists and graphs",
    ],
)
def test_quotes_that_nobody_said(quote):
    assert QuoteIndex(TALK).find(quote).verdict == "not_found"


def test_nothing_to_look_in_or_for():
    assert QuoteIndex([]).find("anything at all").verdict == "unchecked"
    assert QuoteIndex([Passage(" \n- * ", 0, 1)]).find("anything").verdict == "unchecked"
    assert QuoteIndex(TALK).find("a" * (MOST_CHARS + 1)).verdict == "unchecked"
    assert find_in([], "anything").verdict == "unchecked"
    for quote in ("", "  ", "...", "“”"):
        assert QuoteIndex(TALK).find(quote) == Finding("not_found")


def test_short_quotes_match_exactly_and_whole_words():
    index = QuoteIndex(TALK)
    assert index.find("Vector search").verdict == "verified"
    for quote in ("vectr search", "vector sear", "search vector", "ector", "an index"):
        assert index.find(quote).verdict == "not_found"


@pytest.mark.parametrize("claimed", [math.nan, math.inf, -math.inf, -500.0, 1e300])
def test_an_impossible_claim_is_corrected(claimed):
    finding = QuoteIndex(TALK).find("my fellow Americans", claimed)
    assert finding.verdict == "moved"
    assert 25 < finding.place < 30


def test_the_nearest_of_equal_places_wins():
    repeated = [Passage("thank you very much for coming", 100 * n, 100 * n + 9) for n in range(300)]
    index = QuoteIndex(repeated)
    for quote in ("Thank you very much for coming!", "thank you vary much for comming"):
        assert index.find(quote).place == 0
        for claimed in (0, 15_004, 29_900):
            finding = index.find(quote, claimed)
            assert finding.verdict == "verified"
            assert finding.passage == round(claimed / 100)
        assert index.find(quote, 15_045).passage == 150
        assert index.find(quote, 15_045).verdict == "moved"


def test_a_damaged_quote_near_the_claim_comes_before_an_exact_one_elsewhere():
    passages = [
        Passage("we thank you all for your kind attention", 0, 9),
        Passage("we thank you all for your kid attention", 500, 509),
    ]
    finding = QuoteIndex(passages).find("we thank you all for your kind attention", 505)
    assert (finding.verdict, finding.passage) == ("verified", 1)


def test_the_place_is_where_the_quote_begins_and_the_text_the_sources_own():
    passages = [
        Passage("Über die Hälfte \u2013 „zitiert“ \u2013", 10, 20),
        Passage("wurde\u00ad so", 20, 30),
    ]
    finding = QuoteIndex(passages).find("zitiert wurde so")
    assert finding.place == pytest.approx(10 + 10 * passages[0].text.index("zitiert") / 29)
    assert finding.text == "zitiert“ \u2013 wurde\u00ad so"
    assert (finding.score, finding.passage) == (1.0, 0)


@pytest.mark.parametrize(
    ("source", "quote", "text"),
    [
        ("return f(g(a) * h(b))", "return f(g(a) * h(b))", "return f(g(a) * h(b))"),
        (
            "A graph (HNSW) is fast (but large).",
            "(HNSW) is fast (but large).",
            "(HNSW) is fast (but large)",
        ),
        ("as they say (see [4]).", "as they say (see [4])", "as they say (see [4])"),
        ("it (or not) ends) here", "it (or not) ends", "it (or not) ends"),
    ],
)
def test_a_quote_keeps_the_brackets_that_it_opens_and_closes(
    source: str, quote: str, text: str
) -> None:
    assert QuoteIndex([Passage(source, 0, 1)]).find(quote).text == text


def test_a_slide_is_there_as_long_as_it_lasts():
    slides = QuoteIndex([Passage("Index types\nHNSW: graph, fast", 100, 400)], lasts=True)
    for claimed, verdict, place in [(250, "verified", 250), (415, "verified", 400)]:
        finding = slides.find("HNSW: graph, fast", claimed)
        assert (finding.verdict, finding.place) == (verdict, place)
    assert slides.find("HNSW: graph, fast", 30).place == 100
    assert slides.find("HNSW: graph, fast").place == 100


def test_the_best_of_several_indexes():
    slides = QuoteIndex([Passage("my fellow Americans", 300, 310)], lasts=True)
    both = [QuoteIndex(TALK), slides]
    assert find_in(both, "my fellow Americans", 305).index == 1
    assert find_in(both, "my fellow Americans", 26).index == 0
    assert find_in(both, "my fellow Americans", 200).index == 1
    assert find_in(both, "your fellow Europeans", 26).verdict == "not_found"
    assert find_in([QuoteIndex([]), slides], "your fellow Europeans").verdict == "not_found"
    assert find_in([QuoteIndex([]), QuoteIndex([])], "my fellow Americans").verdict == "unchecked"


@pytest.mark.parametrize(
    ("text", "right", "wrong"),
    [
        (
            "我们不认为这个模型在百分之十五的情况下是可靠的",
            "我们不认为这个摸型在百分之十五的情况下",
            "我们认为这个模型在百分之十五的情况下",
        ),
        (
            "私は昨日東京で新しい本を買いませんでした。",
            "私は昨日、東京で 新しい木を買いませんでした",
            "私は昨日東京で新しい本を買いました",
        ),
        ("ฉันไม่ชอบกินข้าวผัดกับไข่ดาวทุกวัน", "ฉันไม่ชอบกินข้าวผัดกับไข่ดาว", "ฉันชอบกินข้าวผัดกับไข่ดาว"),
        (
            "मुझे यह नया तरीका बहुत पसंद आया और काम तेज हुआ",
            "यह नया तरीक़ा बहुत पसंद आया और काम",
            "यह पुराना रास्ता किसी को पसंद कभी लगा",
        ),
    ],
)
def test_scripts_with_and_without_spaces(text, right, wrong):
    index = QuoteIndex([Passage(text[:12], 0, 1), Passage(text[12:], 1, 2)])
    assert index.find(right, 0).verdict == "verified"
    assert index.find(wrong, 0).verdict == "not_found"


def calls_of(work: Callable[[], object]) -> int:
    """Count the function calls that some work takes, the same on every machine."""
    calls = 0

    def count(*_: object) -> None:
        nonlocal calls
        calls += 1

    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(None)
    return calls


def talk_of(count: int, rng: random.Random) -> tuple[list[str], list[Passage]]:
    """So many words that are said, and their passages of ten words."""
    words = ["".join(rng.choices("etaoinshrdlu", k=rng.randint(2, 9))) for _ in range(4000)]
    said = [rng.choice(words) for _ in range(count)]
    return said, [Passage(" ".join(said[n : n + 10]), n, n + 10) for n in range(0, count, 10)]


HOSTILE = ("aaa " * 499, "a" * 2000, "aab " * 499, "aaa ... " * 8, "... ".join("a" * 400))


def test_a_longer_talk_is_hardly_more_work():
    """Only few places are compared with a quote, however many there are."""
    work: dict[int, list[int]] = {}
    for count in (2_000, 8_000):
        said, passages = talk_of(count, random.Random(5))
        find = partial(QuoteIndex(passages).find, claimed=7.0)
        quotes = spoil_letters(said[50:65], random.Random(5)), " ".join(said[65:50:-1])
        work[count] = [calls_of(partial(find, quote)) for quote in quotes]
    for short, long in zip(*work.values(), strict=True):
        assert long < 1.5 * short


@pytest.mark.parametrize("quote", HOSTILE, ids=["words", "letters", "like", "parts", "more"])
def test_a_hostile_text_is_compared_with_few_places(quote):
    index = QuoteIndex([Passage("aaa " * 50, n, n + 1) for n in range(60)])
    assert calls_of(lambda: index.find(quote, 5.0)) < 600_000


@pytest.mark.slow
def test_a_long_talk_and_hostile_texts_come_to_an_end():
    rng = random.Random(5)
    said, passages = talk_of(30_000, rng)
    index = QuoteIndex(passages)
    for n in range(50, 29_000, 2900):
        index.find(spoil_letters(said[n : n + 15], rng), 7.0)
        index.find(" ".join(reversed(said[n : n + 15])), 7.0)
    same = QuoteIndex([Passage("aaa " * 50, n, n + 1) for n in range(600)])
    for quote in HOSTILE:
        same.find(quote, 300.0)
