"""Addresses of one page are equal, those of others are not, and papers have one each."""

from __future__ import annotations

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st
from vr_plugin_search.addresses.canonical import canonical
from vr_plugin_search.addresses.identifiers import PaperId, read_identifier

WORD = st.text(string.ascii_lowercase + string.digits, min_size=1, max_size=8)
HOST = st.builds("{}.example".format, WORD)
PATH = st.lists(WORD, max_size=3).map(lambda parts: "".join(f"/{part}" for part in parts))
PARAMETERS = st.dictionaries(WORD.map("p{}".format), WORD, max_size=3)
TRACKING = st.sampled_from(
    ["utm_source=x", "utm_id=1", "gclid=abc", "fbclid=1", "msclkid=x", "igshid=7", "mc_eid=1"]
)


@st.composite
def spellings(draw: st.DrawFn) -> tuple[str, str]:
    """An address, and another spelling of it."""
    host, path, asked = draw(HOST), draw(PATH), draw(PARAMETERS)
    pairs = [f"{name}={value}" for name, value in asked.items()]
    plain = f"https://{host}{path}" + (f"?{'&'.join(pairs)}" if pairs else "")
    pairs = draw(st.permutations([*pairs, *draw(st.lists(TRACKING, max_size=2))]))
    scheme = draw(st.sampled_from(["http", "https", "HTTPS"]))
    www, port = draw(st.sampled_from(["", "www."])), draw(st.sampled_from(["", "port"]))
    port = {"http": ":80", "https": ":443"}[scheme.lower()] if port else ""
    spelled = host.upper() if draw(st.booleans()) else host
    slash, fragment = draw(st.sampled_from(["", "/"])), draw(st.sampled_from(["", "#part"]))
    query = f"?{'&'.join(pairs)}" if pairs else ""
    return plain, f"{scheme}://{www}{spelled}{port}{path}{slash}{query}{fragment}"


@given(spellings())
def test_spellings_of_an_address_are_equal(pair: tuple[str, str]) -> None:
    assert canonical(pair[0]) == canonical(pair[1])


@given(st.text(max_size=60).map("https://{}".format) | st.text(max_size=60))
def test_it_is_settled_at_once_and_never_fails(url: str) -> None:
    once = canonical(url)
    assert canonical(once) == once or not url.isascii() or "://" not in url


@given(spellings())
def test_it_is_settled_at_once(pair: tuple[str, str]) -> None:
    assert canonical(canonical(pair[1])) == canonical(pair[1])


@given(HOST, HOST, PATH, PATH)
def test_other_pages_stay_apart(one: str, other: str, path: str, elsewhere: str) -> None:
    same = (one, path) == (other, elsewhere)
    found = canonical(f"https://{one}{path}") == canonical(f"https://{other}{elsewhere}")
    assert found is same or {one.removeprefix("www."), other.removeprefix("www.")} != {one, other}


@pytest.mark.parametrize(
    "url",
    [
        "https://arxiv.org/abs/2106.15928",
        "http://arxiv.org/abs/2106.15928v1",
        "https://www.arxiv.org/pdf/2106.15928v3.pdf",
        "https://arxiv.org/pdf/2106.15928",
        "https://arxiv.org/html/2106.15928v2#S3",
        "https://export.arxiv.org/abs/2106.15928?context=cs",
        "https://doi.org/10.48550/arXiv.2106.15928",
        "http://dx.doi.org/10.48550/ARXIV.2106.15928",
        "https://ar5iv.labs.arxiv.org/html/2106.15928",
    ],
)
def test_the_forms_of_a_preprint_are_one(url: str) -> None:
    assert canonical(url) == "https://arxiv.org/abs/2106.15928"


def test_a_doi_is_one_however_it_is_spelled() -> None:
    forms = ["https://doi.org/10.1234/Swallow.1", "http://dx.doi.org/10.1234/swallow.1/"]
    assert {canonical(form) for form in forms} == {"https://doi.org/10.1234/swallow.1"}


@pytest.mark.parametrize(
    "url",
    ["https://example.org/?id=1&ref=nav", "https://example.org/?page=2", "https://arxiv.org/list"],
)
def test_parameters_that_mean_something_stay(url: str) -> None:
    assert canonical(url).count("=") == url.count("=")


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("10.1234/Swallow.1", "doi:10.1234/swallow.1"),
        ("doi:10.1234/swallow.1", "doi:10.1234/swallow.1"),
        ("https://doi.org/10.1234/swallow.1", "doi:10.1234/swallow.1"),
        ("doi.org/10.1000/x(1)", "doi:10.1000/x(1)"),
        ("2106.15928", "arxiv:2106.15928"),
        ("arXiv:2106.15928v2", "arxiv:2106.15928"),
        ("hep-th/9901001", "arxiv:hep-th/9901001"),
        ("math.GT/0309136", "arxiv:math.gt/0309136"),
        ("10.48550/arXiv.2106.15928", "arxiv:2106.15928"),
        ("https://arxiv.org/pdf/2106.15928v4", "arxiv:2106.15928"),
        ("W2741809807", "openalex:W2741809807"),
        ("https://openalex.org/w2741809807", "openalex:W2741809807"),
        ("649DEF34f8be52c8b66281af98ae884c09aef38b", "s2:649def34f8be52c8b66281af98ae884c09aef38b"),
        ("CorpusId:215416146", "corpus:215416146"),
        ("PMID:19872477", "pmid:19872477"),
        ("https://www.semanticscholar.org/paper/Title/" + "a" * 40, f"s2:{'a' * 40}"),
    ],
)
def test_an_identifier_is_known_in_each_spelling(text: str, key: str) -> None:
    found = read_identifier(text)
    assert found is not None
    assert found.key == key


@pytest.mark.parametrize(
    "text",
    [
        "swallows",
        "10 swallows",
        "2106",
        "why 10.1234/x",
        "https://example.org/10.1234/x",
        "W12",
        "",
    ],
)
def test_words_are_no_identifier(text: str) -> None:
    assert read_identifier(text) is None


def test_an_identifier_opens_its_page() -> None:
    assert PaperId("doi", "10.1/a<b> c").url == "https://doi.org/10.1/a%3Cb%3E%20c"
    assert PaperId("corpus", "1").url == ""
