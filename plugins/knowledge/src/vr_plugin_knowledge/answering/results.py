"""Results of `knowledge_ask`."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel
from vr_kernel import Usage
from vr_kernel.quoting import Verdict

Backend = Literal["retrieval", "weaviate_agent"]


class AnswerCitation(BaseModel):
    """A quote that supports a claim, and whether it was found in the source that is named.

    `verified`: it does. `moved`: it stands in another source, which is then the one named.
    `not_found`: in none. `unchecked`: it is too short to say.
    """

    source: int
    quote: str
    verdict: Verdict
    score: float


class AnswerClaim(BaseModel):
    """A sentence of the answer; `supported` when a quote of it was found."""

    text: str
    supported: bool
    citations: list[AnswerCitation]


class AnswerSource(BaseModel):
    """A record that the answer cites by its number."""

    number: int
    collection: str
    object_id: str
    locator: dict[str, Any] | None = None
    link: str | None = None
    source: str | None = None


class KnowledgeAnswer(BaseModel):
    """An answer from what was recorded.

    Without a model, `model` and `claims` are empty, `answered` is false, and `answer` says so and
    gives the best passages, with the numbers of their `sources`.
    """

    query: str
    answered: bool
    answer: str
    claims: list[AnswerClaim] = []
    sources: list[AnswerSource] = []
    backend: Backend = "retrieval"
    model: str = ""
    pending: int = 0
    notes: list[str] = []
    usage: Usage | None = None
