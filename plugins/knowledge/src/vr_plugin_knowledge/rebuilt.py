"""The error that says that a store is empty now, and its cursor has to be read again."""

from __future__ import annotations

from vr_kernel import Code, VrError

REBUILT = "STORE_REBUILT"
"""Category of the error."""


def rebuilt(message: str) -> VrError:
    """Return the error of a store that is being filled from the journal again."""
    return VrError(
        message,
        Code.UNAVAILABLE,
        category=REBUILT,
        hint="Ask again in a moment.",
        retryable=True,
    )
