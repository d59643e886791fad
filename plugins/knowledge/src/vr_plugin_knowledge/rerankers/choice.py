"""The choice of the reranker that orders the hits of a search."""

from __future__ import annotations

from vr_kernel import Call, Reranker

from vr_plugin_knowledge.settings import COHERE, KnowledgeSettings, settings_of


def choose_reranker(call: Call) -> Reranker | None:
    """The configured reranker; None when reranking is off.

    Raises:
        VrError: UNAVAILABLE when it is not installed; AUTH when it needs a key.
    """
    settings = settings_of(call)
    if not wants_reranking(settings):
        return None
    return call.services.providers.get(Reranker, settings.reranker_provider)


def wants_reranking(settings: KnowledgeSettings) -> bool:
    """True when hits are reranked: as set, else with a Cohere key or another named reranker."""
    if settings.reranker_enabled is not None:
        return settings.reranker_enabled
    if settings.reranker_provider == COHERE:
        return bool(settings.cohere_api_key.get_secret_value())
    return True
