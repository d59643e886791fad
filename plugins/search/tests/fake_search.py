"""Fake search services on this machine: real HTTP, documented answers, limits and errors."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import fake_papers
import fake_web
from corpus import FAILING, words_of
from vr_testing.service.behaviour import ServiceBehaviour
from vr_testing.service.errors import ServiceError
from vr_testing.service.faults import ServiceFault
from vr_testing.service.http import HttpRequest
from vr_testing.service.json_family import JsonFamily
from vr_testing.service.reply import HttpReply
from vr_testing.service.script import Script
from vr_testing.service.server import FakeService

KEY = "sk-canary-4711-search"
ECHO = "echo of the request and its key"
NEED_KEYS = ("perplexity", "brave", "tavily", "exa")
ADDRESSES = {
    "perplexity": "perplexity_base_url",
    "brave": "brave_base_url",
    "tavily": "tavily_base_url",
    "exa": "exa_base_url",
    "searxng": "searxng_url",
    "openalex": "openalex_base_url",
    "semantic_scholar": "semantic_scholar_base_url",
    "arxiv": "arxiv_base_url",
}
Answer = Callable[["SearchRequest"], HttpReply]
ANSWERS: Mapping[str, Answer] = {
    "perplexity": fake_web.perplexity,
    "brave": fake_web.brave,
    "tavily": fake_web.tavily,
    "exa": fake_web.exa,
    "searxng": fake_web.searxng,
    "openalex": fake_papers.openalex,
    "semantic_scholar": fake_papers.semantic_scholar,
    "arxiv": fake_papers.arxiv,
}


@dataclass(frozen=True, slots=True)
class SearchRequest(HttpRequest):
    """One request; its action is the service, the first part of its path."""

    actions: ClassVar[Mapping[str, str]] = {}
    speaking = ""
    paid = frozenset(ADDRESSES)

    @property
    def action(self) -> str:
        """The service."""
        return self.path.split("/")[1]

    @property
    def place(self) -> str:
        """The path behind the service's own address."""
        return self.path.removeprefix(f"/{self.action}")

    @property
    def text(self) -> str:
        """The words of the search."""
        named = ("query", "q", "search", "search_query")
        return next((str(it) for name in named if (it := self.asked(name))), "")

    @property
    def schema(self) -> None:
        """None: no answer has a schema."""
        return None

    @property
    def secret(self) -> str:
        """The key, wherever this service takes it."""
        bearer = self.headers.get("authorization", "").removeprefix("Bearer ")
        named = ("x-subscription-token", "x-api-key")
        return next((it for name in named if (it := self.headers.get(name))), bearer)

    def asked(self, name: str) -> Any:
        """A parameter, of the address or of the body."""
        return self.query.get(name, self.field(name))


class SearchRoutes(JsonFamily[SearchRequest]):
    """Answers the requests of all fake services."""

    request_type = SearchRequest

    def reply(self, request: SearchRequest, fault: ServiceFault | None) -> HttpReply:
        """The answer of the service that is asked."""
        if FAILING in words_of(request.text):
            raise ServiceError(503)
        if request.action in NEED_KEYS and request.secret != KEY:
            raise ServiceError(401)
        answer = ANSWERS.get(request.action)
        if answer is None:
            raise ServiceError(404)
        return answer(request)

    def error(self, error: ServiceError) -> HttpReply:
        """The error with a body that repeats too much."""
        body = {"error": error.message or ECHO, "message": KEY, "detail": {"error": ECHO}}
        headers = {"Content-Type": "application/json", **error.headers}
        return HttpReply(error.code, json.dumps(body).encode(), headers=headers)

    def error_event(self, body: bytes) -> bytes:
        """The body itself: nothing streams."""
        return body


class FakeSearch(FakeService[SearchRequest], ServiceBehaviour):
    """The services, each below a path of its own name."""

    def __init__(self) -> None:
        ServiceBehaviour.__init__(self)
        super().__init__()

    def serve_with(self, script: Script) -> SearchRoutes:
        """Return what answers the requests."""
        return SearchRoutes(self, script)

    def down_for(self, *names: str, status: int = 503) -> None:
        """Have some services answer with an error."""
        fault = ServiceFault.status(status)
        self.fail(fault, when=lambda request: request.action in names, times=None)

    def settings(self, *names: str) -> dict[str, object]:
        """The settings with which these services are reached, and with keys for them alone."""
        address = self.url.removeprefix("http://")
        told: dict[str, object] = {"kernel.http.allowed_hosts": [address]}
        for name, setting in ADDRESSES.items():
            if name != "searxng" or name in names:
                told[f"plugins.search.{setting}"] = f"{self.url}/{name}"
        return told | {f"plugins.search.{name}_api_key": KEY for name in names if name in NEED_KEYS}
