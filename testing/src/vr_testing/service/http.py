"""Requests with JSON bodies, as they came over the wire."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self
from urllib.parse import parse_qsl, urlsplit

_JSON = re.compile(r"\{.*\}", re.DOTALL)


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """One request; each family has its own actions.

    Args:
        method: the HTTP method.
        path: the path, without what follows `?`.
        query: what follows it.
        headers: by name in lower case.
        body: the parsed JSON; None where there is none.
        size: bytes of the body, as announced.
        at: when it came, in seconds of `time.monotonic`.
    """

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: Any
    size: int
    at: float
    actions: ClassVar[Mapping[str, str]]
    """Path -> action."""
    speaking: ClassVar[str]
    """The action that a model answers in words."""
    paid: ClassVar[frozenset[str]]
    """The actions that a model answers."""
    key_header: ClassVar[str] = ""
    """The header of its key, where that is not `Authorization`."""

    @classmethod
    def read(
        cls, method: str, target: str, headers: Mapping[str, str], raw: bytes | None, at: float
    ) -> Self:
        """Parse a request as read from the socket."""
        url = urlsplit(target)
        try:
            body = json.loads(raw) if raw else None
        except ValueError:
            body = None
        size = int(headers.get("content-length") or 0)
        return cls(method, url.path, dict(parse_qsl(url.query)), headers, body, size, at)

    def field(self, name: str) -> Any:
        """A field of the body; None for none."""
        return self.body.get(name) if isinstance(self.body, Mapping) else None

    @property
    def action(self) -> str:
        """The operation that is asked for; empty for an unknown one."""
        return self.actions.get(self.path, "")

    @property
    def model(self) -> str:
        """The model asked; empty for none."""
        return str(self.field("model") or "")

    @property
    def api_key(self) -> str:
        """The key it was sent with, empty when none."""
        bearer = self.headers.get("authorization", "").removeprefix("Bearer ").strip()
        return self.headers.get(self.key_header, bearer)

    @property
    def messages(self) -> Sequence[Mapping[str, Any]]:
        """The messages, as sent."""
        return self.field("messages") or []

    @property
    def streams(self) -> bool:
        """True when the answer is asked for in pieces."""
        return bool(self.field("stream"))

    @property
    def asks_model(self) -> bool:
        """True when a model answers it, which costs money where models do."""
        return self.action in self.paid

    @property
    def generates(self) -> bool:
        """True when a model answers it in words."""
        return self.action == self.speaking


def schema_in(words: str) -> Mapping[str, Any] | None:
    """The JSON schema that stands at the end of an instruction; None for none."""
    found = _JSON.search(words)
    try:
        value = json.loads(found[0]) if found else None
    except ValueError:
        return None
    return value if isinstance(value, dict) and "type" in value else None
