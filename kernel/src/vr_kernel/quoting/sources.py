"""A source prepared for finding quotes: its words, their letters, and where they stand."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator, Sequence
from functools import cached_property

from vr_kernel.quoting.words import Fold, Word, join_words, read_words, written

RUN_TOGETHER = 24
"""Letters from which a word is several without spaces; English has hardly any as long."""
_OPENING = " \n\t\u00a0([{\"'\u201c\u2018\u00ab\u201e"
_CLOSING = re.compile(r"([.!?,;:'\"\u2019\u201d]*[)\]}])")
_BRACKETS = {")": "(", "]": "[", "}": "{"}


class Source:
    """The words of texts that follow each other."""

    def __init__(self, texts: Sequence[str]) -> None:
        self.texts = list(texts)
        self.spots = read_words(self.texts, Fold())
        self.words = [word.text for word in self.spots]
        self.letters, self.starts = join_words(self.words)
        self.known = frozenset(self.words)

    @cached_property
    def unread(self) -> tuple[str, array[int]]:
        """The letters with no number and no negation made out, and where each word begins."""
        return written(self.spots)

    @cached_property
    def breaks(self) -> array[int]:
        """Ends of lines in the letters as written; only texts of several lines have any."""
        return array("I", self._breaks())

    def _breaks(self) -> Iterator[int]:
        if not any("\n" in text for text in self.texts):
            return
        (_, starts), last = self.unread, len(self.spots)
        for at, word in enumerate(self.spots):
            text = self.texts[word.last]
            if "\n" not in text:
                continue
            if (
                at
                and self.spots[at - 1].last != word.first
                and "\n" not in self.texts[word.first - 1]
            ):
                yield starts[at]
            inside = text.find("\n", word.start, word.end) if word.first == word.last else -1
            if inside >= 0:
                begun, _ = written(read_words([text[word.start : inside]], Fold()))
                yield starts[at] + len(begun)
            follows = self.spots[at + 1] if at + 1 < last else None
            whole = follows is None or follows.first != word.last
            if whole or (follows and "\n" in text[word.end : follows.start]):
                yield starts[at + 1]

    def is_name(self, at: int) -> bool:
        """True for a word with a capital, after one without in the same sentence."""
        if not at or self.spots[at].first != self.spots[at - 1].last:
            return False
        before, word = self.spots[at - 1], self.spots[at]
        text = self.texts[word.first]
        between = text[before.end : word.start].strip(_OPENING)
        small = text[before.end - 1].islower() and between in ("", ",")
        written = text[word.start : word.end]
        return small and (written.istitle() or (len(written) > 1 and written.isupper()))

    def runs_together(self, at: int) -> bool:
        """True for a word that is several without spaces between."""
        word: Word = self.spots[at]
        return word.end - word.start >= RUN_TOGETHER

    def text(self, pieces: Sequence[tuple[int, int]]) -> str:
        """The words of pieces as the source has them; each goes from a word to before another."""
        return " ".join(self._text(first, last) for first, last in pieces)

    def _text(self, first: int, last: int) -> str:
        begin, end = self.spots[first], self.spots[last - 1]
        texts = self.texts[begin.first : end.last + 1]
        before, after = texts[0][: begin.start], texts[-1][end.end :]
        texts[-1] = texts[-1][: end.end]
        texts[0] = texts[0][begin.start :]
        return _with_brackets(before, " ".join(texts), after)


def _with_brackets(before: str, text: str, after: str) -> str:
    """A text with the brackets beside it that belong to those in it."""
    missing = [sign for sign, opening in _BRACKETS.items() if before.endswith(opening)]
    if missing and _lacks(text, missing[0]):
        text = before[-1] + text
    while closing := _CLOSING.match(after):
        sign = closing[1][-1]
        if text.count(_BRACKETS[sign]) <= text.count(sign):
            break
        text, after = text + closing[1], after[closing.end() :]
    return text


def _lacks(text: str, sign: str) -> bool:
    """Check for a closing bracket that nothing before it opens."""
    depth = 0
    for character in text:
        depth += (character == _BRACKETS[sign]) - (character == sign)
        if depth < 0:
            return True
    return False
