"""Views of the results of the knowledge tools, and of concepts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from vr_plugin_knowledge.views.answers import show_answer
from vr_plugin_knowledge.views.changes import show_forgotten, show_ingested
from vr_plugin_knowledge.views.concepts import show_concepts, show_relationships
from vr_plugin_knowledge.views.conflicts import show_conflicts
from vr_plugin_knowledge.views.counts import show_schema, show_stats
from vr_plugin_knowledge.views.graphs import show_extracted, show_graph
from vr_plugin_knowledge.views.hits import show_related, show_search
from vr_plugin_knowledge.views.objects import show_object

VIEWS: tuple[Callable[..., Any], ...] = (
    show_search,
    show_related,
    show_conflicts,
    show_answer,
    show_object,
    show_ingested,
    show_forgotten,
    show_stats,
    show_schema,
    show_extracted,
    show_graph,
    show_concepts,
    show_relationships,
)
"""All views of this plugin."""
