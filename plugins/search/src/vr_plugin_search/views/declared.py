"""All views of the plugin."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from vr_plugin_search.views import papers, web

VIEWS: tuple[Callable[..., Any], ...] = (
    web.show_search,
    web.show_searches,
    papers.show_found,
    papers.show_relations,
    papers.show_papers,
)
"""Each is a view of a tool's result, or of a kind of records."""
