"""Places of spans in their traces, by ids that two processes make alike."""

from __future__ import annotations

import re
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from opentelemetry.trace import SpanContext
    from vr_kernel import CallFinished, RequestFinished, Trace

_MEMBER = re.compile(
    r"([a-z][_0-9a-z\-*/]{0,255}|[a-z0-9][_0-9a-z\-*/]{0,240}@[a-z][_0-9a-z\-*/]{0,13})"
    r"=([\x20-\x2b\x2d-\x3c\x3e-\x7e]{0,255}[\x21-\x2b\x2d-\x3c\x3e-\x7e])"
)
"""A member of `tracestate`; the library writes to the log about each that is malformed."""
_MEMBERS = 32
_ALL = 2**56
"""Numbers that the last seven bytes of a trace id can be; samplers everywhere use these."""


@dataclass(frozen=True, slots=True)
class Place:
    """The place of a span.

    Attributes:
        trace: the id of its trace.
        span: its own id.
        parent: the id of the span that it belongs to; 0 for none.
        sampled: whether it is kept.
        remote: whether the parent is a span of the client.
        state: the members of the client's `tracestate`; none when one is malformed.
    """

    trace: int
    span: int
    parent: int
    sampled: bool
    remote: bool
    state: tuple[tuple[str, str], ...] = ()

    @property
    def context(self) -> SpanContext:
        """The span as the library names it."""
        return self._context(self.span, remote=False)

    @property
    def parent_context(self) -> SpanContext | None:
        """The parent as the library names it."""
        return self._context(self.parent, remote=self.remote) if self.parent else None

    def _context(self, span: int, *, remote: bool) -> SpanContext:
        from opentelemetry.trace import SpanContext, TraceFlags, TraceState

        flags = TraceFlags(int(self.sampled))
        return SpanContext(self.trace, span, remote, flags, TraceState(self.state))


def place_of_call(event: CallFinished, share: float) -> Place:
    """Return the place of a call: below its turn, the call it was made in, or its client."""
    sent = _sent(event.trace)
    inner = event.trace.parent
    parent = span_id(inner) if inner else int(sent[2], 16) if sent else 0
    return _placed(event.trace, span_id(event.call_id), parent, share, remote=not inner)


def place_of_request(event: RequestFinished, share: float) -> Place:
    """Return the place of an attempt to ask a model: below the call that pays."""
    own = f"{event.call_id} {event.started_at!r} {event.attempt} {event.purpose} {event.model}"
    return _placed(event.trace, span_id(own), span_id(event.call_id), share, remote=False)


def span_id(of: str) -> int:
    """Return the id of a span, made from the id of its call."""
    return int(sha256(of.encode()).hexdigest()[:16], 16)


def _placed(trace: Trace, span: int, parent: int, share: float, *, remote: bool) -> Place:
    sent = _sent(trace)
    if sent:
        sampled = bool(int(sent[3], 16) & 1)
        return Place(int(sent[1], 16), span, parent, sampled, remote, _state(trace))
    made = int(sha256(trace.root.encode()).hexdigest()[:32], 16)
    return Place(made, span, parent, made % _ALL < share * _ALL, remote)


def _sent(trace: Trace) -> list[str]:
    """The parts of the client's `traceparent`; none without it. The kernel has checked its form."""
    sent = trace.context.get("traceparent", "")
    return sent.split("-") if sent else []


def _state(trace: Trace) -> tuple[tuple[str, str], ...]:
    members = [it.strip() for it in trace.context.get("tracestate", "").split(",") if it.strip()]
    found = [_MEMBER.fullmatch(member) for member in members[:_MEMBERS]]
    pairs = {it[1]: it[2] for it in found if it is not None}
    return tuple(pairs.items()) if len(pairs) == len(members) else ()
