"""Errors that a fake service answers with."""

from __future__ import annotations

from collections.abc import Mapping


class ServiceError(Exception):
    """An answer that is an error; each family has a body of its own for it.

    Args:
        code: the HTTP status.
        message: what the service says; its usual words for that status when left out.
        headers: HTTP headers besides the usual ones, such as `Retry-After`.
        kind: the family's name of the error, such as `insufficient_quota`; the usual one when
            left out.
    """

    def __init__(
        self,
        code: int,
        message: str = "",
        *,
        headers: Mapping[str, str] | None = None,
        kind: str = "",
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.headers = dict(headers or {})
        self.kind = kind
