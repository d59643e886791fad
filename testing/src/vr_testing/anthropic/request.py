"""A request to the Messages API, as it came over the wire."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from vr_testing.service.http import HttpRequest, schema_in

_ACTIONS = {
    "/v1/messages": "messages",
    "/v1/messages/count_tokens": "messages.count_tokens",
    "/v1/models": "models.list",
}


@dataclass(frozen=True, slots=True)
class AnthropicRequest(HttpRequest):
    """One request; `action` is `messages`, `messages.count_tokens` or `models.list`."""

    actions = _ACTIONS
    speaking = "messages"
    paid = frozenset({"messages"})
    key_header = "x-api-key"

    @property
    def system(self) -> str:
        """The system instruction."""
        found = self.field("system") or ""
        return found if isinstance(found, str) else "\n".join(block["text"] for block in found)

    @property
    def text(self) -> str:
        """The words of all turns, one per line."""
        return "\n".join(filter(None, map(text_of, self.messages)))

    @property
    def schema(self) -> Mapping[str, Any] | None:
        """The schema of the answer, also one that only the system instruction has."""
        form = (self.field("output_config") or {}).get("format") or {}
        found: Mapping[str, Any] | None = form.get("schema")
        return found if found is not None else schema_in(self.system)

    @property
    def media(self) -> list[Mapping[str, Any]]:
        """The pictures and documents, as sent."""
        return [*self.blocks("image"), *self.blocks("document")]

    @property
    def tools(self) -> Sequence[Mapping[str, Any]]:
        """The tools that it declares, as sent."""
        return self.field("tools") or []

    def blocks(self, kind: str) -> Iterator[Mapping[str, Any]]:
        """The blocks of a kind, such as `tool_use`."""
        for message in self.messages:
            yield from (block for block in blocks_of(message) if block["type"] == kind)


def blocks_of(message: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The blocks of a message."""
    content = message.get("content")
    return [{"type": "text", "text": content}] if isinstance(content, str) else content or []


def text_of(message: Mapping[str, Any]) -> str:
    """The words of a message."""
    return "\n".join(block["text"] for block in blocks_of(message) if block["type"] == "text")
