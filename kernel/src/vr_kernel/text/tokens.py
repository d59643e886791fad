"""Estimate of the tokens that a reader pays for a text, in any language."""

from __future__ import annotations

import re

# Tokenizers split a text into words, a few digits, and signs, before they look for longer pieces
# (o200k_base and cl100k_base alike). Identifiers, long words and encoded data cost several.
_PIECE = re.compile(
    r" ?[A-Z]?[a-z]{1,7}|[A-Z]{1,2}|\d{1,2}|\s{2,16}|[\x00-\x08!-/:-@\[-`{-\x7f]{1,2}"
)
_RARE = re.compile("[\u1200-\u139f\U00010000-\U0010ffff]")
"""Emoji, rare Chinese characters, and scripts that tokenizers know only as bytes."""


def estimate_tokens(text: str) -> int:
    """Estimate the tokens that a model reads, in any language: rather too many than too few.

    A character that takes two bytes in UTF-8 (Cyrillic, Arabic, Greek) counts as half a token,
    one of three (Japanese, Chinese, Thai) as one.
    """
    pieces = len(_PIECE.findall(text))
    if text.isascii():
        return pieces
    added = len(text.encode("utf-8", "surrogatepass")) - len(text)
    return pieces + (added + 1) // 2 + len(_RARE.findall(text))
