"""Spans of calls and of requests to models: each is one line of JSON in a file."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Any, TextIO

from vr_kernel import CallFinished, RequestFinished, Services, Trace, private_file, private_folder

Span = dict[str, Any]


class Tracer:
    """Writes spans into `almanac/spans.jsonl` of the state folder, while it is open."""

    def __init__(self, services: Services) -> None:
        self.path = services.paths.state / "almanac" / "spans.jsonl"
        self._file: TextIO | None = None

    def open(self) -> None:
        """Open the file, which is made for the user alone."""
        private_folder(self.path.parent)
        private_file(self.path)
        self._file = self.path.open("a", encoding="utf-8", buffering=1)

    def write(self, span: Span) -> None:
        """Write a span; nothing once the file is closed."""
        if self._file is not None:
            self._file.write(json.dumps(span) + "\n")

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()
            self._file = None


def call_span(event: CallFinished) -> Span:
    """Return the span of a call, below that of its turn, its parent call or its client."""
    sent = event.trace.context.get("traceparent", "")
    parent = _span_id(event.trace.parent) if event.trace.parent else sent[36:52]
    return {
        "trace_id": _trace_id(event.trace),
        "span_id": _span_id(event.call_id),
        "parent_id": parent or None,
        "name": event.tool,
        "start": event.started_at,
        "end": event.started_at + event.duration_s,
        "status": "ok" if event.ok else event.code,
        "principal": event.principal,
        "run": event.run,
    }


def request_span(event: RequestFinished) -> Span:
    """Return the span of one attempt to ask a model, below that of the call that pays."""
    return {
        "trace_id": _trace_id(event.trace),
        "span_id": _span_id(f"{event.call_id} {event.started_at} {event.attempt}"),
        "parent_id": _span_id(event.call_id),
        "name": f"{event.purpose} {event.model}",
        "start": event.started_at,
        "end": event.started_at + event.duration_s,
        "status": event.code or "ok",
        "attempt": event.attempt,
        "tokens": event.usage.input_tokens + event.usage.output_tokens if event.usage else None,
    }


def _trace_id(trace: Trace) -> str:
    """The id that the client sent, else one made from the outermost call."""
    sent = trace.context.get("traceparent", "")
    return sent[3:35] or sha256(trace.root.encode()).hexdigest()[:32]


def _span_id(of: str) -> str:
    return sha256(of.encode()).hexdigest()[:16]
