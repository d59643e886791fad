"""Text from files and screens, made safe to show: it is data and never steers a terminal."""

from __future__ import annotations

import re
import unicodedata

from vr_kernel import visible

ELLIPSIS = "…"
CHARS_A_TOKEN = 4
"""Characters per token of plain English; other texts have fewer."""
_SPACES = re.compile(r"[^\S\n]+")
_NO_LETTERS = re.compile("[\ud800-\udfff\ue000-\uf8ff\U000f0000-\U0010ffff]")
"""Surrogates, and private-use characters that only a particular font can show."""


def clean(text: str) -> str:
    """Text without control characters, terminal escapes and invisible direction marks.

    Line breaks stay; runs of other white space become one space.
    """
    plain = _NO_LETTERS.sub("", visible(unicodedata.normalize("NFC", text)))
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
    """Number of leading characters of a text that make about so many tokens."""
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
