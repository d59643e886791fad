"""Bars pass and fail on the right side, and figures are matched as the bars mean them."""

from __future__ import annotations

from typing import Literal

import pytest

from benchmarks.rows import bar, table
from benchmarks.scoring import distance, match_times, plain, words


@pytest.mark.parametrize(
    ("sign", "value", "passed"),
    [("<=", 1.15, True), ("<=", 1.16, False), (">=", 0.8, True), (">=", 0.79, False)],
)
def test_a_bar_holds_its_limit(sign: Literal["<=", ">="], value: float, passed: bool) -> None:
    limit = 1.15 if sign == "<=" else 0.8
    assert bar("a figure", value, sign=sign, limit=limit).passed is passed


def test_a_bar_judges_the_ratio_before_the_figure() -> None:
    assert bar("calls a second", 900.0, ratio=0.5, sign=">=", limit=0.8).passed is False
    assert bar("MB", 110.0, by=20.0, ratio=1.3, sign="<=", limit=25).passed is True


def test_a_table_names_what_failed() -> None:
    shown = table([bar("start", 1.5, ratio=1.5, sign="<=", limit=1.15, unit="x floor")])
    assert "start" in shown
    assert "<= 1.15 x floor" in shown
    assert shown.endswith("FAIL")


def test_each_named_time_answers_one_true_time() -> None:
    match = match_times([9.9, 10.2, 31.0], [10.0, 20.0, 30.5], tolerance_s=1.0)
    assert (match.found, match.false) == (2, 1)
    assert match.worst_s == pytest.approx(0.5)


def test_readings_are_compared_without_marks_and_footers() -> None:
    assert plain("Results\n• Recall@10 rose\n 5 / 6 \n") == "ResultsRecall@10rose"
    assert words("Ask not, what YOUR country's…") == ["ask", "not", "what", "your", "country's"]
    assert distance("kitten", "sitting") == 3
