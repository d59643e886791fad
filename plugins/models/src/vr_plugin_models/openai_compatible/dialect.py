"""The ways of asking a model by OpenAI's protocol, learned from what it refuses."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Literal

from vr_plugin_models.catalogue.provider_row import ProviderRow, SchemaWay

_LESS: dict[SchemaWay, SchemaWay] = {"native": "json", "json": "words"}
_FORMAT = re.compile(r"response_format|json_schema|json_object|structured output", re.IGNORECASE)
_LIMIT = re.compile(r"max_completion_tokens|max_tokens", re.IGNORECASE)
_TEMPERATURE = re.compile(r"temperature", re.IGNORECASE)
_EFFORT = re.compile(r"reasoning|thinking", re.IGNORECASE)
_TOOLS = re.compile(r"\btools?\b|function.?call", re.IGNORECASE)


@dataclass(slots=True)
class Dialect:
    """The ways in which one model is asked.

    Attributes:
        schema: how an answer in a shape is asked for.
        limit_field: the field of the most output tokens.
        temperature: whether it takes one.
        effort: whether it takes an effort of thinking.
        tools: whether it takes declarations of tools.
    """

    schema: SchemaWay = "native"
    limit_field: Literal["max_completion_tokens", "max_tokens"] = "max_tokens"
    temperature: bool = True
    effort: bool = False
    tools: bool = True

    @classmethod
    def of(cls, row: ProviderRow) -> Dialect:
        """The dialect that a provider's models are first asked in."""
        newer = row.family == "azure" or row.name == "openai"
        return cls(
            schema=row.schema,
            limit_field="max_completion_tokens" if newer else "max_tokens",
            effort=row.effort,
        )

    def learn(self, refusal: str, sent: dict[str, Any]) -> bool:
        """Learn from a refusal; False when it says nothing about the ways of asking.

        Args:
            refusal: what the service said.
            sent: the fields of the request.
        """
        if "response_format" in sent and _FORMAT.search(refusal) and self.schema in _LESS:
            self.schema = _LESS[self.schema]
        elif self.limit_field in sent and _LIMIT.search(refusal):
            other = self.limit_field == "max_tokens"
            self.limit_field = "max_completion_tokens" if other else "max_tokens"
        elif "temperature" in sent and _TEMPERATURE.search(refusal):
            self.temperature = False
        elif "reasoning_effort" in sent and _EFFORT.search(refusal):
            self.effort = False
        else:
            if "tools" in sent and _TOOLS.search(refusal):
                self.tools = False
            return False
        return True
