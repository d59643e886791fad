"""Cohere's reranker, over its HTTP API."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import BaseModel, ValidationError
from vr_kernel import Code, Picture, Services, VrError, texts_of

from vr_plugin_knowledge.settings import KnowledgeSettings

MODEL = "rerank-v4.0-fast"
"""Default model, for more than 100 languages. Source: "An Overview of Cohere's Rerank Model"."""
ANSWER_BYTES = 1_000_000


class _Result(BaseModel):
    index: int
    relevance_score: float


class _Answer(BaseModel):
    results: list[_Result]


class CohereReranker:
    """A `Reranker` that sends question and texts to Cohere; every call is billed there.

    Args:
        services: for web access and settings: key, address, model, time limit.

    Raises:
        VrError: AUTH when there is no key.
    """

    def __init__(self, services: Services) -> None:
        settings: KnowledgeSettings = services.settings
        self._key = settings.cohere_api_key.get_secret_value()
        if not self._key:
            raise VrError(
                "Cohere needs a key.", Code.AUTH, hint="Set COHERE_API_KEY, or RERANKER_ENABLED=0."
            )
        self._http = services.http
        self._url = f"{settings.cohere_base_url.rstrip('/')}/v2/rerank"
        self._model = settings.reranker_model or MODEL
        self._deadline_s = settings.refining_deadline_s
        self.name = f"cohere/{self._model}"

    async def rerank(self, query: str, items: Sequence[str | Picture]) -> list[float]:
        """Score each text from 0 to 1, in order.

        Raises:
            VrError: AUTH for a key that is refused; UNAVAILABLE, category REPLY_INVALID, for a
                malformed answer; what `Fetcher.post` raises.
        """
        texts = texts_of(self.name, items)
        asked = {"model": self._model, "query": query, "documents": texts}
        try:
            page = await self._http.post(
                self._url,
                asked,
                headers={"Authorization": f"Bearer {self._key}"},
                max_bytes=ANSWER_BYTES,
                deadline_s=self._deadline_s,
            )
        except VrError as error:
            if error.category != "HTTP_FORBIDDEN":
                raise
            raise VrError(
                "Cohere refuses the key.", Code.AUTH, hint="Check COHERE_API_KEY."
            ) from error
        return _scores(page.content, len(texts))


def _scores(content: bytes, count: int) -> list[float]:
    try:
        results = _Answer.model_validate_json(content).results
    except ValidationError:
        results = []
    scores = {result.index: result.relevance_score for result in results}
    if len(results) != count or sorted(scores) != list(range(count)):
        raise VrError(
            "Cohere answered in a way that cannot be read.",
            Code.UNAVAILABLE,
            category="REPLY_INVALID",
            hint="Check cohere_base_url in [plugins.knowledge].",
        )
    return [scores[index] for index in range(count)]
