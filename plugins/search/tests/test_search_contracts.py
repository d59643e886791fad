"""Every provider keeps the contract of search providers, also before hostile answers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import pytest
from corpus import FAILING, HOSTILE, NOTHING, pages_for, words_of
from fake_search import FakeSearch
from vr_plugin_search import plugin
from vr_testing import FakeGemini, Fault, SearchProviderContract
from vr_testing.service.answer import Answer


class Contract(SearchProviderContract):
    """The contract, before the fake services."""

    __test__ = False
    plugins: ClassVar = {"search": plugin}
    question = "when swallows leave"
    nothing = NOTHING
    hostile = HOSTILE
    failing = FAILING

    @pytest.fixture(autouse=True)
    def reached(self, fake: FakeSearch) -> None:
        self.settings = fake.settings(self.provider)  # type: ignore[misc]


class TestPerplexity(Contract):
    __test__ = True
    provider = "perplexity"


class TestBrave(Contract):
    __test__ = True
    provider = "brave"


class TestTavily(Contract):
    __test__ = True
    provider = "tavily"


class TestExa(Contract):
    __test__ = True
    provider = "exa"


class TestSearXNG(Contract):
    __test__ = True
    provider = "searxng"


class TestOpenAlex(Contract):
    __test__ = True
    provider = "openalex"


class TestSemanticScholar(Contract):
    __test__ = True
    provider = "semantic_scholar"


class TestArxiv(Contract):
    __test__ = True
    provider = "arxiv"


class TestJoinedPapers(Contract):
    __test__ = True
    provider = "papers"


class TestJoinedWeb(Contract):
    """Two services at a time."""

    __test__ = True
    provider = "web"

    @pytest.fixture(autouse=True)
    def reached(self, fake: FakeSearch) -> None:
        reached = fake.settings("brave", "tavily", "searxng")
        self.settings = {**reached, "plugins.search.asked_at_once": 2}  # type: ignore[misc]


class TestGemini(Contract):
    """Gemini, whose pages are named by a script; the fake names one page where that has none."""

    __test__ = True
    provider = "gemini"
    nothing = ""

    @pytest.fixture(autouse=True)
    def reached(self) -> Iterator[None]:  # type: ignore[override]
        with FakeGemini() as gemini:
            gemini.fail(Fault.status(400), when=lambda it: FAILING in words_of(it.text), times=None)
            gemini.answer(_grounded)
            self.settings = {  # type: ignore[misc]
                "models.gemini_api_keys": "a-key",
                "models.gemini_base_url": gemini.url,
            }
            yield


def _grounded(request: Any) -> Answer:
    query = request.text.partition("\n")[0].partition(":")[2]
    pages = pages_for(query)
    return Answer(
        f"An answer \u200b from {len(pages)}.", sources=tuple((p.title, p.url) for p in pages)
    )
