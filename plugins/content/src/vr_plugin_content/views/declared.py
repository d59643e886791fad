"""All views of the plugin."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from vr_plugin_content.views import analysis, batch, document, extraction

VIEWS: tuple[Callable[..., Any], ...] = (
    analysis.show_analysis,
    analysis.show_analyses,
    batch.show_batch,
    document.show_part,
    document.show_passages,
    extraction.show_extraction,
)
"""Each is a view of a tool's result, or of a kind of records."""
