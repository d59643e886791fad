"""Each service is asked as its documentation says, and its answers and errors are understood."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from corpus import TODAY
from fake_search import ECHO, KEY, NEED_KEYS, FakeSearch
from searchkit import Desk, open_desk
from vr_kernel import Code, SearchProvider, VrError, WebQuery
from vr_testing.service.errors import ServiceError
from vr_testing.service.faults import ServiceFault
from vr_testing.service.reply import HttpReply, as_json

WEB = ("perplexity", "brave", "tavily", "exa", "searxng")
EVERY = (*WEB, "openalex", "semantic_scholar", "arxiv")
WORDS = "when swallows leave"


@pytest.fixture
async def desk(fake: FakeSearch) -> Any:
    async with open_desk(fake, *WEB) as opened:
        yield opened


async def failed(desk: Desk, name: str, query: str = WORDS) -> VrError:
    """The error of a search."""
    with pytest.raises(VrError) as caught:
        await desk.search(name, query)
    error = caught.value
    assert error.hint
    shown = f"{error.message} {error.hint} {error.detail} {error.__cause__}"
    assert KEY not in shown
    assert ECHO not in shown
    return error


@pytest.mark.parametrize("name", WEB)
async def test_a_page_has_its_parts(desk: Desk, name: str) -> None:
    found = await desk.search(name, WORDS)
    first = found.results[0]
    assert first.title == "When swallows leave"
    assert "birds.example/leave" in first.url
    assert first.snippet.startswith("Swallows leave in September.")
    if name != "tavily":  # it tells no dates of pages
        assert first.published is not None
        assert (TODAY - first.published).days == 3
    assert bool(found.response) is (name == "tavily")
    assert (found.usage is not None and found.usage.cost_usd == 0.005) is (name == "exa")


KEYS: Mapping[str, tuple[str, str]] = {
    "perplexity": ("authorization", f"Bearer {KEY}"),
    "brave": ("x-subscription-token", KEY),
    "tavily": ("authorization", f"Bearer {KEY}"),
    "exa": ("x-api-key", KEY),
    "semantic_scholar": ("x-api-key", KEY),
}


@pytest.mark.parametrize("name", KEYS)
async def test_the_key_is_sent_as_the_service_wants_it(fake: FakeSearch, name: str) -> None:
    keys = {f"plugins.search.{name}_api_key": KEY}
    async with open_desk(fake, settings=keys) as desk:
        await desk.search(name, WORDS)
    header, value = KEYS[name]
    assert [request.headers[header] for request in fake.requests] == [value]
    assert KEY not in fake.requests[0].path
    assert KEY not in str(fake.requests[0].query)


async def test_openalex_is_told_who_asks(fake: FakeSearch) -> None:
    told = {"plugins.search.openalex_mailto": "me@example.org"}
    async with open_desk(fake, settings=told) as desk:
        await desk.search("openalex", WORDS)
    async with open_desk(fake, settings={**told, "plugins.search.openalex_api_key": KEY}) as desk:
        await desk.search("openalex", WORDS)
    first, second = (request.query for request in fake.requests)
    assert (first["mailto"], first.get("api_key")) == ("me@example.org", None)
    assert (second["api_key"], second.get("mailto")) == (KEY, None)


@pytest.mark.parametrize("name", [*NEED_KEYS, "searxng", "gemini"])
async def test_a_service_that_is_not_set_up_is_not_asked(fake: FakeSearch, name: str) -> None:
    async with open_desk(fake) as desk:
        error = await failed(desk, name)
    assert error.category == "SEARCH_NOT_SET_UP"
    assert error.code is (Code.UNAVAILABLE if name == "searxng" else Code.AUTH)
    named = {"searxng": "searxng_url", "gemini": "gemini_api_keys"}
    assert named.get(name, f"{name}_api_key") in error.hint
    assert "https://" in error.hint
    assert not fake.requests


STATUSES = [
    (400, Code.INVALID_INPUT, False),
    (401, Code.AUTH, False),
    (402, Code.QUOTA, False),
    (403, Code.AUTH, False),
    (404, Code.UNAVAILABLE, False),
    (422, Code.INVALID_INPUT, False),
    (429, Code.QUOTA, True),
    (432, Code.QUOTA, False),
    (500, Code.UNAVAILABLE, True),
    (503, Code.UNAVAILABLE, True),
]


@pytest.mark.parametrize("name", EVERY)
async def test_statuses_become_errors(desk: Desk, fake: FakeSearch, name: str) -> None:
    own = {("openalex", 403): Code.QUOTA, ("searxng", 403): Code.UNAVAILABLE}
    for status, code, retryable in STATUSES:
        fake.fail(ServiceFault.status(status, ECHO))
        error = await failed(desk, name)
        assert error.code is own.get((name, status), code), status
        if status != 403:
            assert error.retryable is retryable, status


async def test_a_limit_says_how_long_to_wait(desk: Desk, fake: FakeSearch) -> None:
    throttled = ServiceError(429, headers={"Retry-After": "7"})
    fake.fail(ServiceFault("throttled", error=lambda _request: throttled))
    error = await failed(desk, "brave")
    assert (error.code, error.retry_after, error.retryable) == (Code.QUOTA, 7, True)


async def test_searxng_says_how_json_is_turned_on(desk: Desk, fake: FakeSearch) -> None:
    fake.fail(ServiceFault.status(403))
    assert "search.formats" in (await failed(desk, "searxng")).hint


async def test_engines_that_do_not_answer_are_no_empty_list(desk: Desk) -> None:
    error = await failed(desk, "searxng", "captcha")
    assert error.code is Code.UNAVAILABLE


def html() -> HttpReply:
    """A page where an answer should be."""
    return HttpReply(200, b"<html>Sign in</html>", headers={"Content-Type": "text/html"})


UNREADABLE: Mapping[str, HttpReply] = {
    "a page": html(),
    "nothing": HttpReply(200, b"", headers={"Content-Type": "application/json"}),
    "no object": as_json(["results"]),
    "half": HttpReply(200, b'{"results": [', headers={"Content-Type": "application/json"}),
    "deep": HttpReply(200, b"[" * 100_000, headers={"Content-Type": "application/json"}),
}


@pytest.mark.parametrize("name", EVERY)
async def test_what_is_no_answer_is_told(desk: Desk, fake: FakeSearch, name: str) -> None:
    for reply in UNREADABLE.values():
        fake.fail(ServiceFault("unreadable", instead=reply))
        error = await failed(desk, name)
        assert (error.code, error.category) == (Code.UNAVAILABLE, "SEARCH_ANSWER_UNREADABLE")


WRONG: Mapping[str, Any] = {
    "texts": {"results": "no", "web": "no", "data": "no"},
    "nulls": {"results": None, "web": None, "data": None, "answers": None},
    "rows": {name: [None, 1, "x", [], {}] for name in ("results", "data")},
    "fields": {
        name: [
            {
                "title": 7,
                "url": ["https://a.example"],
                "snippet": {},
                "date": 1,
                "publishedDate": "soon",
                "highlights": "x",
                "authors": {},
                "authorships": [1],
                "abstract_inverted_index": {"a": "b", "c": [-1, 10**9, "x"]},
                "externalIds": [],
                "year": "old",
            }
        ]
        for name in ("results", "data")
    },
}


@pytest.mark.parametrize("name", [it for it in EVERY if it != "arxiv"])
async def test_values_of_wrong_types_are_left_out(desk: Desk, fake: FakeSearch, name: str) -> None:
    for value in WRONG.values():
        fake.fail(ServiceFault.reshaped(value))
        assert (await desk.search(name, WORDS)).results == ()


BOMB = b"""<?xml version="1.0"?><!DOCTYPE f [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]>
<feed xmlns="http://www.w3.org/2005/Atom"><title>&b;</title></feed>"""
OUTSIDE = b"""<?xml version="1.0"?><!DOCTYPE f [<!ENTITY a SYSTEM "file:///etc/passwd">]>
<feed xmlns="http://www.w3.org/2005/Atom"><title>&a;</title></feed>"""
ERROR = b"""<feed xmlns="http://www.w3.org/2005/Atom"><entry>
<id>http://arxiv.org/api/errors#incorrect_id</id><title>Error</title></entry></feed>"""


