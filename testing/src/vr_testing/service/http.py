"""Requests with JSON bodies, as they came over the wire."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self
from urllib.parse import parse_qsl, urlsplit

_JSON = re.compile(r"\{.*\}", re.DOTALL)


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """One request.

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


def schema_in(words: str) -> Mapping[str, Any] | None:
    """The JSON schema that stands at the end of an instruction; None for none."""
    found = _JSON.search(words)
    try:
        value = json.loads(found[0]) if found else None
    except ValueError:
        return None
    return value if isinstance(value, dict) and "type" in value else None
