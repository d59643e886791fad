"""Faults of Gemini, besides those that any service can have."""

from __future__ import annotations

from dataclasses import dataclass

from vr_testing.gemini import errors
from vr_testing.gemini.errors import ApiError
from vr_testing.service.faults import ServiceFault

GENERATING = frozenset({"generateContent", "streamGenerateContent"})


@dataclass(frozen=True)
class Fault(ServiceFault):
    """One thing that goes wrong; those of `ServiceFault` can happen to any service.

    An error in place of the answer costs nothing; an answer that is altered, cut or lost was
    generated nevertheless and is on the bill.
    """

    @classmethod
    def throttled(
        cls, retry_after: float | None = None, *, retry_delay: float | None = None
    ) -> Fault:
        """429; seconds to wait in the header `Retry-After`, in the detail `RetryInfo`, or both."""
        return cls("throttled", error=lambda _request: errors.throttled(retry_after, retry_delay))

    @classmethod
    def invalid_key(cls) -> Fault:
        """400: the API key is not valid."""
        return cls("invalid key", error=lambda _request: errors.invalid_key())

    @classmethod
    def file_forbidden(cls) -> Fault:
        """403 for a request that refers to an uploaded file, as for one that expired."""
        return cls(
            "file forbidden",
            applies=lambda request: bool(request.file_ids),
            error=lambda request: errors.file_forbidden(request.file_ids[0]),
        )

    @classmethod
    def cache_refused(cls, tokens: int = 100, least: int = 1024) -> Fault:
        """400 for the creation of a context cache: too small."""
        return cls(
            "cache refused",
            applies=lambda request: request.action == "cachedContents.create",
            error=lambda _request: errors.cache_too_small(tokens, least),
        )

    @classmethod
    def cache_gone(cls) -> Fault:
        """403 for a request that builds on a context cache, as for one that expired."""
        return cls(
            "cache gone",
            applies=lambda request: bool(request.cached_content),
            error=lambda _request: errors.cache_gone(),
        )

    @classmethod
    def thinking_refused(cls) -> Fault:
        """400 for a request with a thinking level, as from a model that does not know it."""
        return cls(
            "thinking refused",
            applies=lambda request: bool(request.thinking_level),
            error=lambda request: ApiError(
                400, f"Thinking level {request.thinking_level} is not supported for this model."
            ),
        )
