"""Visible text: without invisible characters that terminals obey or models read."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

# ECMA-48: a control sequence (a colour, the cursor), a string (the title of a window, the address
# of a link), a choice of signs, one function; each begun by ESC or by a sign of C1.
_PARAMETERS, _STRING = r"[0-?]{0,64}+[ -/]{0,8}+", r"[^\x00-\x1f\x7f-\x9f\u2028\u2029]{0,4096}+"
_CSI, _OSC = r"(?:\x1b\[|\x9b)", r"(?:\x1b[PX\]^_]|[\x90\x98\x9d-\x9f])"
_ESCAPES = (
    rf"{_CSI}{_PARAMETERS}[@-~]|{_OSC}{_STRING}(?:\x07|\x1b\\|\x9c)"
    r"|\x1b[ -/]{1,8}+[0-~]|\x1b[0-~]"
)
# C0 but tab and line feed, DEL, C1, soft hyphen, marks and controls of direction, signs without
# width, line separators, annotations, shorthand and music controls, tags.
_SIGNS = (
    r"\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f"
    r"\ufeff\ufff9-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e00ff"
    r"\U000e01f0-\U000e0fff"
)
_JOINERS, _FORMS = "\u200c\u200d", "\ufe00-\ufe0f\U000e0100-\U000e01ef"
_FORM = re.compile(f"[{_FORMS}]")
_BREAK = re.compile("\r\n?|[\x0b\x0c\x85\u2028\u2029]")
_UNSEEN = re.compile(f"{_ESCAPES}|[{_SIGNS}]")
_HALVES = re.compile("([\ud800-\udbff])([\udc00-\udfff])|[\ud800-\udfff]")
_UNSEEN_SIGN = re.compile(f"(?!\n)[{_SIGNS}]")
_ESCAPE = re.compile(_ESCAPES)
_RUN = re.compile(f"([{_JOINERS}])[{_JOINERS}]+|([{_FORMS}])[{_FORMS}]+")
_BEGUN = re.compile(
    rf"(?:{_CSI}{_PARAMETERS}|{_OSC}{_STRING}\x1b?|\x1b[ -/]{{0,8}}+|[\r\ud800-\udbff])\Z"
)
# Marks in file names stay: without them it would be the name of another file.
_PATH = re.compile(
    r"(?:/|[A-Za-z]:[\\/])[^\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u206f\U000e0000-\U000e0fff]*"
)
_LONGEST_PATH = 4096
_PLAIN_SPACES = "\n\t\xa0\u202f\u3000"
_SPELLED = re.compile(r"\\[bfru]")
"""Characters that JSON escapes."""


def visible(text: str) -> str:
    """The text without invisible characters and control characters, except line ends and tabs.

    Each kind of line end becomes a line feed. An escape sequence is removed whole: with the number
    of a colour, or the address of a link; if it has no end, only its beginning is removed. The
    joiners of Persian, of Indic scripts and of emoji stay, and so do single variation selectors,
    but not runs of them, which can hide a text. A lone surrogate, which no file accepts, becomes
    `?`.
    """
    if _is_plain(text):
        return text
    return _RUN.sub(r"\1\2", _seen(text))


def _is_plain(text: str) -> bool:
    """Check quickly that a text needs no change; may be False for one with rare characters."""
    if text.isascii() and text.isprintable():
        return True
    for sign in _PLAIN_SPACES:
        text = text.replace(sign, " ")
    return text.isprintable() and (text.isascii() or _FORM.search(text) is None)


def _seen(text: str) -> str:
    return _HALVES.sub(_whole, _UNSEEN.sub("", _BREAK.sub("\n", text)))


def _whole(halves: re.Match[str]) -> str:
    return halves[0].encode("utf-16", "surrogatepass").decode("utf-16") if halves[1] else "?"


def result_text(text: str) -> str:
    """A visible text of a result; a path keeps the marks in its name, so that it stays usable."""
    if _is_plain(text):
        return text
    is_path = len(text) <= _LONGEST_PATH and _PATH.fullmatch(text)
    return text if is_path else visible(text)


def all_visible(value: Any, show: Callable[[str], str] = visible) -> Any:
    """Return a JSON value with all its texts and keys made visible."""
    if isinstance(value, str):
        return show(value)
    if isinstance(value, dict):
        return {visible(name): all_visible(inner, show) for name, inner in value.items()}
    return [all_visible(each, show) for each in value] if isinstance(value, list) else value


def visible_json(text: str, show: Callable[[str], str] = visible) -> str:
    """JSON text whose value is `all_visible`; white space of its grammar is not changed."""
    if _is_plain(text) and _SPELLED.search(text) is None:
        return text
    try:
        value = json.loads(text)
        seen = all_visible(value, show)
        return text if seen == value else json.dumps(seen, ensure_ascii=False)
    except (ValueError, RecursionError):
        return visible(text)


def spelled_json(value: Any, indent: int | None = None) -> str:
    """The value as JSON text in which invisible characters are escaped, so that none is lost."""
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    return _UNSEEN_SIGN.sub(lambda found: json.dumps(found[0])[1:-1], text)


class VisiblePieces:
    """Makes text visible that arrives in pieces; together they equal `visible` of the whole."""

    def __init__(self) -> None:
        self._begun = ""
        self._last = ""

    def take(self, piece: str) -> str:
        """Return what may be shown now; a possible start of an escape sequence is held back."""
        text = self._begun + piece
        if _is_plain(text):
            self._last = text[-1:] or self._last
            return text
        begun = _BEGUN.search(text)
        end = begun.start() if begun else len(text)
        self._begun = text[end:]
        return self._show(text[:end])

    def rest(self) -> str:
        """Return what was held back, at the end of the text."""
        text, self._begun = self._begun, ""
        return self._show(text)

    def _show(self, text: str) -> str:
        shown = _RUN.sub(r"\1\2", self._last + _seen(text))[len(self._last) :]
        self._last = shown[-1:] or self._last
        return shown


def without_escapes(text: str) -> str:
    """Replace escape sequences with characters of no width, so that all other positions stay."""
    if text.isprintable():
        return text
    return _ESCAPE.sub(lambda found: "\u200b" * len(found[0]), text)


def visible_line(text: str, most: int = 0) -> str:
    """Return the visible text on one line, each run of white space as one space.

    Args:
        text: of any length.
        most: maximum characters, the last of them an ellipsis if the text is cut; 0 for no limit.
    """
    line = " ".join(visible(text).split())
    return f"{line[: most - 1].rstrip()}…" if 0 < most < len(line) else line


def spelled_out(text: str | Path) -> str:
    """Return a text or path in which control and invisible characters are escaped."""
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in str(text))
