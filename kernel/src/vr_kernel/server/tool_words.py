"""The words and the sentences of requests, and of what tools say of themselves."""

from __future__ import annotations

import re
from collections.abc import Iterator

from vr_kernel.tools import Tool

_WORD = re.compile(r"[^\W_]+")
_BREAK = re.compile(r"[.,;:?!]\s+")
_ENDINGS = ("ations", "ation", "ings", "ing", "edly", "ies", "ied", "ed", "es", "ly", "er", "s")
_SHORTEST_STEM = 3
_STOP = (
    "a an and any anything are as at be been by can could did do does for from give had has have"
    " how i if in into is it its let me my now of on or our please so something than that the"
    " their them then there these they this to us want was we were what when where who will with"
    " would you your"
)
_STOP_WORDS = frozenset(_STOP.split())
"""Words that say nothing of a task."""
MOST_SENTENCES = 5


def stems(text: str) -> Iterator[str]:
    """The words of a text that carry meaning, without their endings."""
    for word in _WORD.findall(text.casefold()):
        if word not in _STOP_WORDS:
            yield stem(word)


def stem(word: str) -> str:
    """A lower-case word without its ending, cut the same way wherever it stands."""
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST_STEM:
            word = word.removesuffix(ending)
            break
    if len(word) > _SHORTEST_STEM and word[-1] == word[-2]:
        word = word[:-1]  # stopped, stop
    return word[:-1] if len(word) > _SHORTEST_STEM and word[-1] in "eiy" else word


def sentences(request: str) -> list[str]:
    """A request, and each part of it that has two words: one may name the task, others its topic.

    At most `MOST_SENTENCES` in all.
    """
    parts = [part.strip() for part in _BREAK.split(request) if len(part.split()) > 1]
    return [request, *(parts if len(parts) > 1 else [])][:MOST_SENTENCES]


def phrases(tool: Tool) -> list[str]:
    """What a tool is, and what its author says that people ask of it."""
    named = f"{tool.name.replace('_', ' ')}. {tool.description}"
    return [named, *filter(None, map(str.strip, tool.words.split(";")))]
