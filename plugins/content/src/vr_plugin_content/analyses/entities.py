"""Names in a text, by rule: capitalised words that recur within sentences."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

MOST_CHARS = 1_000_000
"""Characters of a document that are looked at."""
MOST_WORDS = 5
_ONE = r"[^\W\d_a-z][\w'\u2019&-]+"
_NAME = re.compile(rf"{_ONE}(?:[ ](?:(?:of|de|du|la|von|van|der|di|al)[ ])?{_ONE}){{0,4}}")
_INSIDE = re.compile(r"[\w,;:)] $")
_WORDY = re.compile(r"[a-z]")


def names_in(texts: Sequence[str], most: int) -> list[str]:
    """Return the names that are said most, the most frequent first.

    A capitalised word counts as a name where it stands within a sentence; what begins sentences
    alone, or stands in lower case as well, is none.
    """
    whole = "\n".join(texts)[:MOST_CHARS]
    inside: Counter[str] = Counter()
    for line in whole.split("\n"):
        for match in _NAME.finditer(line):
            if _INSIDE.search(line[max(0, match.start() - 2) : match.start()]):
                inside[match[0].rstrip("'\u2019-&")] += 1
    lower = set(re.findall(r"\b[a-z][\w-]+\b", whole))
    found = {
        name: count
        for name, count in inside.items()
        if (count > 1 or " " in name) and _is_name(name, lower)
    }
    return _without_parts(sorted(found, key=lambda name: (-found[name], name)))[:most]


def _is_name(name: str, lower: set[str]) -> bool:
    words = name.split()
    if not _WORDY.search(name) and len(name) > 1:
        return len(name) > 2  # noqa: PLR2004 - an abbreviation
    return len(words) > 1 or name.lower() not in lower


def _without_parts(names: Sequence[str]) -> list[str]:
    """The names that are no part of a name before them."""
    kept: list[str] = []
    for name in names:
        if not any(f" {name} " in f" {other} " for other in kept):
            kept.append(name)
    return kept
