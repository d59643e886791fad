"""Text from files and screens, made safe to show: it is data and never steers a terminal."""

from __future__ import annotations

import re
import unicodedata

ELLIPSIS = "…"
CHARS_A_TOKEN = 4
"""Of plain English; other texts have fewer."""
_ANSI = re.compile(r"\x1b(\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(\x07|\x1b\\)?|[@-Z\\-_])")
_SPACES = re.compile(r"[^\S\n]+")
# One of them says how the letter before it is written or joined; a run of them hides a text.
_RUNS = re.compile("([\ufe00-\ufe0f\U000e0100-\U000e01ef])[\ufe00-\ufe0f\U000e0100-\U000e01ef]+")
_JOINED = re.compile("([\u200c\u200d])[\u200c\u200d]+")
_JOINERS = frozenset("\u200c\u200d")
"""Invisible, but part of how Persian, Indic scripts and emoji are written."""


def clean(text: str) -> str:
    """Text without control characters, terminal escapes and invisible direction marks.

    Line breaks stay; runs of other white space become one space.
    """
    text = _ANSI.sub("", unicodedata.normalize("NFC", text)).replace("\r\n", "\n")
    kept = "".join(" " if c == "\t" else c for c in text if c in "\n\t" or _is_visible(c))
    plain = _JOINED.sub(r"\1", _RUNS.sub(r"\1", kept))
    lines = (_SPACES.sub(" ", line).strip() for line in plain.split("\n"))
    return "\n".join(lines).strip("\n")


def one_line(text: str, limit: int) -> str:
    """Clean text on one line of at most `limit` characters, cut at a word."""
    line = " ".join(clean(text).split())
    if len(line) <= limit:
        return line
    cut = line[: limit - 1]
    head, space, _ = cut.rpartition(" ")
    return (head if space and len(head) > limit // 2 else cut).rstrip(" ,;:-") + ELLIPSIS


def chars_within(text: str, tokens: int) -> int:
    """Characters of a text, from its beginning, that cost a reader about so many tokens."""
    from vr_kernel import estimate_tokens

    start = text[: tokens * CHARS_A_TOKEN]
    cost = estimate_tokens(start)
    return len(start) if cost <= tokens else max(1, len(start) * tokens // cost)


def clipped(text: str, tokens: int) -> str:
    """A text of at most about so many tokens; an ellipsis says where it was cut."""
    most = chars_within(text, tokens)
    return text if len(text) <= most else text[: most - 1] + ELLIPSIS


def short_line(text: str, tokens: int) -> str:
    """Clean text on one line of at most about so many tokens, cut at a word."""
    line = " ".join(clean(text).split())
    return one_line(line, chars_within(line, tokens))


def _is_visible(character: str) -> bool:
    return character in _JOINERS or unicodedata.category(character) not in {"Cc", "Cf", "Cs", "Co"}
