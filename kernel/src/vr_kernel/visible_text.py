"""Text without the signs that nobody sees: a terminal obeys some of them, a model reads others."""

from __future__ import annotations

import re
from pathlib import Path

_UNSEEN = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff"
    r"\ufff9-\ufffb\U000e0000-\U000e0fff]"
)


def visible(text: str) -> str:
    """The text without control characters, other than line ends and tabs, and unseen signs."""
    return _UNSEEN.sub("", text)


def shown(path: Path) -> str:
    """A path as a message names it: what steers a terminal, or is not seen, is spelled out."""
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in str(path))
