"""Properties of the fusion of two lists, for any lists."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from vr_plugin_knowledge.matching.fusion import evidence, fuse, stretch

SCORES = st.dictionaries(
    st.integers(0, 60), st.floats(-1, 40, allow_nan=False, width=32), max_size=30
)
ALPHAS = st.floats(0, 1)


def order(scores: dict[int, float]) -> list[int]:
    return sorted(scores, key=lambda item: (-scores[item], item))


@settings(max_examples=30)
@given(SCORES, SCORES, ALPHAS, st.floats(0, 100))
def test_scores_lie_between_0_and_1_and_cover_both_lists(
    keyword: dict[int, float], semantic: dict[int, float], alpha: float, whole: float
) -> None:
    fused = fuse(keyword, semantic, alpha=alpha, whole=whole)
    assert fused.keys() == keyword.keys() | semantic.keys()
    assert all(0 <= score <= 1 + 1e-9 for score in fused.values())


@settings(max_examples=30)
@given(SCORES, SCORES, ALPHAS, st.floats(0, 100))
def test_what_is_better_in_both_lists_ranks_higher(
    keyword: dict[int, float], semantic: dict[int, float], alpha: float, whole: float
) -> None:
    fused = fuse(keyword, semantic, alpha=alpha, whole=whole)
    both = keyword.keys() & semantic.keys()
    for better in both:
        for worse in both:
            if keyword[better] >= keyword[worse] and semantic[better] >= semantic[worse]:
                assert fused[better] >= fused[worse]


@settings(max_examples=30)
@given(SCORES, SCORES)
def test_alpha_chooses_the_list(keyword: dict[int, float], semantic: dict[int, float]) -> None:
    words = fuse(keyword, semantic, alpha=0, whole=0)
    meanings = fuse(keyword, semantic, alpha=1, whole=0)
    assert {item: words[item] for item in keyword} == stretch(keyword)
    assert {item: meanings[item] for item in semantic} == stretch(semantic)


@settings(max_examples=30)
@given(
    st.dictionaries(st.integers(0, 9), st.integers(-100, 100).map(float), max_size=9),
    SCORES,
    st.integers(-3, 3),
)
def test_only_differences_of_similarity_count(
    semantic: dict[int, float], keyword: dict[int, float], shift: int
) -> None:
    moved = {item: 4 * score + shift for item, score in semantic.items()}
    before = fuse(keyword, semantic, alpha=0.5, whole=10)
    assert fuse(keyword, moved, alpha=0.5, whole=10) == pytest.approx(before)


def test_a_chance_word_does_not_outrank_a_paraphrase() -> None:
    keyword = {1: 1.2}
    semantic = {1: 0.10, 2: 0.55, 3: 0.05}
    assert order(fuse(keyword, semantic, alpha=0.5, whole=9.0))[0] == 2


def test_a_hit_that_holds_the_question_outranks_a_near_text() -> None:
    keyword = {1: 8.0, 2: 1.0}
    semantic = {1: 0.40, 2: 0.55, 3: 0.05}
    assert order(fuse(keyword, semantic, alpha=0.5, whole=9.0))[0] == 1


def test_a_lone_weak_hit_of_another_kind_does_not_win() -> None:
    several = {1: 9.0, 2: 6.0, 3: 3.0}
    fused = fuse({**several, 99: 3.5}, {1: 0.8, 2: 0.5, 3: 0.2, 99: 0.25}, alpha=0.5, whole=9.0)
    assert order(fused)[:2] == [1, 2]


@given(st.floats(0, 50), st.floats(0, 50), st.floats(0.01, 50))
def test_evidence_grows_with_the_best_hit(one: float, other: float, whole: float) -> None:
    low, high = sorted((one, other))
    assert 0 <= evidence(low, whole) <= evidence(high, whole) <= 1
    assert evidence(whole / 2, whole) == pytest.approx(1)


def test_stretch_of_equal_scores_is_1() -> None:
    assert stretch({1: 0.3, 2: 0.3}) == {1: 1.0, 2: 1.0}
    assert stretch({}) == {}
