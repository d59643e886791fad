"""Search among tools for a request in plain words: by their words, in SQLite, and by meaning."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from statistics import fmean, pstdev
from weakref import finalize

from vr_kernel import Tool

from vr_server.search.tool_words import Phrases, telling_words

MEANING = 2.0
"""Weight of a request's meaning relative to its words, when both are standard scores."""
_MAKE = """
    CREATE VIRTUAL TABLE tool USING fts5(name UNINDEXED, words, tokenize = 'porter unicode61')"""
_FIND = "SELECT name, -bm25(tool) FROM tool WHERE tool MATCH ?"


class ToolIndex:
    """Tools by their words; the same request gives the same answer."""

    def __init__(self, tools: Mapping[str, Tool], phrases: Phrases) -> None:
        self._names = sorted(tools)
        self._core = [name for name in self._names if tools[name].core]
        self._database = sqlite3.connect(":memory:", check_same_thread=False)
        finalize(self, self._database.close)
        self._database.execute(_MAKE)
        rows = ((name, _words(tools[name], phrases)) for name in self._names)
        self._database.executemany("INSERT INTO tool VALUES (?, ?)", rows)

    def search(
        self, request: str, limit: int, likeness: Mapping[str, float] | None = None
    ) -> list[str]:
        """Find the tools that fit a request, best first, at most `limit` names.

        Args:
            request: in plain words.
            limit: of names.
            likeness: nearness of each tool to the request in meaning. Without it, tools that
                share words with the request come first, then the core tools.
        """
        scores = self._score(request)
        if likeness:
            words, meaning = _standard(scores), _standard(likeness)
            scores = {name: words[name] + MEANING * meaning.get(name, 0.0) for name in scores}
        ranked = sorted(scores, key=lambda name: (-scores[name], name))
        fitting = [name for name in ranked if likeness or scores[name] > 0]
        return [*dict.fromkeys([*fitting, *self._core])][:limit]

    def _score(self, request: str) -> dict[str, float]:
        """Score each tool by its words; zero if it has no word of the request."""
        wanted = " OR ".join(f'"{word}"' for word in telling_words(request))
        found = self._database.execute(_FIND, (wanted,)) if wanted else ()
        return {**dict.fromkeys(self._names, 0.0), **dict(found)}


def _standard(scores: Mapping[str, float]) -> dict[str, float]:
    """Turn scores into standard deviations above the mean; zero if all are equal."""
    mean, deviation = fmean(scores.values()), pstdev(scores.values())
    return {name: (score - mean) / (deviation or 1.0) for name, score in scores.items()}


def _words(tool: Tool, phrases: Phrases) -> str:
    """Join the words by which a tool is found: its names, its description and its phrases."""
    return "\n".join([tool.name, *tool.aliases, tool.description, *phrases.of(tool)])
