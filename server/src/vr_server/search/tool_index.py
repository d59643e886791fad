"""Which tools fit a request in plain words: what is written of them, in SQLite, and meaning."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from statistics import fmean, pstdev
from typing import Any
from weakref import finalize

from vr_kernel import Tool

from vr_server.search.tool_words import Phrases, telling_words

MEANING = 2.0
"""How much the meaning of a request counts, beside its words, when both are in standard scores."""
_MAKE = """
    CREATE VIRTUAL TABLE tool USING fts5(
        key UNINDEXED, name, description, phrases, arguments, rest, tokenize = 'porter unicode61'
    )"""
_FIND = "SELECT key, -bm25(tool, 0.0, 3.0, 2.0, 1.5, 1.0, 0.25) FROM tool WHERE tool MATCH ?"
"""The numbers are how much the columns count, in their order."""


class ToolIndex:
    """Tools by the words that are written of them; the same request gives the same answer."""

    def __init__(self, tools: Mapping[str, Tool], phrases: Phrases) -> None:
        self._names = sorted(tools)
        self._core = [name for name in self._names if tools[name].core]
        self._database = sqlite3.connect(":memory:", check_same_thread=False)
        finalize(self, self._database.close)
        self._database.execute(_MAKE)
        rows = (_row(tools[name], phrases) for name in self._names)
        self._database.executemany("INSERT INTO tool VALUES (?, ?, ?, ?, ?, ?)", rows)

    def search(
        self, request: str, limit: int, likeness: Mapping[str, float] | None = None
    ) -> list[str]:
        """Names of the tools that fit a request, best first, at most `limit`.

        Args:
            request: in plain words.
            limit: of names.
            likeness: how near each tool is to the request in meaning. Without it, tools that
                share words with the request come first, then those that matter most of all.
        """
        scores = self._score(request)
        if likeness:
            words, meaning = _standard(scores), _standard(likeness)
            scores = {name: words[name] + MEANING * meaning.get(name, 0.0) for name in scores}
        ranked = sorted(scores, key=lambda name: (-scores[name], name))
        fitting = [name for name in ranked if likeness or scores[name] > 0]
        return [*dict.fromkeys([*fitting, *self._core])][:limit]

    def _score(self, request: str) -> dict[str, float]:
        """Of each tool, how well its words fit; zero without a word of the request."""
        wanted = " OR ".join(f'"{word}"' for word in telling_words(request))
        found = self._database.execute(_FIND, (wanted,)) if wanted else ()
        return {**dict.fromkeys(self._names, 0.0), **dict(found)}


def _standard(scores: Mapping[str, float]) -> dict[str, float]:
    """How many standard deviations each is above the mean; zero where nothing tells them apart."""
    mean, deviation = fmean(scores.values()), pstdev(scores.values())
    return {name: (score - mean) / (deviation or 1.0) for name, score in scores.items()}


def _row(tool: Tool, phrases: Phrases) -> tuple[str, ...]:
    """What is written of a tool, by column; the last has its plugin, other names and result."""
    texts = (phrases.of(tool), _written(tool.input_schema), _rest(tool))
    return (tool.name, tool.name, tool.description, *("\n".join(text) for text in texts))


def _rest(tool: Tool) -> Iterator[str]:
    yield tool.plugin
    yield from tool.aliases
    yield (tool.function.__doc__ or "").partition("\n\n")[2]
    yield from _written(tool.output_schema)


def _written(schema: Any) -> Iterator[str]:
    """Names, descriptions and choices of a schema."""
    if isinstance(schema, list):
        for item in schema:
            yield from _written(item)
    elif isinstance(schema, dict):
        yield str(schema.get("description", ""))
        yield from map(str, schema.get("enum", ()))
        properties = schema.get("properties", {})
        yield from properties
        for part in (*properties.values(), schema.get("items"), schema.get("anyOf")):
            yield from _written(part)
