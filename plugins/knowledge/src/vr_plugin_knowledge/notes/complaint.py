"""Reports a failing notes folder, once per failure."""

from __future__ import annotations

from vr_kernel import Services, VrError
from vr_kernel.storage import wording

FAILURES = (OSError, VrError)
"""Errors of a folder, a disk or the journal; no call fails because of them."""


class Complaint:
    """Logs a failure, and again only when it is another one.

    Args:
        services: of the knowledge plugin.
        what: says what is not done because of it.

    Attributes:
        said: what is wrong now; empty when all is well.
    """

    def __init__(self, services: Services, what: str) -> None:
        self._log = services.log
        self._what = what
        self.said = ""

    def tell(self, error: Exception) -> None:
        """Log the error, unless the last one was the same."""
        said = wording(error)
        (self._log.debug if said == self.said else self._log.warning)(self._what, error=said)
        self.said = said

    def settle(self) -> None:
        """Note that all is well again."""
        self.said = ""