@pytest.mark.parametrize(
    ("body", "code"),
    [(BOMB, Code.UNAVAILABLE), (OUTSIDE, Code.UNAVAILABLE), (ERROR, Code.INVALID_INPUT)],
)
async def test_traps_of_xml_are_refused(
    desk: Desk, fake: FakeSearch, body: bytes, code: Code
) -> None:
    fake.fail(ServiceFault("trap", instead=HttpReply(200, body)))
    assert (await failed(desk, "arxiv")).code is code


@pytest.mark.parametrize("name", EVERY)
async def test_no_one_is_led_into_the_local_network(
    desk: Desk, fake: FakeSearch, name: str
) -> None:
    fake.fail(ServiceFault.redirect("http://169.254.169.254/latest/meta-data/"))
    error = await failed(desk, name)
    assert error.code in (Code.NOT_ALLOWED, Code.UNAVAILABLE)


@pytest.mark.parametrize("name", EVERY)
async def test_a_broken_connection_is_told(desk: Desk, fake: FakeSearch, name: str) -> None:
    for fault in (ServiceFault.reset(), ServiceFault.truncated()):
        fake.fail(fault)
        assert (await failed(desk, name)).code is Code.UNAVAILABLE


async def test_a_key_with_odd_signs_is_told_without_it(fake: FakeSearch) -> None:
    async with open_desk(fake, settings={"plugins.search.exa_api_key": "clé\nX: 1"}) as desk:
        with pytest.raises(VrError) as caught:
            await desk.search("exa", WORDS)
    assert caught.value.code is Code.AUTH
    assert "clé" not in f"{caught.value.message} {caught.value.hint}"


