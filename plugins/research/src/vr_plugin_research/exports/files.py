"""The formats in which a report is written to a file."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from vr_kernel import Services

from vr_plugin_research.exports.bibtex_file import bibtex_of
from vr_plugin_research.exports.docx_file import docx_of
from vr_plugin_research.exports.json_file import json_of
from vr_plugin_research.exports.markdown_file import markdown_of
from vr_plugin_research.exports.page_file import page_of
from vr_plugin_research.exports.pdf_file import pdf_of
from vr_plugin_research.results.export import Format
from vr_plugin_research.results.report import ResearchReport
from vr_plugin_research.views.report import view_of

MIME: Mapping[Format, str] = {
    "md": "text/markdown",
    "html": "text/html",
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "pdf": "application/pdf",
    "json": "application/json",
    "bib": "text/x-bibtex",
}


@dataclass(frozen=True, slots=True)
class Written:
    """A report in the bytes of a file, and remarks about it."""

    content: bytes
    notes: list[str]


async def write(services: Services, report: ResearchReport, form: Format) -> Written:
    """Write a whole report.

    Raises:
        VrError: UNAVAILABLE when what writes this format is not installed; INTERNAL when it fails.
    """
    if form == "html":
        return Written(await page_of(services, await asyncio.to_thread(view_of, report)), [])
    return await asyncio.to_thread(_WRITERS[form], report)


def _markdown(report: ResearchReport) -> Written:
    return Written(markdown_of(view_of(report)), [])


def _docx(report: ResearchReport) -> Written:
    return Written(docx_of(view_of(report), report.created_at), [])


def _pdf(report: ResearchReport) -> Written:
    return Written(*pdf_of(view_of(report), report.created_at))


def _json(report: ResearchReport) -> Written:
    return Written(json_of(report), [])


def _bibtex(report: ResearchReport) -> Written:
    return Written(bibtex_of(report), [] if report.sources else ["The report has no sources."])


_WRITERS: Mapping[Format, Callable[[ResearchReport], Written]] = {
    "md": _markdown,
    "docx": _docx,
    "pdf": _pdf,
    "json": _json,
    "bib": _bibtex,
}
