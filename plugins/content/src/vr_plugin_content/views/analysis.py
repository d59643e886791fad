"""The views of analyses: of a result, and of a record."""

from __future__ import annotations

from collections.abc import Sequence

from vr_kernel import Services, StoredRecord
from vr_kernel.text import spelled_json
from vr_kernel.views import Block, Code, Prose, View, view

from vr_plugin_content.results.analysis import ContentAnalysis
from vr_plugin_content.views.analysis_records import stored
from vr_plugin_content.views.known import has_pages
from vr_plugin_content.views.places import (
    address_of,
    facts,
    kind_words,
    name_of,
    outline,
    points,
)

MOST_NAMES = 30


def view_of(analysis: ContentAnalysis, *, outlined: bool = False) -> View:
    """Everything that is known of an analysis.

    Args:
        analysis: whole, or shortened for an answer.
        outlined: the headings stand elsewhere already.
    """
    blocks: list[Block] = []
    if analysis.custom is not None:
        blocks.append(Code(spelled_json(analysis.custom, 2), "json", title="Result"))
    elif analysis.summary.strip():
        blocks.append(Prose(analysis.summary, title="Summary"))
    blocks += points("Key points", analysis.key_points)
    blocks += facts([("Names", ", ".join(analysis.entities[:MOST_NAMES]))])
    if not outlined:
        blocks += outline(analysis.outline, address_of(analysis.source))
    return View(
        analysis.title or name_of(analysis.source),
        blocks,
        _about(analysis),
        "" if analysis.source == "(text)" else analysis.source,
        _notes(analysis),
    )


@view(tool="content_analyze")
async def show_analysis(services: Services, analysis: ContentAnalysis) -> View:
    """Show the result of an analysis."""
    return view_of(analysis)


@view(kind="ContentAnalyses")
async def show_analyses(services: Services, records: Sequence[StoredRecord]) -> View:
    """Show recorded analyses of a source: the newest one, then what others were asked.

    Headings with pages stand with the pages, where these are recorded.
    """
    newest, *others = records
    analysis = stored(newest)
    paged = any(item.page for item in analysis.outline)
    outlined = paged and await has_pages(services, analysis.source)
    first = view_of(analysis, outlined=outlined)
    instruction = str(newest.fields.get("instruction", ""))
    more = [block for record in others for block in _older(record)]
    about = [*first.about, f"asked: {instruction}"] if instruction else first.about
    return View(first.title, [*first.blocks, *more], about, first.source, first.notes)


def _older(record: StoredRecord) -> list[Block]:
    """The summary by another instruction, as a detail."""
    asked = str(record.fields.get("instruction", "")) or "Another analysis"
    summary = str(record.fields.get("summary", ""))
    return [Prose(summary, title=f"Asked: {asked}", detail=True)] if summary.strip() else []


def _about(analysis: ContentAnalysis) -> list[str]:
    by = f"read by {analysis.model}" if analysis.model else ""
    local = "read without a model" if analysis.engine == "local" and analysis.mime else ""
    cached = "from the cache" if analysis.cached else ""
    return [each for each in (kind_words(analysis.mime), by or local, cached) if each]


def _notes(analysis: ContentAnalysis) -> list[str]:
    if not analysis.dropped:
        return analysis.limits
    count = "1 point" if analysis.dropped == 1 else f"{analysis.dropped} points"
    return [*analysis.limits, f"{count} left out, whose quotes were not found."]
