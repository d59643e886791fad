"""Rankings are scored as the literature scores them, and engines are asked the same."""

from __future__ import annotations

from math import log2

import pytest

from benchmarks.engines import samples
from benchmarks.engines.exact import recall_of
from benchmarks.scoring import mean_ndcg, ndcg


def test_a_perfect_ranking_scores_one_whatever_follows() -> None:
    assert ndcg(["a", "b", "x"], {"a": 2, "b": 1}) == pytest.approx(1)


def test_a_later_place_and_a_lower_grade_score_less() -> None:
    ideal = 3 + 1 / log2(3)
    assert ndcg(["b", "a"], {"a": 3, "b": 1}) == pytest.approx((1 + 3 / log2(3)) / ideal)
    assert ndcg(["x"] * 10 + ["a"], {"a": 1}) == 0


def test_more_relevant_texts_than_places_still_reach_one() -> None:
    keys = [str(number) for number in range(20)]
    assert ndcg(keys[:10], dict.fromkeys(keys, 1.0)) == pytest.approx(1)


def test_the_mean_counts_questions_without_answer_and_skips_those_without_judgement() -> None:
    judged = {"one": {"a": 1.0}, "two": {"b": 1.0}, "none": {"c": 0.0}}
    assert mean_ndcg({"one": ["a"], "none": ["c"]}, judged) == pytest.approx(0.5)


def test_of_equal_scores_either_is_right() -> None:
    truth = {1: 0.9, 2: 0.5, 3: 0.5, 4: 0.1}
    assert recall_of([1, 3], truth) == 1
    assert recall_of([1, 4], truth) == 0.5


def test_samples_are_the_same_in_every_process_and_half_of_their_words_are_stop_words() -> None:
    one, other = samples.Samples(200), samples.Samples(200)
    assert one.texts == other.texts
    assert (one.vectors == other.vectors).all()
    assert one.questions(3)[2].text == other.questions(3)[2].text
    stop = set(samples.STOP_WORDS.split())
    words = " ".join(one.texts).split()
    assert 0.4 < sum(word in stop for word in words) / len(words) < 0.6
