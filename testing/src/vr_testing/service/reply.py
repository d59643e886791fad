"""Replies as they go over the wire."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class HttpReply:
    """A whole HTTP answer: one body, or the events of a stream."""

    status: int = 200
    body: bytes = b""
    events: tuple[bytes, ...] = ()
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def streams(self) -> bool:
        """True when it is sent in chunks, one per event."""
        return bool(self.events)


def as_json(value: Any, **headers: str) -> HttpReply:
    """A JSON body; a keyword such as `x_goog_upload_status` is a header."""
    named = {name.replace("_", "-"): text for name, text in headers.items()}
    return HttpReply(
        body=json.dumps(value).encode(),
        headers={"Content-Type": "application/json; charset=UTF-8", **named},
    )


def as_events(values: Sequence[Any]) -> HttpReply:
    """Server-sent events, each one JSON value."""
    events = tuple(b"data: " + json.dumps(value).encode() + b"\r\n\r\n" for value in values)
    return HttpReply(events=events, headers={"Content-Type": "text/event-stream"})
