"""Previews of calls: while one runs, what it would change, or pay for elsewhere, is refused."""

from __future__ import annotations

from contextvars import ContextVar

from vr_kernel.errors import Code, VrError

PREVIEWED = "PREVIEWED"
"""Category of the error of what a preview does not do."""
_PREVIEW: ContextVar[Previewing | None] = ContextVar("vr-preview", default=None)


class Previewing:
    """A block in which a call is previewed. It holds for tasks that begin in it, until it ends."""

    __slots__ = ("_is_over", "_token")

    def __enter__(self) -> None:
        """Begin."""
        self._is_over = False
        self._token = _PREVIEW.set(self)

    def __exit__(self, *_: object) -> None:
        """End, also for tasks that go on."""
        self._is_over = True
        _PREVIEW.reset(self._token)

    @property
    def is_over(self) -> bool:
        """True when it has ended."""
        return self._is_over


def is_previewed() -> bool:
    """Check if the running code belongs to a preview."""
    preview = _PREVIEW.get()
    return preview is not None and not preview.is_over


def refuse_in_preview(what: str) -> None:
    """Refuse something within a preview.

    Raises:
        VrError: UNAVAILABLE, category PREVIEWED.
    """
    if is_previewed():
        raise VrError(f"A preview does not {what}.", Code.UNAVAILABLE, category=PREVIEWED)
