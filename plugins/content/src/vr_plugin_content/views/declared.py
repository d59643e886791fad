"""All views of the plugin."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from vr_plugin_content.views import analysis, document

VIEWS: tuple[Callable[..., Any], ...] = (
    analysis.show_analysis,
    analysis.show_analyses,
    document.show_part,
    document.show_passages,
)
"""Each is a view of a tool's result, or of a kind of records."""
