"""`check`: looks every quote up in the text of its source as it was kept."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from vr_kernel import Document, VrError

from vr_plugin_research.dossier.dossier import Dossier
from vr_plugin_research.dossier.entries import Finding, RawFinding, ReadSource
from vr_plugin_research.evidence.quotes import SourceQuotes
from vr_plugin_research.results.claims import Citation


async def check(dossier: Dossier, read: Sequence[ReadSource]) -> list[Finding]:
    """Look up the quotes of sources that were just read, and put the findings in."""
    findings: list[Finding] = []
    count = len(dossier.findings)
    for each in read:
        citations = await looked_up(dossier, each)
        for raw, citation in zip(each.reported, citations, strict=True):
            count += 1
            findings.append(
                Finding(
                    id=f"F{count}",
                    round=each.round,
                    source=each.id,
                    question=raw.question,
                    claim=raw.claim,
                    tier=raw.tier,
                    confidence=raw.confidence,
                    reasoning=raw.reasoning,
                    citation=citation,
                )
            )
    await dossier.put(*findings)
    return findings


async def looked_up(dossier: Dossier, read: ReadSource) -> list[Citation]:
    """The quotes of one source, each with what became of it; unchecked where the text is gone."""
    try:
        document = await dossier.document(read.source.snapshot)
    except VrError:
        return [Citation(source=read.id, quote=raw.quote) for raw in read.reported]
    return await asyncio.to_thread(_checked, document, read.id, read.reported)


def _checked(document: Document, source: int, reported: Sequence[RawFinding]) -> list[Citation]:
    quotes = SourceQuotes(document)
    return [quotes.check(source, raw.quote, raw.place) for raw in reported]
