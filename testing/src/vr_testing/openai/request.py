"""A request to an OpenAI-compatible service, as it came over the wire."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

_DEPLOYMENT = re.compile(r"/openai/deployments/([^/]+)/")
_ACTIONS = {
    "/chat/completions": "chat.completions",
    "/embeddings": "embeddings",
    "/models": "models.list",
}
_SCHEMA_IN_WORDS = re.compile(r"\{.*\}", re.DOTALL)


@dataclass(frozen=True, slots=True)
class OpenAIRequest:
    """One request.

    Args:
        method: the HTTP method.
        path: the path, without what follows `?`.
        query: what follows it.
        headers: by name in lower case.
        body: the parsed JSON; None where there is none.
        size: bytes of the body, as announced.
        at: when it came, in seconds of `time.monotonic`.
        action: `chat.completions`, `embeddings` or `models.list`; empty for anything else.
        model: the model asked, or the deployment at Azure.
    """

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: Any
    size: int
    at: float
    action: str = ""
    model: str = ""

    @property
    def api_key(self) -> str:
        """The key it was sent with, empty when none."""
        bearer = self.headers.get("authorization", "").removeprefix("Bearer ").strip()
        return self.headers.get("api-key", bearer)

    @property
    def messages(self) -> Sequence[Mapping[str, Any]]:
        """The messages of a chat, as sent."""
        return self._field("messages") or []

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
        given = self._field("input")
        return given if isinstance(given, list) else [given]

    @property
    def media(self) -> list[Mapping[str, Any]]:
        """The parts that are pictures or files, as sent."""
        parts = [part for each in self.messages for part in parts_of(each)]
        return [part for part in parts if part.get("type") != "text"]

    @property
    def schema(self) -> Mapping[str, Any] | None:
        """The schema of the answer, also one that only the system instruction has."""
        form = self._field("response_format") or {}
        if form.get("type") == "json_schema":
            found: Mapping[str, Any] = form["json_schema"]["schema"]
            return found
        return schema_in(self.system)

    @property
    def tools(self) -> Sequence[Mapping[str, Any]]:
        """The functions that it declares, as sent."""
        return [tool["function"] for tool in self._field("tools") or []]

    @property
    def streams(self) -> bool:
        """True when the answer is asked for in pieces."""
        return bool(self._field("stream"))

    @property
    def asks_model(self) -> bool:
        """True when a model answers it, which costs money."""
        return self.action in {"chat.completions", "embeddings"}

    @property
    def generates(self) -> bool:
        """True when a model answers it in words."""
        return self.action == "chat.completions"

    def _field(self, name: str) -> Any:
        return self.body.get(name) if isinstance(self.body, Mapping) else None


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


def schema_in(words: str) -> Mapping[str, Any] | None:
    """The JSON schema that stands at the end of an instruction; None for none."""
    found = _SCHEMA_IN_WORDS.search(words)
    try:
        value = json.loads(found[0]) if found else None
    except ValueError:
        return None
    return value if isinstance(value, dict) and "type" in value else None


def read_request(
    method: str, target: str, headers: Mapping[str, str], raw: bytes | None, at: float
) -> OpenAIRequest:
    """Parse a request as read from the socket."""
    url = urlsplit(target)
    try:
        body = json.loads(raw) if raw else None
    except ValueError:
        body = None
    action = next((name for end, name in _ACTIONS.items() if url.path.endswith(end)), "")
    deployment = _DEPLOYMENT.search(url.path)
    named = body.get("model") if isinstance(body, Mapping) else ""
    return OpenAIRequest(
        method=method,
        path=url.path,
        query=dict(parse_qsl(url.query)),
        headers=headers,
        body=body,
        size=int(headers.get("content-length") or 0),
        at=at,
        action=action,
        model=unquote(deployment[1]) if deployment else str(named or ""),
    )