async def test_a_local_searxng_must_be_allowed(fake: FakeSearch) -> None:
    own = {"kernel.http.allowed_hosts": []}
    async with open_desk(fake, "searxng", settings=own) as desk:
        error = await failed(desk, "searxng")
    assert (error.code, "kernel.http" in error.hint) == (Code.NOT_ALLOWED, True)


@pytest.mark.parametrize("name", EVERY)
async def test_a_long_query_is_cut_and_told(desk: Desk, name: str) -> None:
    found = await desk.search(name, "日本語 " * 480)
    assert any("was cut" in note for note in found.notes) is (name not in ("perplexity", "exa"))


async def test_perplexity_is_never_given_both_lists(desk: Desk, fake: FakeSearch) -> None:
    found = await desk.search(
        "perplexity", WORDS, domains=("birds.example",), excluded_domains=("old.example",)
    )
    assert [result.title for result in found.results] == ["When swallows leave"]
    assert fake.requests[-1].field("search_domain_filter") == ["birds.example"]


async def test_searxng_notes_unknown_ages(desk: Desk) -> None:
    found = await desk.search("searxng", WORDS, recency="week")
    assert [result.title for result in found.results] == [
        "When swallows leave",
        "The swallows of Africa",
    ]
    assert "Of 1 results no date is known" in found.notes[0]


@pytest.mark.parametrize("name", ["openalex", "semantic_scholar", "arxiv"])
async def test_a_paper_says_how_good_a_source_it_is(desk: Desk, name: str) -> None:
    found = await desk.search(name, "swallows routes loggers")
    first = found.results[0]
    assert first.title == "Swallows and their routes"
    assert first.snippet == "We follow swallows with small loggers over two years."
    assert first.url == "https://arxiv.org/abs/2106.15928"
    assert first.details["authors"] == "Ada Lovelace; Grace Hopper"
    assert (first.details["doi"], first.details["arxiv"]) == ("10.1234/swallow.1", "2106.15928")
    assert first.details["pdf"] == "https://arxiv.org/pdf/2106.15928"
    assert first.details["year"] == first.published.year  # type: ignore[union-attr]
    retracted = {result.title: result.details.get("retracted") for result in found.results}
    told = {"openalex": "no", "semantic_scholar": None, "arxiv": None}
    assert retracted["Swallows and their routes"] == told[name]
    gone = {"openalex": "yes", "semantic_scholar": None, "arxiv": "yes"}
    assert retracted["Do swallows sleep in flight?"] == gone[name]


async def test_nothing_of_a_key_is_logged(
    fake: FakeSearch, capfd: pytest.CaptureFixture[str]
) -> None:
    logged = {"kernel.log_level": "debug", "plugins.search.openalex_api_key": KEY}
    async with open_desk(fake, *WEB, settings=logged) as desk:
        for name in EVERY:
            await desk.search(name, WORDS)
        fake.fail(ServiceFault.status(401))
        await failed(desk, "openalex")
    assert KEY not in "".join(capfd.readouterr())


async def test_providers_are_those_of_the_call(desk: Desk) -> None:
    async with desk.turn() as call:
        for name in (*EVERY, "gemini", "web", "papers"):
            provider = call.services.providers.get(SearchProvider, name)
            assert provider.name == name
        preferred = call.services.providers.names(SearchProvider)[:2]
        assert preferred == ["web", "papers"]
        assert (await provider.search(call, WebQuery(WORDS))).results
