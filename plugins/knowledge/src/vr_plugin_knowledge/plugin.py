"""The knowledge plugin: one store of all records, and the tools that query it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

from vr_kernel import (
    CallFinished,
    Check,
    Command,
    Embedder,
    Provider,
    RecordKind,
    Reranker,
    Services,
    Store,
    hookimpl,
)

from vr_plugin_knowledge.answering.agent import AnswerAgent
from vr_plugin_knowledge.graph.follower import Networks
from vr_plugin_knowledge.graph.kinds import CONCEPT_KNOWLEDGE, RELATIONSHIP_EDGES
from vr_plugin_knowledge.notes.folder import Notes
from vr_plugin_knowledge.settings import KnowledgeSettings
from vr_plugin_knowledge.tools.ask import knowledge_ask
from vr_plugin_knowledge.tools.conflicts import knowledge_conflicts
from vr_plugin_knowledge.tools.extract import knowledge_extract
from vr_plugin_knowledge.tools.fetch import knowledge_fetch
from vr_plugin_knowledge.tools.forget import knowledge_forget
from vr_plugin_knowledge.tools.graph import knowledge_graph
from vr_plugin_knowledge.tools.ingest import knowledge_ingest
from vr_plugin_knowledge.tools.related import knowledge_related
from vr_plugin_knowledge.tools.schema import knowledge_schema
from vr_plugin_knowledge.tools.search import knowledge_search
from vr_plugin_knowledge.tools.stats import knowledge_stats


@hookimpl
def vr_settings() -> type[KnowledgeSettings]:
    """The section `[plugins.knowledge]`."""
    return KnowledgeSettings


@hookimpl
def vr_tools() -> list[Callable[..., Any]]:
    """The knowledge tools; each works on the kinds of all plugins."""
    return [
        knowledge_search,
        knowledge_ask,
        knowledge_related,
        knowledge_conflicts,
        knowledge_fetch,
        knowledge_stats,
        knowledge_ingest,
        knowledge_forget,
        knowledge_schema,
        knowledge_extract,
        knowledge_graph,
    ]


@hookimpl
def vr_record_kinds() -> list[RecordKind]:
    """Concepts, and how they relate."""
    return [CONCEPT_KNOWLEDGE, RELATIONSHIP_EDGES]


@hookimpl
def vr_providers() -> list[Provider[Any]]:
    """The stores, the graph, an embedder by a service, and the rerankers."""
    return [
        Provider(Store, "embedded", _embedded),
        Provider(Store, "weaviate", _weaviate),
        Provider(AnswerAgent, "weaviate", _query_agent),
        Provider(Networks, "journal", _networks),
        Provider(Notes, "folder", _notes),
        Provider(Embedder, "model", _by_model),
        Provider(Embedder, "gemini", _by_model),  # its name before other services embedded
        Provider(Reranker, "cohere", _cohere),
        Provider(Reranker, "model", _judge, of_call=True),
        Provider(Reranker, "flashrank", _flashrank),
        Provider(Reranker, "fastembed", _fastembed),
    ]


@hookimpl
def vr_commands() -> list[Command]:
    """Commands that import, export and move records."""
    home = "vr_plugin_knowledge.transfer.commands"
    return [
        Command(("knowledge", "import"), "Record what files hold.", f"{home}:import_records"),
        Command(("knowledge", "export"), "Write all records to a file.", f"{home}:export_records"),
        Command(("knowledge", "reindex"), "Reindex records.", f"{home}:reindex"),
        Command(
            ("knowledge", "notes"),
            "Bring your folder of notes up to date.",
            "vr_plugin_knowledge.notes.commands:notes",
        ),
        Command(
            ("knowledge", "migrate"),
            "Fill a store and compare it, or pull from a server.",
            "vr_plugin_knowledge.transfer.migration:migrate",
        ),
    ]


@hookimpl
def vr_views() -> list[Callable[..., Any]]:
    """Views of the results of the tools, and of concepts."""
    from vr_plugin_knowledge.views import VIEWS

    return list(VIEWS)


@hookimpl
def vr_call_finished(event: CallFinished, services: Services) -> Awaitable[object] | None:
    """Write new records into the notes folder, and extract concepts from them, where configured."""
    work = [*_notes_of(event, services), *_concepts_of(event, services)]
    return asyncio.gather(*work) if work else None


@hookimpl
def vr_health(services: Services) -> list[Check]:
    """Checks of the store, of collections and of the notes folder."""
    from vr_plugin_knowledge.notes.health import notes_checks
    from vr_plugin_knowledge.orphans import kept_check

    return [*_store_checks(services), kept_check(services), *notes_checks(services)]


def _notes_of(event: CallFinished, services: Services) -> Iterator[Awaitable[object]]:
    if services.settings.notes_folder:
        writer = services.providers.get(Notes).writer
        if writer.owes(event.records + event.deletions):
            yield writer.write()


def _concepts_of(event: CallFinished, services: Services) -> Iterator[Awaitable[object]]:
    if services.settings.graph_collections:
        from vr_plugin_knowledge.graph.auto_extraction import extract_new, may_extract

        if may_extract(event):
            yield extract_new(event, services)


def _store_checks(services: Services) -> list[Check]:
    if services.store.available() and services.store.name == "weaviate":
        from vr_plugin_knowledge.weaviate_store.health import weaviate_checks

        return weaviate_checks(services)
    from vr_plugin_knowledge.embedded_store.health import store_checks

    return store_checks(services)


def _embedded(services: Services) -> Store:
    from vr_plugin_knowledge.embedded_store.store import build_store

    return build_store(services)


def _weaviate(services: Services) -> Store:
    from vr_plugin_knowledge.weaviate_store.store import build_store

    return build_store(services)


def _query_agent(services: Services) -> AnswerAgent:
    from vr_plugin_knowledge.weaviate_store.query_agent import build_query_agent

    return build_query_agent(services)


def _networks(services: Services) -> Networks:
    from vr_plugin_knowledge.graph.follower import build_networks

    return build_networks(services)


def _notes(services: Services) -> Notes:
    from vr_plugin_knowledge.notes.folder import build_notes

    return build_notes(services)


def _by_model(services: Services) -> Embedder:
    from vr_plugin_knowledge.models_embedder import build_embedder

    return build_embedder(services)


def _cohere(services: Services) -> Reranker:
    from vr_plugin_knowledge.rerankers.cohere import CohereReranker

    return CohereReranker(services)


def _judge(services: Services) -> Reranker:
    from vr_plugin_knowledge.rerankers.judge import ModelJudge

    return ModelJudge(services)


def _flashrank(services: Services) -> Reranker:
    from vr_plugin_knowledge.rerankers.local import build_flashrank

    return build_flashrank(services)


def _fastembed(services: Services) -> Reranker:
    from vr_plugin_knowledge.rerankers.local import build_fastembed

    return build_fastembed(services)
