"""The view of a report that was written to a file."""

from __future__ import annotations

from vr_kernel import Services
from vr_kernel.views import File, View, view

from vr_plugin_research.results.export import ReportExport

NAMES = {
    "md": "Markdown",
    "html": "a page",
    "docx": "a Word file",
    "pdf": "PDF",
    "json": "JSON",
    "bib": "BibTeX",
}


@view(tool="research_export")
async def show_export(services: Services, export: ReportExport) -> View:
    """Show the file."""
    title = f"Report as {NAMES[export.format]}"
    return View(title, [File(export.uri, size=export.size)], notes=export.notes)
