"""A report as a file."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel

Format = Literal["md", "html", "docx", "pdf", "json", "bib"]


class ReportExport(BaseModel):
    """A file that was made of a report; `uri` is its artifact."""

    report_id: str
    format: Format
    uri: str
    path: str
    size: int
    notes: list[str] = []
