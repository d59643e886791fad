"""Bounds of texts: how much of a message, a name or an exception is kept."""

from __future__ import annotations

from collections.abc import Callable

ERROR_BYTES = 4_096
"""Maximum bytes of a message, and of a hint, in UTF-8."""
CLEANED = 16
"""Secrets are searched in this many times the length that is shown of a text."""
NAME_CHARS = 200
"""Maximum length of a name that is compared with others; longer ones are similar to none."""
MOST_SAID = 500
"""Maximum characters of an exception's text in a message or a log line."""


def bounded(text: str, most: int = ERROR_BYTES, clean: Callable[[str], str] = str) -> str:
    """Return the text, or its beginning with its full length.

    Args:
        text: of any length.
        most: maximum bytes of UTF-8 that are returned.
        clean: removes what must not be shown.
    """
    room = CLEANED * most
    # A very long text takes long to clean. Near the cut, which may split a secret, drop the text.
    shown = clean(text) if len(text) <= room else clean(text[:room])[:-most]
    if len(text) <= room and len(shown.encode("utf-8", "replace")) <= most:
        return shown
    mark = f"… ({len(text):,} characters)".encode()
    start = shown[:most].encode("utf-8", "replace")[: most - len(mark)]
    return start.decode("utf-8", "ignore") + mark.decode()


def said(error: BaseException) -> str:
    """The text of an exception as one line; an exception whose text fails is handled."""
    name = type(error).__name__
    try:
        text = str(error)[: 2 * MOST_SAID]
    except BaseException:  # noqa: BLE001 - the text is code of whoever wrote the class
        return f"{name} (it has no text)"
    line = " ".join(f"{name}: {text}".split()).rstrip(": ")
    return line if len(line) <= MOST_SAID else f"{line[:MOST_SAID]}…"
