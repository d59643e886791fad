"""Words of requests: their stems, and others that people say for the same thing."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

_WORD = re.compile(r"[^\W_]+")
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
_ALIKE = (
    "delete remove clear empty erase drop throw wipe purge",
    "stop cancel abort kill end terminate halt",
    "show view display see look",
    "list which all every overview",
    "count many number statistics stats total sum",
    "change set switch adjust configure lower raise pick choose",
    "save store record add put insert import ingest remember keep note",
    "find search seek query look lookup",
    "get fetch retrieve load open whole complete full detail",
    "wait finish done ready result output answer outcome",
    "progress far status state running still finish done ready",
    "resume continue restart interrupted crash",
    "analyse analyze analysis understand examine review",
    "job task background work",
    "usage use spend spent cost money consumption consume price bill",
    "time minute second day week month",
)
"""Words that a request may hold for each other, whatever form they have."""


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


def thesaurus() -> Mapping[str, frozenset[str]]:
    """The stems that may stand for a stem, itself among them."""
    alike: dict[str, frozenset[str]] = {}
    for line in _ALIKE:
        group = frozenset(map(stem, line.split()))
        for each in group:
            alike[each] = alike.get(each, frozenset()) | group
    return alike
