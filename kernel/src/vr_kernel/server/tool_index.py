"""Which tools fit a request in plain words: BM25 over what tools say of themselves, and meaning."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from math import log
from statistics import fmean, pstdev
from typing import Any

from vr_kernel.server.tool_words import stems
from vr_kernel.tools import Tool

K1, B = 1.2, 0.75
"""Robertson and Zaragoza, The Probabilistic Relevance Framework (2009), section 3.5."""
NAME, DESCRIPTION, WORDS, ARGUMENT, REST = 3.0, 2.0, 1.5, 1.0, 0.25
"""How often a word counts that a tool has in its name, its description, its declared words, its
arguments (their names, values and descriptions), and in what else is written of it (its plugin,
other names, the rest of its docstring, its result)."""
MEANING = 2.0
"""How much the meaning of a request counts, beside its words, when both are in standard scores."""


class ToolIndex:
    """Tools by the words that are written of them; the same request gives the same answer."""

    def __init__(self, tools: Mapping[str, Tool]) -> None:
        self._counts = {name: _counts(tool) for name, tool in sorted(tools.items())}
        self._sizes = {name: sum(counts.values()) for name, counts in self._counts.items()}
        self._mean = sum(self._sizes.values()) / max(len(tools), 1)
        self._holders = Counter(word for counts in self._counts.values() for word in counts)
        self._core = [name for name, tool in sorted(tools.items()) if tool.core]

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
        wanted = dict.fromkeys(stems(request))
        scores = {name: self._score(name, wanted) for name in self._counts}
        if likeness:
            words, meaning = _standard(scores), _standard(likeness)
            scores = {name: words[name] + MEANING * meaning.get(name, 0.0) for name in scores}
        ranked = sorted(scores, key=lambda name: (-scores[name], name))
        fitting = [name for name in ranked if likeness or scores[name] > 0]
        return [*dict.fromkeys([*fitting, *self._core])][:limit]

    def _score(self, name: str, wanted: Iterable[str]) -> float:
        counts = self._counts[name]
        damping = K1 * (1 - B + B * self._sizes[name] / self._mean)
        return sum(
            self._rarity(word) * counts[word] * (K1 + 1) / (counts[word] + damping)
            for word in wanted
            if word in counts
        )

    def _rarity(self, word: str) -> float:
        holders = self._holders[word]
        return log(1 + (len(self._counts) - holders + 0.5) / (holders + 0.5))


def _standard(scores: Mapping[str, float]) -> dict[str, float]:
    """How many standard deviations each is above the mean; zero where nothing tells them apart."""
    mean, deviation = fmean(scores.values()), pstdev(scores.values())
    return {name: (score - mean) / (deviation or 1.0) for name, score in scores.items()}


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
