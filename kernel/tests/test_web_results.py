"""Searches are sound, and the results that a service sends are cut to them."""

from __future__ import annotations

from itertools import repeat
from typing import Any, cast
from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st
from vr_kernel import Code, VrError, WebQuery, WebResult, WebResults, visible


@pytest.mark.parametrize(
    "given",
    [
        {"query": ""},
        {"query": "\u200b \n"},
        {"query": "a" * 2001},
        {"query": "a", "limit": 0},
        {"query": "a", "limit": 101},
        {"query": "a", "recency": "hour"},
        {"query": "a", "domains": ("https://a.org",)},
        {"query": "a", "domains": ("",)},
        {"query": "a", "excluded_domains": ("org",)},
    ],
)
def test_what_no_service_could_be_asked_is_refused(given: dict[str, Any]) -> None:
    with pytest.raises(VrError) as caught:
        WebQuery(**given)
    assert caught.value.code is Code.INVALID_INPUT


def test_domains_choose_by_host() -> None:
    query = WebQuery("a", domains=("example.org",), excluded_domains=("ads.example.org",))
    urls = {
        "https://example.org/": True,
        "http://www.EXAMPLE.org:8080/a?b#c": True,
        "https://example.org./": True,
        "https://ads.example.org/": False,
        "https://x.ads.example.org/": False,
        "https://notexample.org/": False,
        "https://example.org.evil.com/": False,
        "https://evil.com/example.org": False,
        "https://example.org@evil.com/": False,
        "https://user:a-secret@example.org/": False,
        "ftp://example.org/": False,
        "//example.org/": False,
        "https:///example.org": False,
        "https://[example.org": False,
    }
    assert {url: query.allows(url) for url in urls} == urls


@given(
    st.lists(
        st.builds(
            WebResult,
            title=st.text(),
            url=st.text() | st.from_regex(r"\Ahttps?://[a-z]{1,3}\.org/[^\0]{0,9}\Z"),
            snippet=st.text(),
            details=st.dictionaries(st.text(), st.text() | st.floats() | st.none()),
        ),
        max_size=8,
    ),
    st.integers(1, 5),
    st.text(),
)
def test_only_what_was_asked_for_stays(found: list[WebResult], limit: int, response: str) -> None:
    kept = WebResults.bounded(WebQuery("a", limit), found, response=response)
    assert len(kept.results) <= limit
    assert [r.url for r in kept.results] == [r.url for r in found if WebQuery("a").allows(r.url)][
        :limit
    ]
    for result in kept.results:
        assert urlsplit(result.url).scheme in {"http", "https"}
        assert result.title
        for text in (result.title, result.snippet, *map(str, result.details.values())):
            assert visible(text) == text
    assert visible(kept.response) == kept.response


def test_a_service_without_end_is_cut() -> None:
    page = WebResult("t" * 10_000, "https://a.org", "s" * 1_000_000, details={"a": "x" * 10_000})
    kept = WebResults.bounded(WebQuery("a", 100), repeat(page), response="r" * 1_000_000)
    assert len(kept.results) == 100
    assert len(repr(kept)) < 500_000
    none = WebResults.bounded(WebQuery("a"), repeat(WebResult("a", "data:,")))
    assert none.results == ()


def test_parts_of_other_types_are_left_out_and_lose_no_result() -> None:
    odd: Any = [
        None,
        {"url": "https://a.org"},
        WebResult("a", cast("Any", 7)),
        WebResult(
            cast("Any", None),
            "https://b.org",
            cast("Any", b"b"),
            cast("Any", "2024"),
            {"rank": float("nan"), cast("Any", 7): "a", "doi": "10.1", "years": cast("Any", [1])},
        ),
    ]
    made = WebResults.bounded(WebQuery("a"), odd, response=cast("Any", None))
    assert made.response == ""
    assert [(one.title, one.url, one.snippet, one.published) for one in made.results] == [
        ("https://b.org", "https://b.org", "", None)
    ]
    assert dict(made.results[0].details) == {"doi": "10.1"}
