"""Answers that are refused, cut off, or without their usage."""

from __future__ import annotations

from vr_kernel import Code, Reply, Usage, VrError, estimate_tokens

MOST_COUNTED = 10**9
"""Most tokens of one request; a service that counts more is at fault."""
NOT_REPORTED = "{model} reported no usage; its tokens are estimated."


def refused(model: str, usage: Usage, why: str = "") -> VrError:
    """The error of an answer that was withheld, with its cost."""
    error = VrError(
        f"{model} refused to answer{f': {why}' if why else ''}.",
        Code.NOT_ALLOWED,
        category="SAFETY_BLOCKED",
        hint="Ask in another way, or ask another model.",
    )
    error.usage = usage
    return error


def cut_off(model: str, usage: Usage, text: str) -> VrError:
    """The error of an answer that reached its most tokens, with its cost and its text so far."""
    error = VrError(
        f"The answer of {model} was cut off at its most tokens.",
        Code.TOO_LARGE,
        category="REPLY_CUT_OFF",
        hint="Ask for less at once, or allow more output tokens.",
    )
    error.usage, error.detail = usage, text
    return error


def count_of(value: object) -> int | None:
    """The tokens that a service reports; None for what can be no count."""
    return value if type(value) is int and 0 <= value <= MOST_COUNTED else None


def estimated(asked: str, reply: Reply) -> Reply:
    """The reply with tokens that are estimated, and a note that says so."""
    usage = Usage(
        calls=1,
        input_tokens=estimate_tokens(asked),
        output_tokens=estimate_tokens(reply.text),
    )
    note = NOT_REPORTED.format(model=reply.model)
    return reply.model_copy(update={"usage": usage, "notes": [*reply.notes, note]})
