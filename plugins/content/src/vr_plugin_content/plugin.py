"""The plugin's hooks; importing this module imports no parser."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pydantic import BaseModel
from vr_kernel import Check, DocumentLoader, Provider, RecordKind, Services, hookimpl

from vr_plugin_content.prompts import (
    content_compare,
    content_questions,
    content_summary,
    content_table,
)
from vr_plugin_content.record_kinds import CONTENT_ANALYSES
from vr_plugin_content.resources import document, documents
from vr_plugin_content.settings import ContentSettings
from vr_plugin_content.tools.analyze import content_analyze
from vr_plugin_content.tools.batch_analyze import content_batch_analyze
from vr_plugin_content.tools.extract import content_extract
from vr_plugin_content.tools.read import content_read


@hookimpl
def vr_settings() -> type[BaseModel]:
    """`[plugins.content]`."""
    return ContentSettings


@hookimpl
def vr_tools() -> list[Callable[..., Any]]:
    """The tools."""
    return [content_analyze, content_batch_analyze, content_extract, content_read]


@hookimpl
def vr_prompts() -> list[Callable[..., Any]]:
    """The prompts that people start with."""
    return [content_summary, content_compare, content_table, content_questions]


@hookimpl
def vr_resources() -> list[Callable[..., Any]]:
    """The documents that were read."""
    return [documents, document]


@hookimpl
def vr_record_kinds() -> list[RecordKind]:
    """The kinds of records."""
    return [CONTENT_ANALYSES]


@hookimpl
def vr_views() -> list[Callable[..., Any]]:
    """The views of results and records."""
    from vr_plugin_content.views.declared import VIEWS

    return [*VIEWS]


@hookimpl
def vr_providers() -> list[Provider[Any]]:
    """The loader of documents, and the processes that parse, which exist once per kernel."""
    return [
        Provider.own("vr_plugin_content.parsing.parser:Parser"),
        Provider.own("vr_plugin_content.folders.known:KnownFolders"),
        Provider(DocumentLoader, "content", _loader, preference=-10),
    ]


def _loader(services: Services) -> DocumentLoader:
    from vr_plugin_content.loader import ContentLoader

    return ContentLoader(services)


@hookimpl
def vr_health(services: Services) -> list[Check]:
    """The checks of `vr doctor`."""
    from vr_plugin_content.health import content_checks

    return content_checks(services)
