"""Different spellings of the same word, and scripts without spaces between words."""

from __future__ import annotations

import re
import unicodedata
from itertools import pairwise

# Han, kana, Hangul, Thai, Lao, Burmese and Khmer: a run of these may hold many words.
_SPACELESS = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uac00-\ud7af\U00020000-\U0003ffff"
)
_RUN = re.compile(f"[{_SPACELESS}]+")
# Arabic as in Lucene's ArabicNormalizer: alef, yeh and teh marbuta have variants, vowel signs
# and the stretching stroke are ornament. Swiss German writes no sharp s.
_VARIANTS: dict[int, str | None] = {
    0x622: "\u0627",
    0x623: "\u0627",
    0x625: "\u0627",
    0x629: "\u0647",
    0x649: "\u064a",
    0x640: None,
    0x670: None,
    **dict.fromkeys(range(0x64B, 0x660)),
    ord("ß"): "ss",
    ord("ẞ"): "SS",
}


def index_text(text: str) -> str:
    """A text as it is indexed: one spelling, and runs without spaces as pairs of characters.

    Pairs overlap, and the last character of a run stands alone, so that every character
    begins a word: 知识库 becomes 知识 识库 库.
    """
    if text.isascii():
        return text
    return _RUN.sub(lambda run: f" {_pairs(run[0])} {run[0][-1]} ", _one_spelling(text))


def question_text(text: str) -> str:
    """A question in the spelling of `index_text`; of a run it has only the pairs."""
    if text.isascii():
        return text
    return _RUN.sub(lambda run: f" {_pairs(run[0])} ", _one_spelling(text))


def is_lone(word: str) -> bool:
    """True for a word of one character of a script without spaces: the beginning of pairs."""
    return len(word) == 1 and _RUN.fullmatch(word) is not None


def fold(word: str) -> str:
    """A word as in the full-text index, except for English endings."""
    apart = unicodedata.normalize("NFKD", word.lower())
    return "".join(sign for sign in apart if not unicodedata.combining(sign))


def _one_spelling(text: str) -> str:
    return unicodedata.normalize("NFKC", text).translate(_VARIANTS)


def _pairs(run: str) -> str:
    return " ".join(map("".join, pairwise(run))) or run
