"""Which tools fit a request in plain words: BM25 over what tools say of themselves."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from math import log
from typing import Any

from vr_kernel.server.tool_words import stems, thesaurus
from vr_kernel.tools import Tool

K1, B = 1.2, 0.75
"""Robertson and Zaragoza, The Probabilistic Relevance Framework (2009), section 3.5."""
NAME, DESCRIPTION, WORDS, ARGUMENT, REST = 3.0, 2.0, 1.5, 1.0, 0.25
"""How often a word counts that a tool has in its name, its description, its declared words, its
arguments (their names, values and descriptions), and in what else is written of it (its plugin,
other names, the rest of its docstring, its result)."""
ALIKE = 0.4
"""How much a word of the same meaning counts, beside the word itself."""


class ToolIndex:
    """Tools by the words that are written of them; the same request gives the same answer."""

    def __init__(self, tools: Mapping[str, Tool]) -> None:
        self._counts = {name: _counts(tool) for name, tool in sorted(tools.items())}
        self._sizes = {name: sum(counts.values()) for name, counts in self._counts.items()}
        self._mean = sum(self._sizes.values()) / max(len(tools), 1)
        self._holders = Counter(word for counts in self._counts.values() for word in counts)
        self._alike = thesaurus()
        self._core = [name for name, tool in sorted(tools.items()) if tool.core]

    def search(self, request: str, limit: int) -> list[str]:
        """Names of the tools that fit a request, best first, at most `limit`.

        Tools that share words with it come first, then those that matter most of all.
        """
        wanted = self._wanted(request)
        scores = {name: self._score(name, wanted) for name in self._counts}
        ranked = sorted(scores, key=lambda name: (-scores[name], name))
        fitting = [name for name in ranked if scores[name] > 0]
        return [*dict.fromkeys([*fitting, *self._core])][:limit]

    def _wanted(self, request: str) -> dict[str, float]:
        """The words to look for, and how much each counts."""
        wanted: dict[str, float] = {}
        for word in stems(request):
            for other in self._alike.get(word, ()):
                wanted.setdefault(other, ALIKE)
            wanted[word] = 1.0
        return wanted

    def _score(self, name: str, wanted: Mapping[str, float]) -> float:
        counts = self._counts[name]
        damping = K1 * (1 - B + B * self._sizes[name] / self._mean)
        return sum(
            weight * self._rarity(word) * counts[word] * (K1 + 1) / (counts[word] + damping)
            for word, weight in wanted.items()
            if word in counts
        )

    def _rarity(self, word: str) -> float:
        holders = self._holders[word]
        return log(1 + (len(self._counts) - holders + 0.5) / (holders + 0.5))


def _counts(tool: Tool) -> dict[str, float]:
    counts: defaultdict[str, float] = defaultdict(float)
    for weight, texts in (
        (NAME, [tool.name]),
        (DESCRIPTION, [tool.description]),
        (WORDS, [tool.words]),
        (ARGUMENT, _written(tool.input_schema)),
        (REST, _rest(tool)),
    ):
        for text in texts:
            for word in stems(text):
                counts[word] += weight
    return dict(counts)


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
