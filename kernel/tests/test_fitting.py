"""Results cut to fit into an answer."""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import BaseModel
from vr_kernel import estimate_tokens, fit
from vr_kernel.text import take_fitting, tokens_of


class Points(BaseModel):
    points: list[str]


def shorter(result: Points, made: list[int]) -> Iterator[Points]:
    for count in range(len(result.points) - 1, 0, -1):
        made.append(count)
        yield Points(points=result.points[:count])


def test_what_fits_is_not_cut() -> None:
    result, made = Points(points=["one", "two"]), list[int]()
    assert fit(result, shorter(result, made), 100) is result
    assert made == []


def test_the_first_cut_that_fits_is_the_result_and_no_more_are_made() -> None:
    result, made = Points(points=["word"] * 100), list[int]()
    cut = fit(result, shorter(result, made), 60)
    assert tokens_of(cut) <= 60 < tokens_of(Points(points=["word"] * (len(cut.points) + 1)))
    assert made[-1] == len(cut.points)


def test_where_none_fits_the_last_cut_is_the_result() -> None:
    result = Points(points=["word"] * 5)
    assert fit(result, shorter(result, []), 0) == Points(points=["word"])
    assert fit(result, [], 0) is result


def test_the_cost_may_be_another_one() -> None:
    assert fit("abcdef", ["abcd", "ab"], 4, cost=len) == "abcd"


def test_items_are_taken_as_long_as_they_fit_and_one_at_least() -> None:
    assert take_fitting(["aa", "bb", "cc"], 4, cost=len) == ["aa", "bb"]
    assert take_fitting(["aaaaa", "b"], 4, cost=len) == ["aaaaa"]
    assert take_fitting([], 4) == []


def test_tokens_of_a_model_are_those_of_its_json() -> None:
    result = Points(points=["eins", "zwei"])
    assert tokens_of(result) == estimate_tokens('{"points":["eins","zwei"]}')
    assert tokens_of({"a": "é"}) == estimate_tokens('{"a": "é"}')
