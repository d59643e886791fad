"""Reports cut to fit into an answer; the whole is in the record, and in files."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import TypeVar

from vr_kernel import Call, VrError, fit
from vr_kernel.views import as_markdown

from vr_plugin_research.results.report import ResearchReport

R = TypeVar("R", bound=ResearchReport)
MOST_TOKENS = 4_000
_CUTS = ((2, 40, 40), (1, 20, 20), (1, 14, 12), (1, 10, 8), (1, 6, 5), (1, 3, 3))
"""Quotes of a claim, claims, and sources that a shortened report keeps."""
_COUNTED = ("findings", "sources", "contradictions", "failures", "open_questions")


async def fitted(call: Call, report: R) -> R:
    """Return a report that fits into an answer, with files of the whole where it was cut."""
    cut = await asyncio.to_thread(fit, report, _shorter(report), MOST_TOKENS)
    if cut is report:
        return report
    told = [
        f"{name}: {len(getattr(cut, name))} of {len(getattr(report, name))}"
        for name in _COUNTED
        if len(getattr(cut, name)) < len(getattr(report, name))
    ]
    files = await _files(call, report)
    where = "research_export gives all of it" + (", and so do `files`." if files else ".")
    limits = [*cut.limits, f"Shortened ({', '.join(told) or 'texts'}); {where}"]
    return cut.model_copy(update={"files": files, "limits": limits})


async def _files(call: Call, report: ResearchReport) -> dict[str, str]:
    from vr_plugin_research.views.report import view_of

    whole = report.model_dump_json(exclude={"usage", "files"}, indent=2).encode()
    text = (await asyncio.to_thread(lambda: as_markdown(view_of(report)))).encode()
    try:
        return {
            "json": (await asyncio.to_thread(call.artifact, whole, "application/json")).uri,
            "md": (await asyncio.to_thread(call.artifact, text, "text/markdown")).uri,
        }
    except VrError as error:
        call.note(f"The whole report was not kept as files: {error.message}")
        return {}


def _shorter(report: R) -> Iterator[R]:
    """The report with ever fewer details."""
    cut: R = report.model_copy(update={"rounds": [], "limits": report.limits[:8]})
    for quotes, claims, sources in _CUTS:
        findings = [
            each.model_copy(
                update={
                    "citations": [
                        it.model_copy(update={"quote": it.quote[:200]})
                        for it in (*each.supporting[:quotes], *each.contradicting[:quotes])
                    ],
                    "reasoning": each.reasoning[:200],
                }
            )
            for each in report.findings[:claims]
        ]
        cited = {it.source for each in findings for it in each.citations}
        shown = [each for each in report.sources if each.number in cited][:sources]
        update = {
            "findings": findings,
            "sources": [each.model_copy(update={"limits": []}) for each in shown],
            "contradictions": report.contradictions[:claims],
            "failures": report.failures[:5],
            "open_questions": report.open_questions[:5],
            "executive_summary": report.executive_summary[:2_500],
            "methodology_critique": report.methodology_critique[:600],
        }
        cut = cut.model_copy(update=update)
        yield cut
