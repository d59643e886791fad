"""A request to an OpenAI-compatible service, as it came over the wire."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from vr_testing.service.http import HttpRequest, schema_in

_DEPLOYMENT = re.compile(r"/openai/deployments/([^/]+)/")
_ACTIONS = {
    "/chat/completions": "chat.completions",
    "/embeddings": "embeddings",
    "/models": "models.list",
}


@dataclass(frozen=True, slots=True)
class OpenAIRequest(HttpRequest):
    """One request; `action` is `chat.completions`, `embeddings` or `models.list`."""

    actions = _ACTIONS
    speaking = "chat.completions"
    paid = frozenset({"chat.completions", "embeddings"})
    key_header = "api-key"

    @property
    def action(self) -> str:
        """The operation that is asked for, by the end of its path; empty for an unknown one."""
        return next((name for end, name in self.actions.items() if self.path.endswith(end)), "")

    @property
    def model(self) -> str:
        """The model asked, or the deployment at Azure; empty for none."""
        deployment = _DEPLOYMENT.search(self.path)
        return unquote(deployment[1]) if deployment else str(self.field("model") or "")

    @property
    def system(self) -> str:
        """The system instruction."""
        said = [each for each in self.messages if each.get("role") in {"system", "developer"}]
        return "\n".join(text_of(each) for each in said)

    @property
    def text(self) -> str:
        """The words of all turns, or the texts to embed, one per line."""
        if self.action == "embeddings":
            return "\n".join(map(str, self.inputs))
        said = [each for each in self.messages if each.get("role") not in {"system", "developer"}]
        return "\n".join(filter(None, map(text_of, said)))

    @property
    def inputs(self) -> list[Any]:
        """The texts to embed."""
        given = self.field("input")
        return given if isinstance(given, list) else [given]

    @property
    def media(self) -> list[Mapping[str, Any]]:
        """The parts that are pictures or files, as sent."""
        parts = [part for each in self.messages for part in parts_of(each)]
        return [part for part in parts if part.get("type") != "text"]

    @property
    def schema(self) -> Mapping[str, Any] | None:
        """The schema of the answer, also one that only the system instruction has."""
        form = self.field("response_format") or {}
        if form.get("type") == "json_schema":
            found: Mapping[str, Any] = form["json_schema"]["schema"]
            return found
        return schema_in(self.system)

    @property
    def tools(self) -> Sequence[Mapping[str, Any]]:
        """The functions that it declares, as sent."""
        return [tool["function"] for tool in self.field("tools") or []]


def text_of(message: Mapping[str, Any]) -> str:
    """The words of a message."""
    content = message.get("content")
    if isinstance(content, str):
        return content
    return "\n".join(part["text"] for part in parts_of(message) if part.get("type") == "text")


def parts_of(message: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The parts of a message whose content is a list."""
    content = message.get("content")
    return content if isinstance(content, list) else []
