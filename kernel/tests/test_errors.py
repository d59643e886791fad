"""An error of the kernel as an object."""

from __future__ import annotations

from vr_kernel import Code, Usage, VrError


def test_other_words_change_nothing_else() -> None:
    error = VrError(
        "Busy.",
        Code.UNAVAILABLE,
        category="SERVICE_BUSY",
        hint="Wait.",
        retryable=True,
        retry_after=3.0,
        usage=Usage(calls=2),
        detail="<html>",
    )
    error.__cause__ = OSError("reset")
    told = error.reworded("It is busy.", "Call again.")
    assert vars(told) == vars(error) | {"message": "It is busy.", "hint": "Call again."}
    assert (told.__cause__, str(told), error.message) == (error.__cause__, "It is busy.", "Busy.")
