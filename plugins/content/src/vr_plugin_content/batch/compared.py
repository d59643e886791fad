"""A comparison by a model, as the cache keeps it, and what is recorded of it."""

from __future__ import annotations

import json
from collections.abc import Sequence

from pydantic import BaseModel
from vr_kernel import Call, visible_line

from vr_plugin_content.analyses.recording import is_recorded, record_of
from vr_plugin_content.batch.opened_files import OpenedFile
from vr_plugin_content.passages.recording import record_passages
from vr_plugin_content.results.analysis import ContentAnalysis, KeyPoint
from vr_plugin_content.results.batch import BatchContentItem, Comparison

SUMMARY_CHARS = 600
OTHERS_CHARS = 300
"""Characters of the names of the other files in a recorded instruction."""
FOUND = ("verified", "moved")


class ComparedFile(BaseModel):
    """A file in a comparison."""

    title: str
    summary: str = ""
    key_points: list[KeyPoint] = []
    limits: list[str] = []

    def item(self, file: OpenedFile, *, cached: bool, strict: bool) -> BatchContentItem:
        """Return the item of the file; `strict` leaves out points whose quote was not found."""
        points = [it for it in self.key_points if not strict or it.status in FOUND]
        return BatchContentItem(
            source=file.document.source,
            name=file.name,
            status="ok",
            cached=cached,
            title=self.title,
            summary=self.summary,
            key_points=points,
            dropped=len(self.key_points) - len(points),
            limits=[*file.document.limits, *self.limits],
        )


class Compared(BaseModel):
    """A comparison, and its files in order."""

    model: str
    cached: bool = False
    comparison: Comparison
    files: list[ComparedFile]
    limits: list[str] = []


async def record_compared(
    call: Call, compared: Compared, files: Sequence[OpenedFile], instruction: str, *, always: bool
) -> None:
    """Record what was said of each file, and its passages, unless they are there.

    The instruction names the other files, so that the record does not replace an analysis of the
    file alone.
    """
    for file, said in zip(files, compared.files, strict=True):
        others = ", ".join(each.name for each in files if each is not file)
        asked = f"{instruction} (compared with {visible_line(others, OTHERS_CHARS)})"
        record = record_of(_analysis(file, said, compared), asked)
        if always or not await is_recorded(call, record):
            call.record(record)
        await record_passages(call, file.document)


def _analysis(file: OpenedFile, said: ComparedFile, compared: Compared) -> ContentAnalysis:
    """The part of a comparison that is about one file, as an analysis of it."""
    custom = compared.comparison.custom
    document = file.document
    summary = said.summary
    if custom is not None:
        summary = visible_line(json.dumps(custom, ensure_ascii=False), SUMMARY_CHARS)
    return ContentAnalysis(
        source=document.source,
        title=said.title,
        mime=document.mime,
        sha256=document.sha256,
        limits=[*document.limits, *said.limits],
        engine="model",
        model=compared.model,
        summary=summary,
        key_points=said.key_points,
        entities=[],
        custom=custom,
    )
