"""The knowledge plugin: one store of everything recorded, and the tools that ask it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from vr_kernel import Check, Command, Provider, Services, Store, hookimpl

from vr_plugin_knowledge.tools.fetch import knowledge_fetch
from vr_plugin_knowledge.tools.ingest import knowledge_ingest
from vr_plugin_knowledge.tools.schema import knowledge_schema
from vr_plugin_knowledge.tools.search import knowledge_search
from vr_plugin_knowledge.tools.stats import knowledge_stats


@hookimpl
def vr_tools() -> list[Callable[..., Any]]:
    """The knowledge tools; each works on the kinds of all plugins."""
    return [
        knowledge_search,
        knowledge_fetch,
        knowledge_stats,
        knowledge_ingest,
        knowledge_schema,
    ]


@hookimpl
def vr_providers() -> list[Provider[Any]]:
    """The embedded store."""
    return [Provider(Store, "embedded", _embedded)]


@hookimpl
def vr_commands() -> list[Command]:
    """What carries records in and out."""
    home = "vr_plugin_knowledge.transfer.commands"
    return [
        Command(("knowledge", "import"), "Record what files hold.", f"{home}:import_records"),
        Command(("knowledge", "export"), "Write all records to a file.", f"{home}:export_records"),
        Command(("knowledge", "reindex"), "Index records anew.", f"{home}:reindex"),
    ]


@hookimpl
def vr_health(services: Services) -> list[Check]:
    """What `vr doctor` looks at."""
    from vr_plugin_knowledge.health import store_checks

    return store_checks(services)


def _embedded(services: Services) -> Store:
    from vr_plugin_knowledge.store import build_store

    return build_store(services)
