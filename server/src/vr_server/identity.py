"""The principal behind a request."""

from __future__ import annotations

from fastmcp.server.dependencies import get_access_token


def principal() -> str | None:
    """Return the principal of the request's token; None on stdio, and when no token is needed."""
    token = get_access_token()
    return None if token is None else token.client_id
