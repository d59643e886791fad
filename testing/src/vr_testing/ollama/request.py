"""A request to an Ollama server, as it came over the wire."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from vr_testing.service.http import HttpRequest, schema_in

_ACTIONS = {
    "/api/chat": "chat",
    "/api/embed": "embed",
    "/api/show": "show",
    "/api/tags": "tags",
    "/api/version": "version",
}


@dataclass(frozen=True, slots=True)
class OllamaRequest(HttpRequest):
    """One request; `action` is `chat`, `embed`, `show`, `tags` or `version`."""

    actions = _ACTIONS
    speaking = "chat"
    paid = frozenset({"chat", "embed"})

    @property
    def system(self) -> str:
        """The system instruction."""
        return "\n".join(each["content"] for each in self.messages if each["role"] == "system")

    @property
    def text(self) -> str:
        """The words of all turns, or the texts to embed, one per line."""
        if self.action == "embed":
            return "\n".join(self.inputs)
        said = [each for each in self.messages if each["role"] != "system"]
        return "\n".join(each.get("content") or "" for each in said)

    @property
    def inputs(self) -> list[str]:
        """The texts to embed."""
        given = self.field("input") or []
        return given if isinstance(given, list) else [given]

    @property
    def media(self) -> list[str]:
        """The pictures, as sent."""
        return [picture for each in self.messages for picture in each.get("images") or []]

    @property
    def schema(self) -> Mapping[str, Any] | None:
        """The schema of the answer, also one that only the system instruction has."""
        form = self.field("format")
        return form if isinstance(form, dict) else schema_in(self.system)

    @property
    def tools(self) -> Sequence[Mapping[str, Any]]:
        """The functions that it declares, as sent."""
        return [tool["function"] for tool in self.field("tools") or []]

    @property
    def window(self) -> int:
        """The context that is asked for, in tokens; 0 for none."""
        return int((self.field("options") or {}).get("num_ctx") or 0)
