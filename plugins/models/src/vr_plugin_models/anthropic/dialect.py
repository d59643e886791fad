"""The ways of asking a Claude model, learned from what it refuses."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Literal

from vr_kernel import Request

_SCHEMA = re.compile(r"output_(config|format)|json_schema|structured|schema", re.IGNORECASE)
_THINKING = re.compile(r"thinking|effort|adaptive", re.IGNORECASE)
_TEMPERATURE = re.compile(r"temperature", re.IGNORECASE)
_BUDGETS = {"minimal": 1_024, "low": 2_048, "medium": 8_192, "high": 16_384}
"""Tokens that older models may think for; at least 1,024. Source: "Extended thinking"."""
_LESS: dict[str, Literal["budget", "none"]] = {"adaptive": "budget", "budget": "none"}


@dataclass(slots=True)
class ClaudeDialect:
    """The ways in which one model is asked.

    Attributes:
        schema: whether it takes a JSON schema for its answer.
        thinking: how it is told to think: by effort, by a budget, or not at all.
        temperature: whether it takes one.
    """

    schema: bool = True
    thinking: Literal["adaptive", "budget", "none"] = "adaptive"
    temperature: bool = True

    def thinking_fields(self, request: Request, most: int) -> dict[str, Any]:
        """The fields for thinking, the shape of the answer, and temperature."""
        fields: dict[str, Any] = {}
        config: dict[str, Any] = {}
        if request.schema is not None and self.schema:
            config["format"] = {"type": "json_schema", "schema": dict(request.schema)}
        level = request.thinking
        if level is not None and self.thinking == "adaptive":
            fields["thinking"] = {"type": "adaptive"}
            config["effort"] = "low" if level == "minimal" else level
        elif level is not None and self.thinking == "budget" and _BUDGETS[level] < most:
            fields["thinking"] = {"type": "enabled", "budget_tokens": _BUDGETS[level]}
        elif request.temperature is not None and self.temperature:
            fields["temperature"] = min(1.0, request.temperature)
        return {**fields, "output_config": config} if config else fields

    def learn(self, refusal: str, sent: dict[str, Any]) -> bool:
        """Learn from a refusal; False when it says nothing about the ways of asking."""
        config = sent.get("output_config", {})
        if "format" in config and _SCHEMA.search(refusal) and not _THINKING.search(refusal):
            self.schema = False
        elif ("thinking" in sent or "effort" in config) and _THINKING.search(refusal):
            self.thinking = _LESS[self.thinking]
        elif "temperature" in sent and _TEMPERATURE.search(refusal):
            self.temperature = False
        else:
            return False
        return True
