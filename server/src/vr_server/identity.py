"""The origin of a request: its principal, and the trace context of its client."""

from __future__ import annotations

from typing import Any

from fastmcp.server.context import Context
from fastmcp.server.dependencies import get_access_token

TRACE_KEYS = ("traceparent", "tracestate", "baggage")
"""Names of the W3C's trace context, in `_meta` as in headers."""


def principal() -> str | None:
    """Return the principal of the request's token; None on stdio, and when no token is needed."""
    token = get_access_token()
    return None if token is None else token.client_id


def trace_context(context: Context) -> dict[str, Any]:
    """Return the trace context of a request as it was sent: in `_meta`, else in HTTP headers."""
    request = context.request_context
    if request is None:
        return {}
    sent: Any = request.meta or {}
    if TRACE_KEYS[0] not in sent and request.request is not None:
        sent = request.request.headers
    return {name: sent[name] for name in TRACE_KEYS if name in sent}
