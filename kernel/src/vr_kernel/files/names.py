"""Names for new files, out of text that a stranger wrote."""

from __future__ import annotations

import re
import unicodedata

NAME_BYTES = 200
"""Longest name in bytes of UTF-8; file systems take 255, and a number may be added."""
SUFFIX_BYTES = 20
"""Longest ending that is kept when a name is cut."""
UNNAMED = "file"
# Windows keeps these for devices, whatever ending follows; superscript digits count as digits.
_RESERVED = re.compile(r"(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9¹²³])", re.IGNORECASE)
_SEPARATORS = re.compile(r"[/\\]")
# Signs that Windows takes for a stream, pattern or redirection, or that look like a slash.
_FORBIDDEN = re.compile('[<>:"|?*\u2044\u2215\u2216\u29f5\u29f8\u29f9\ufe68\uff0f\uff3c]')
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


def safe_name(text: str) -> str:
    """A file name out of a title, an address or a header: one part of a path on every system.

    It names no folder, device, stream or hidden file, holds nothing that cannot be seen, and is
    at most 200 bytes long; its ending is kept. Safe names stay as they are.
    """
    last = _SEPARATORS.split(text)[-1]
    seen = "".join(" " if char.isspace() else char for char in last if _is_seen(char))
    normal = _FORBIDDEN.sub("_", unicodedata.normalize("NFC", seen))
    name = _cut(_trimmed(normal)) or UNNAMED
    return f"_{name}" if _RESERVED.fullmatch(name.partition(".")[0].rstrip()) else name


def numbered(name: str, number: int) -> str:
    """The name with a number before its ending: `talk (2).mp4`."""
    stem, dot, suffix = name.rpartition(".")
    return f"{stem} ({number}){dot}{suffix}" if stem else f"{name} ({number})"


def _trimmed(name: str) -> str:
    """Strip ends that hide a file, look like an option, or that Windows drops."""
    return re.sub(r" +", " ", name).lstrip(" .-~").rstrip(" .")


def _cut(name: str) -> str:
    if len(name.encode()) <= NAME_BYTES:
        return name
    stem, dot, suffix = name.rpartition(".")
    ending = dot + suffix if stem and len(suffix.encode()) <= SUFFIX_BYTES else ""
    kept = (stem if ending else name).encode()[: NAME_BYTES - len(ending.encode())]
    return _trimmed(kept.decode("utf-8", "ignore")) + ending


def _is_seen(char: str) -> bool:
    return char.isspace() or unicodedata.category(char) not in _UNSEEN
