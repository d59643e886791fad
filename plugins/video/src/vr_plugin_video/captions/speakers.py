"""Finds speakers in captions, where the captions name them clearly."""

from __future__ import annotations

import re
from collections.abc import Iterable

from vr_plugin_video.text.plain_text import one_line

NAME_CHARS = 60
LEAST_NAMES = 2
"""Least number of names in capitals in a file; a single one may be a word such as `WARNING: `."""
MARK, END_MARK = "\x01", "\x02"
"""Marks around the name of a voice, from reading a file until reading its lines."""
_VOICE = re.compile(r"<v(?:\.[^\s>]*)?\s+([^>]{1,200})>")
_TAG = re.compile(r"< */? *[a-zA-Z][^>]*>")
_VOICED = re.compile(f"{MARK}([^{END_MARK}]*){END_MARK}")
_BRACKETED = re.compile(r"(?:>>+ *|[-\u2013] *)?\[([^\]\n]{1,60})\] *: *(?=\S)")
_CAPITALS = re.compile(r"(?:>>+ *|[-\u2013] *)?([^\W\d_][\w.'\u2019&/ -]{1,39}):\s+(?=\S)")
_CHANGE = re.compile(r">>+")


def mark_voices(text: str) -> str:
    """The text of a WebVTT cue without tags, each voice on a line of its own and marked."""
    plain = text.replace(MARK, "").replace(END_MARK, "")
    return _TAG.sub("", _VOICE.sub(lambda m: f"\n{MARK}{m[1]}{END_MARK}", plain))


class Speakers:
    """Finds the speakers in the lines of one file."""

    def __init__(self, lines: Iterable[str]) -> None:
        """Look through all lines of the file, to know whether it names people in capitals."""
        named = sum(1 for line in lines if _capitals(line))
        self._capitals = named >= LEAST_NAMES

    def split(self, line: str) -> tuple[str | None, str]:
        """Split a line into speaker and words; the speaker is None when the line does not say.

        An empty name is an unnamed speaker.
        """
        voiced = _VOICED.match(line)
        if voiced:
            return one_line(voiced[1], NAME_CHARS), line[voiced.end() :]
        found = _BRACKETED.match(line) or (_capitals(line) if self._capitals else None)
        if found:
            return one_line(found[1], NAME_CHARS), line[found.end() :]
        return ("" if _CHANGE.match(line) else None), line


def _capitals(line: str) -> re.Match[str] | None:
    found = _CAPITALS.match(line)
    # Capitals mark no speaker in a line that is all in capitals.
    return found if found and found[1].isupper() and not line[found.end() :].isupper() else None
