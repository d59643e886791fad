"""Bounds of texts: how much of a message, a name or an exception is kept."""

from __future__ import annotations

from collections.abc import Callable

ERROR_BYTES = 4_096
"""Most of a message, and of a hint, in UTF-8."""
CLEANED = 16
"""As many times of what is shown of a text is searched for secrets."""
NAME_CHARS = 200
"""As much of a name as is compared with others: what is longer is near to none."""
MOST_SAID = 500
"""Longest text of somebody's exception in a message or a line of the log, in characters."""


def bounded(text: str, most: int = ERROR_BYTES, clean: Callable[[str], str] = str) -> str:
    """The text, or its beginning and how long it was.

    Args:
        text: of any length.
        most: bytes of UTF-8 that are returned.
        clean: takes out of the text what nobody shall see.
    """
    room = CLEANED * most
    # A very long text takes long to clean. Where a cut would part a secret, nothing is kept.
    shown = clean(text) if len(text) <= room else clean(text[:room])[:-most]
    if len(text) <= room and len(shown.encode("utf-8", "replace")) <= most:
        return shown
    mark = f"… ({len(text):,} characters)".encode()
    start = shown[:most].encode("utf-8", "replace")[: most - len(mark)]
    return start.decode("utf-8", "ignore") + mark.decode()


def said(error: BaseException) -> str:
    """The words of an exception as one line; exceptions whose text fails do no harm."""
    name = type(error).__name__
    try:
        text = str(error)[: 2 * MOST_SAID]
    except BaseException:  # noqa: BLE001 - the text is code of whoever wrote the class
        return f"{name} (it has no text)"
    line = " ".join(f"{name}: {text}".split()).rstrip(": ")
    return line if len(line) <= MOST_SAID else f"{line[:MOST_SAID]}…"
