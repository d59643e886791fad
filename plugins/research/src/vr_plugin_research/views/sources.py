"""Sources of a report: where they are and how much each weighs, and those that failed."""

from __future__ import annotations

import re
from collections.abc import Sequence

from vr_kernel.views import (
    Block,
    Cell,
    Item,
    Link,
    Records,
    Table,
    is_web,
    shown_host,
    shown_instant,
)

from vr_plugin_research.results.sources import ReportSource, SourceFailure, SourceQuality
from vr_plugin_research.views.parts import counted, part, told
from vr_plugin_research.views.places import address_of, title_of

OPEN_SOURCES = 12
"""Sources that are shown without being asked for."""
OPEN_FAILURES = 6


def sources(items: Sequence[ReportSource]) -> list[Block]:
    """Sources with their numbers, kinds, dates, and the parts of their quality."""
    detail = len(items) > OPEN_SOURCES
    shown = [_item(each) for each in items]
    return [Records(shown, title="Sources", detail=detail)] if shown else []


def failures(items: Sequence[SourceFailure]) -> list[Block]:
    """Sources that could not be read, each with the reason and what helps."""
    rows: list[list[Cell]] = [
        [Link(address_of(each.source), each.source), f"{each.message} {each.hint}".strip()]
        for each in items
    ]
    columns, detail = ["Source", "Reason"], len(rows) > OPEN_FAILURES
    return [Table(columns, rows, title="Sources that failed", detail=detail)] if rows else []


def quality_words(quality: SourceQuality) -> str:
    """Return how much a source weighs, with its parts; empty where nothing is known of it."""
    if quality == SourceQuality(retracted=quality.retracted):
        return ""
    return (
        f"Quality {part(quality.score)}: relevance {part(quality.relevance)},"
        f" recency {part(quality.recency)}, authority {part(quality.authority)},"
        f" independence {part(quality.independence)}"
    )


def _item(source: ReportSource) -> Item:
    address = address_of(source.source)
    known = shown_host(address) if address else ""
    facts = told(
        [
            "RETRACTED" if source.quality.retracted else "",
            f"cited {counted(source.cited, 'time')}" if source.cited else "not cited",
            source.kind,
            shown_instant(source.published),
            _origin_words(source, known),
            *source.limits,
        ]
    )
    title = f"S{source.number} {title_of(source)}"
    return Item(title, quality_words(source.quality), Link(address), facts)


def _origin_words(source: ReportSource, host: str) -> str:
    """The publisher or the file of a source, where the link beside it does not say it."""
    if source.kind == "text":
        return ""
    if is_web(source.source):
        return "" if source.origin == host else source.origin
    return re.split(r"[\\/]", source.source)[-1]
