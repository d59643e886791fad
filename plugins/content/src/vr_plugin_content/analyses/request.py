"""The request for an analysis."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from vr_plugin_content.arguments import ThinkingLevel


@dataclass(frozen=True, slots=True)
class AnalysisRequest:
    """The question, the form of the answer, and how hard a model is to think."""

    instruction: str
    output_schema: dict[str, Any] | None
    thinking_level: ThinkingLevel
