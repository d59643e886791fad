"""Likeness of tools and a request in meaning, by vectors of the installed embedder."""

from __future__ import annotations

import asyncio
from array import array
from collections.abc import Mapping, Sequence
from heapq import nlargest
from math import isfinite
from operator import mul
from statistics import fmean
from typing import TYPE_CHECKING

from vr_kernel import Tool

from vr_server.search.tool_words import Phrases, sentences

if TYPE_CHECKING:
    from vr_kernel import Log, Vectors

NEAREST = 6
"""Number of a tool's nearest phrases that count; a single one may be near by chance."""
WAIT_S = 30.0
"""Seconds that a search waits for a silent embedder, before it uses words alone.

A slow machine may need longer than that for the phrases of all tools, which are made once."""
REST_S = 60.0
"""Seconds for which an embedder that failed is not asked again."""
Vector = Sequence[float]


class ToolMeaning:
    """The phrases of tools as vectors, made when the first request comes."""

    def __init__(
        self,
        tools: Mapping[str, Tool],
        phrases: Phrases,
        vectors: Vectors,
        log: Log,
        *,
        wait_s: float = WAIT_S,
    ) -> None:
        self._tools = tools
        self._phrases = phrases
        self._vectors = vectors
        self._log = log
        self._wait_s = wait_s
        self._made: dict[str, list[Vector]] = {}
        self._making = asyncio.Lock()
        self._rests_until = 0.0

    async def likeness(self, request: str) -> dict[str, float]:
        """Return the likeness of each tool to a request, by name; empty without an embedder."""
        now = asyncio.get_running_loop().time
        if now() < self._rests_until:
            return {}
        try:
            return await self._compare(request) if self._vectors.available() else {}
        except Exception as error:  # noqa: BLE001 - an embedder is a plugin's code; words still work
            self._log.warning("tools are found by their words alone", error=repr(error))
            self._rests_until = now() + REST_S
            return {}

    async def _compare(self, request: str) -> dict[str, float]:
        await self._make()
        async with asyncio.timeout(self._wait_s):
            asked = await asyncio.gather(*map(self._vectors.embed_query, sentences(request)))
        likeness = await asyncio.to_thread(_likeness, asked, self._made)
        if not all(map(isfinite, likeness.values())):
            raise ValueError("the embedder's vectors are not finite")
        return likeness

    async def _make(self) -> None:
        async with self._making:
            for name, tool in self._tools.items():
                if name not in self._made:  # else made by an earlier search
                    named = f"{tool.name.replace('_', ' ')}. {tool.description}"
                    said = [named, *self._phrases.of(tool)]
                    async with asyncio.timeout(self._wait_s):
                        made = await self._vectors.embed_documents(said)
                    self._made[name] = [array("f", vector) for vector in made]


def _likeness(
    asked: Sequence[Vector], phrases_of: Mapping[str, Sequence[Vector]]
) -> dict[str, float]:
    """Add up each tool's nearness to the whole request, the first, and to its nearest sentence."""
    likeness = {}
    for name, vectors in phrases_of.items():
        near = [_nearness(sentence, vectors) for sentence in asked]
        likeness[name] = near[0] + max(near)
    return likeness


def _nearness(sentence: Vector, vectors: Sequence[Vector]) -> float:
    return fmean(nlargest(NEAREST, (sum(map(mul, sentence, vector)) for vector in vectors)))
