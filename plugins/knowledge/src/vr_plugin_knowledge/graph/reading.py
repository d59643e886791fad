"""Reads one record for concepts: a structured call of a model, all quotes checked."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from pydantic import BaseModel
from vr_kernel import Call, Passage, QuoteIndex, cache_key, visible_line

from vr_plugin_knowledge.derived import DerivedSource, nearest_source
from vr_plugin_knowledge.graph.answer import (
    SYSTEM,
    VERSION,
    Seen,
    SeenConcept,
    SeenRelation,
    task,
)
from vr_plugin_knowledge.graph.citations import Citation
from vr_plugin_knowledge.graph.concepts import Origin
from vr_plugin_knowledge.graph.identity import identify
from vr_plugin_knowledge.graph.moments import link_at_moment

PART_CHARS = 20_000
"""Characters per call; a longer text is read in several calls."""
MOST_CONCEPTS = 60
MOST_RELATIONS = 120
"""Most concepts and relationships of one answer."""
MOST_ALIASES = 8
NAME_CHARS = 100
DESCRIPTION_CHARS = 400


@dataclass(frozen=True, slots=True)
class Source:
    """A record to read: its text, and how it is cited.

    `rests_on` are the sources that a derived record names.
    """

    text: str
    citation: Citation
    origin: Origin
    rests_on: Sequence[DerivedSource] = ()

    def cite(self, quote: str) -> Citation:
        """Cite a quote of it: at the moment, or from the source, that it names for those words."""
        link = link_at_moment(self.text, quote, [each.link for each in self.rests_on])
        if not link and (found := nearest_source(self.rests_on, quote)):
            link = found.link
        return replace(self.citation, quote=quote, link=link or self.citation.link)


class Reading(BaseModel):
    """Concepts and relations of a record; `dropped` counts those without a quote from it."""

    concepts: list[SeenConcept]
    relations: list[SeenRelation]
    dropped: int = 0
    cached: bool = False


def reading_key(call: Call, source: Source) -> str:
    """Build the cache key of a reading from everything that it depends on.

    Raises:
        VrError: AUTH or UNAVAILABLE when no model can be asked.
    """
    answers = call.services.models.identity("fast")
    return cache_key(tool="knowledge_extract", prompt=VERSION, text=source.text, answers=answers)


async def read(call: Call, source: Source) -> Reading:
    """Read the concepts of a record; those of an equal text come from the cache.

    Raises:
        VrError: what the model raises.
    """

    async def produce(own: Call) -> Reading:
        index = await asyncio.to_thread(QuoteIndex, [Passage(source.text, 0.0, 0.0)])
        whole = Reading(concepts=[], relations=[])
        for part in split(source.text):
            said = await own.services.models.generate_structured(
                task(part, source.citation.version), Seen, role="fast", system=SYSTEM
            )
            checked = await asyncio.to_thread(check, said.value, index)
            whole.concepts += checked.concepts
            whole.relations += checked.relations
            whole.dropped += checked.dropped
        return whole

    address = "/".join(source.citation.record)
    return await call.once(reading_key(call, source), Reading, produce, content_id=address)


def split(text: str) -> Iterator[str]:
    """Parts of a text for one call each, split where a line or a sentence ends."""
    while len(text) > PART_CHARS:
        ends = (text.rfind(sign, PART_CHARS // 2, PART_CHARS) for sign in ("\n", ". ", " "))
        end = next((end + 1 for end in ends if end > 0), PART_CHARS)
        yield text[:end]
        text = text[end:]
    if text.strip():
        yield text


def check(seen: Seen, index: QuoteIndex) -> Reading:
    """Keep the parts of an answer that have a name and a quote, quoted as in the text."""
    concepts = list(_concepts(seen.concepts[:MOST_CONCEPTS], index))
    relations = list(_relations(seen.relations[:MOST_RELATIONS], index))
    said = len(seen.concepts) + len(seen.relations)
    return Reading(
        concepts=concepts, relations=relations, dropped=said - len(concepts) - len(relations)
    )


def _concepts(seen: Iterable[SeenConcept], index: QuoteIndex) -> Iterator[SeenConcept]:
    for concept in seen:
        name, quote = visible_line(concept.name, NAME_CHARS), _found(concept.quote, index)
        if identify(name) and quote:
            aliases = (visible_line(alias, NAME_CHARS) for alias in concept.aliases[:MOST_ALIASES])
            yield SeenConcept(
                name=name,
                description=visible_line(concept.description, DESCRIPTION_CHARS),
                aliases=[alias for alias in aliases if identify(alias) not in ("", identify(name))],
                quote=quote,
            )


def _relations(seen: Iterable[SeenRelation], index: QuoteIndex) -> Iterator[SeenRelation]:
    for relation in seen:
        start, end = (
            visible_line(n, NAME_CHARS) for n in (relation.from_concept, relation.to_concept)
        )
        quote = _found(relation.quote, index)
        if identify(start) and identify(end) and identify(start) != identify(end) and quote:
            yield SeenRelation(from_concept=start, to_concept=end, type=relation.type, quote=quote)


def _found(quote: str, index: QuoteIndex) -> str:
    """Find the quote in the text; empty when it is not there."""
    finding = index.find(quote)
    return " ".join(finding.text.split()) if finding.verdict in ("verified", "moved") else ""
