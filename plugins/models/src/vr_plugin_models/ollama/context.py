"""The context that a request is given, and the proof that nothing of it was cut."""

from __future__ import annotations

from vr_kernel import Code, Usage, VrError

SMALLEST = 4_096
"""The context that an Ollama server takes by itself."""
ANSWER_ROOM = 2_048
"""Tokens that are kept free for an answer whose length is not limited."""
LEAST_SHARE = 0.5
"""Least part of the estimated tokens that an uncut request is counted with: the estimate is rather
too high, and no tokenizer was seen to need less than two thirds of it."""
ENOUGH = 512
"""Estimates below this are not held against the count."""
AT_LIMIT = range(3_980, SMALLEST + 1)
"""Counts of a request that was cut at the server's own context."""
LEAST_AT_LIMIT = 0.75
"""Least part for such a count; texts in English and code need 0.82 and more (o200k, cl100k)."""


def context_for(tokens: int, answer: int | None, most: int) -> int:
    """The context of a request, in steps of powers of two, so that a model is seldom loaded anew.

    Args:
        tokens: estimated, of the request.
        answer: most tokens of the answer; None for no limit.
        most: that the model can take; 0 when that is not known.
    """
    needed = tokens + (ANSWER_ROOM if answer is None else answer)
    size = SMALLEST
    while size < needed:
        size *= 2
    return min(size, most) if most else size


def require_uncut(model: str, counted: int, estimated: int, usage: Usage) -> None:
    """Refuse an answer to a request of which the server saw less than was sent.

    Raises:
        VrError: UNAVAILABLE, category REQUEST_CUT, with what was paid.
    """
    least = LEAST_AT_LIMIT if counted in AT_LIMIT else LEAST_SHARE
    if estimated < ENOUGH or counted >= estimated * least:
        return
    error = VrError(
        f"Ollama counted {counted:,} tokens of a request of about {estimated:,}: {model} saw only a"
        " part of it, so its answer is not used.",
        Code.UNAVAILABLE,
        category="REQUEST_CUT",
        hint="Give the server more memory or a larger OLLAMA_CONTEXT_LENGTH, take a smaller model,"
        " or send less at once.",
    )
    error.usage = usage
    raise error
