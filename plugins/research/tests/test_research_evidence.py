"""Tiers, confidence and quotes, for any evidence there may be."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st
from station_corpus import COUNT, DOCUMENTS, document_of, pages_of
from vr_kernel import Document, Locator, Segment
from vr_plugin_research.evidence.quotes import SourceQuotes
from vr_plugin_research.evidence.snapshots import pack
from vr_plugin_research.evidence.tiers import CEILINGS, held_to, lower, tier_of
from vr_plugin_research.results.claims import FOUND, TIERS, Citation, Claim
from vr_plugin_research.results.sources import ReportSource, SourceQuality

NUMBERS = st.integers(1, 4)
VERDICTS = st.sampled_from(["verified", "moved", "not_found", "unchecked"])
CITATIONS = st.lists(
    st.builds(
        Citation,
        source=NUMBERS,
        quote=st.text(max_size=5),
        status=VERDICTS,
        stance=st.sampled_from(["supports", "contradicts"]),
    ),
    max_size=6,
)
CLAIMS = st.builds(
    Claim,
    id=st.just("C1"),
    claim=st.just("It is so."),
    evidence_tier=st.sampled_from(TIERS),
    confidence=st.floats(allow_nan=False),
    citations=CITATIONS,
)
SOURCES = st.lists(
    st.builds(
        ReportSource,
        number=NUMBERS,
        title=st.just("T"),
        source=st.just("https://a.example/"),
        origin=st.sampled_from(["a.example", "b.example", ""]),
        quality=st.builds(SourceQuality, retracted=st.booleans()),
    ),
    max_size=4,
    unique_by=lambda each: each.number,
)


@given(CLAIMS, SOURCES)
@settings(max_examples=300)
def test_a_claim_is_held_to_its_evidence(claim: Claim, sources: list[ReportSource]) -> None:
    held = held_to(claim, sources)
    quotes = held.supporting
    found = [each for each in quotes if each.status in FOUND]
    good = {
        each.origin or each.number
        for each in sources
        if not each.quality.retracted and any(it.source == each.number for it in found)
    }
    assert TIERS.index(held.evidence_tier) >= TIERS.index(claim.evidence_tier)
    assert 0 <= held.confidence <= CEILINGS[held.evidence_tier]
    if quotes and all(each.status == "not_found" for each in quotes):
        assert held.evidence_tier not in ("CONFIRMED", "STRONG INDICATOR", "INFERENCE")
    if not found:
        assert held.evidence_tier not in ("CONFIRMED", "STRONG INDICATOR")
    if held.evidence_tier == "CONFIRMED":
        assert len(good) >= 2
        assert not any(each.status in FOUND for each in held.contradicting)
    if found and not good:
        assert held.evidence_tier in ("SPECULATION", "UNKNOWN")
    assert bool(held.notes) == (held.evidence_tier != claim.evidence_tier)
    assert held_to(held, sources) == held


@given(CLAIMS, SOURCES, CITATIONS)
def test_a_quote_that_is_lost_never_raises_a_tier(
    claim: Claim, sources: list[ReportSource], more: list[Citation]
) -> None:
    lost = [each.model_copy(update={"status": "not_found"}) for each in more]
    whole = claim.model_copy(update={"citations": [*claim.citations, *lost]})
    ranks = [TIERS.index(held_to(each, sources).evidence_tier) for each in (claim, whole)]
    supported = any(each.status in FOUND for each in claim.supporting)
    assert ranks[0] <= ranks[1] or not supported


@given(st.sampled_from(TIERS), st.sampled_from(TIERS))
def test_the_lower_tier_is_one_of_both(one: str, other: str) -> None:
    found = lower(tier_of(one), tier_of(other))
    assert found in (one, other)
    assert TIERS.index(found) == max(TIERS.index(tier_of(one)), TIERS.index(tier_of(other)))


@given(st.text(max_size=40))
def test_any_word_is_a_tier_or_unknown(said: str) -> None:
    assert tier_of(said) in TIERS
    assert tier_of("strong_indicator ") == tier_of("Strong") == "STRONG INDICATOR"


DOCUMENT = document_of(4)
QUOTES = SourceQuotes(DOCUMENT)
LINES = [line for page in pages_of(4) for line in page]


@given(st.text(max_size=300), st.text(max_size=60))
def test_any_quote_and_place_can_be_looked_up(quote: str, place: str) -> None:
    found = QUOTES.check(1, quote, place)
    assert len(found.place) <= 200
    if found.status in FOUND:
        assert any(found.quote in segment.text for segment in DOCUMENT.segments)
    else:
        assert found.original_place is None


@given(st.integers(0, COUNT - 1), st.integers(0, 9), st.sampled_from(["right", "none", "other"]))
def test_a_true_quote_is_found_at_its_place_whatever_was_claimed(
    number: int, at: int, claimed: str
) -> None:
    document = document_of(number)
    lines = [(page, line) for page, own in enumerate(pages_of(number), 1) for line in own]
    page, line = lines[at]
    label = document.segments[page - 1].locator.label
    other = document.segments[page % 3].locator.label
    found = SourceQuotes(document).check(1, line, {"right": label, "other": other}.get(claimed, ""))
    assert found.status == ("moved" if claimed == "other" else "verified")
    if number < DOCUMENTS:
        assert (found.page, found.place) == (page, label)
    else:
        assert found.start is not None
        assert 60 * page <= found.start < 60 * (page + 1)
    assert found.link == document.segments[page - 1].link


@given(
    st.lists(st.text(st.characters(codec="utf-8"), max_size=40), max_size=5), st.text(max_size=20)
)
def test_equal_texts_are_kept_as_equal_bytes(texts: list[str], title: str) -> None:
    segments = [Segment(text, Locator(page=page), "") for page, text in enumerate(texts, 1)]
    document = Document("a", title, "text/plain", "0" * 64, segments)
    assert pack(document) == pack(replace(document, limits=("something",)))
