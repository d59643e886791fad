"""The request for an analysis."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from vr_plugin_video.arguments import MediaResolution, ThinkingLevel


@dataclass(frozen=True, slots=True)
class AnalysisRequest:
    """The arguments of one call: instruction, form of the answer, and settings of the model."""

    instruction: str
    output_schema: dict[str, Any] | None
    thinking_level: ThinkingLevel
    fps: float | None
    media_resolution: MediaResolution | None
