"""Research about given documents: map each, extract evidence, cross-reference, put together."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from vr_kernel import Call, Document, VrError, visible, visible_line

from vr_plugin_research.analysts.asking import Asking
from vr_plugin_research.analysts.model_analyst import ModelAnalyst, window_of
from vr_plugin_research.dossier.dossier import Dossier
from vr_plugin_research.dossier.entries import RawFinding, ReadSource
from vr_plugin_research.engine.research import ENDS
from vr_plugin_research.evidence.parts import nearest_parts, windows
from vr_plugin_research.evidence.quotes import SourceQuotes
from vr_plugin_research.instructions import documents as instruction
from vr_plugin_research.instructions.findings import enclosed
from vr_plugin_research.results.documents import (
    CrossReference,
    DocumentMap,
    DocumentSection,
)
from vr_plugin_research.settings import ResearchSettings

MOST_SECTIONS = 40
MOST_CLAIMS = 20
TITLE_CHARS = 300
SUMMARY_CHARS = 3_000


class DocumentReader:
    """Reads whole documents for findings, in as many parts as a model needs.

    Args:
        call: that pays.
        asking: asks models.
        finds: report findings; a quick look only loads the documents.
    """

    def __init__(self, call: Call, asking: Asking, *, finds: bool) -> None:
        self._analyst = ModelAnalyst(call, asking)
        self._window = window_of(call.services.models.info("default"))
        self._finds = finds

    async def read(self, dossier: Dossier, document: Document) -> list[RawFinding]:
        """Report what a document says about the questions, from its first page to its last."""
        if not self._finds:
            return []
        parts = await asyncio.to_thread(windows, document.segments, self._window)
        found: list[RawFinding] = []
        for number, part in enumerate(parts, 1):
            found += await self._analyst.read_parts(dossier, document, part, number, len(parts))
        return found


class Phases:
    """The phases that need more than findings.

    Args:
        call: that pays.
        asking: asks models.
        instruction: the question of the research.
    """

    def __init__(self, call: Call, asking: Asking, instruction: str) -> None:
        self._settings: ResearchSettings = call.settings
        self._asking = asking
        self._instruction = instruction

    async def map(self, dossier: Dossier, read: ReadSource) -> DocumentMap:
        """The map of one document, with places that it really has.

        Raises:
            VrError: what the model raises.
        """
        document = await dossier.document(read.source.snapshot)
        parts = await asyncio.to_thread(
            nearest_parts, document, [self._instruction], self._settings.read_tokens
        )
        told = enclosed(document.title, document.sha256, parts)
        asked = instruction.map_prompt(self._instruction)
        answer = await self._asking.ask(instruction.MAP, [told, asked])
        quotes = SourceQuotes(document)
        return DocumentMap(
            source=read.id,
            title=visible_line(answer.title, TITLE_CHARS) or read.source.title,
            kind=visible_line(answer.kind, TITLE_CHARS),
            summary=visible(answer.summary)[:SUMMARY_CHARS].strip(),
            sections=[
                DocumentSection(
                    title=visible_line(each.title, TITLE_CHARS),
                    place=quotes.check(read.id, "", each.place).place,
                    summary=visible_line(each.summary, 600),
                )
                for each in answer.sections[:MOST_SECTIONS]
            ],
            key_claims=[visible_line(each, 600) for each in answer.key_claims[:MOST_CLAIMS]],
        )

    async def cross_reference(
        self, dossier: Dossier, maps: Sequence[DocumentMap]
    ) -> tuple[list[CrossReference], list[str]]:
        """The topics that several documents share, and remarks where that failed."""
        told = [_told(each, dossier) for each in maps]
        asked = instruction.cross_prompt(self._instruction, told)
        try:
            answer = await self._asking.ask(instruction.CROSS, [asked])
        except VrError as error:
            if error.code in ENDS:
                raise
            return [], [f"The documents were not compared: {error.message} {error.hint}".strip()]
        known = {each.source for each in maps}
        return [
            CrossReference(
                topic=visible_line(each.topic, TITLE_CHARS),
                agreement=visible_line(each.agreement, 1_000),
                disagreement=visible_line(each.disagreement, 1_000),
                sources=sorted({number for number in each.sources if number in known}),
            )
            for each in answer.topics[:MOST_SECTIONS]
        ], []


def _told(map_: DocumentMap, dossier: Dossier) -> str:
    """A document in a few lines: its map, and its findings whose quotes stand."""
    claims = [
        f"- {each.claim}"
        for each in dossier.findings
        if each.source == map_.source and each.citation.status in ("verified", "moved")
    ]
    head = f"Source {map_.source}: {map_.title} ({map_.kind}). {map_.summary}"
    return "\n".join([visible_line(head), *map(visible_line, claims[:MOST_SECTIONS])])
