"""Arguments that research tools share; every client pays for every word of them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, WithJsonSchema
from vr_kernel import ThinkingLevel

from vr_plugin_research.results.report import Scope

EngineChoice = Literal["auto", "model", "local"]
Dollars = Annotated[float, Field(gt=0, le=10_000)]
Plan = Annotated[
    dict[str, Any] | str, WithJsonSchema({"description": "of research_plan, or its id"})
]
Given = Annotated[list[str], Field(description="Paths, URLs, record ids")]
DEFAULT_THINKING: ThinkingLevel = "high"
DEFAULT_SCOPE: Scope = "moderate"
