"""A report as a Word file: headings, quotes and tables in Word's own styles, with real links."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from types import ModuleType
from typing import Any

from vr_kernel import require_extra
from vr_kernel.views import View

from vr_plugin_research.exports.elements import Element, Run, Words, elements_of
from vr_plugin_research.exports.install import INSTALL

LINK_COLOUR, SOFT_COLOUR = "1D4ED8", "555D6C"
DEEPEST = 3
"""Levels of lists for which Word has styles."""
UNDATED = (1980, 1, 1, 0, 0, 0)
"""The date of all parts of a file, so that the same report is always the same file."""
TITLE_CHARS = 255
"""Longest title among the properties of a file."""
HYPERLINK = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/hyperlink"
_STYLES = {
    "title": "Title",
    "about": "Subtitle",
    "quote": "Quote",
    "below": "List Continue",
    "code": "No Spacing",
}
_UNFIT = re.compile("[\ufffe\uffff]")
"""Signs that XML has no place for; control characters are gone from every view."""


def docx_of(view: View, made: str) -> bytes:
    """The view of a report as a Word file.

    Args:
        view: all that is written.
        made: the instant at which the report was written, as ISO 8601, if it is known.

    Raises:
        VrError: UNAVAILABLE, category EXTRA_MISSING, when the library is not installed.
    """
    message = "Word files are written by python-docx, which is not installed."
    library: ModuleType = require_extra("docx", message, INSTALL)
    document = library.Document()
    properties = document.core_properties
    properties.title = _UNFIT.sub("", view.title)[:TITLE_CHARS]
    properties.author = properties.last_modified_by = "video-research"
    properties.comments = ""
    with suppress(ValueError):
        properties.created = properties.modified = datetime.fromisoformat(made)
    writer = _Writer(library, document)
    for element in elements_of(view):
        writer.add(element)
    written = io.BytesIO()
    document.save(written)
    return _undated(written)


class _Writer:
    """Adds the parts of a report to a Word document.

    Args:
        library: python-docx.
        document: of the library.
    """

    def __init__(self, library: ModuleType, document: Any) -> None:
        self._document = document
        self._new = library.oxml.OxmlElement
        self._named = library.oxml.ns.qn
        self._colours = {
            name: library.shared.RGBColor.from_string(name) for name in (LINK_COLOUR, SOFT_COLOUR)
        }
        self._links: dict[str, str] = {}
        self._paragraph = library.text.paragraph.Paragraph
        self._end = document.element.body.sectPr
        self._style_ids = {style.name: style.style_id for style in document.styles}

    def add(self, element: Element) -> None:
        """Add a part at the end."""
        if element.kind == "table":
            self._table(element.rows)
            return
        made = self._new("w:p")  # python-docx takes the square of their number for as many
        made.style = self._style_ids[_style(element)]
        self._end.addprevious(made)
        paragraph = self._paragraph(made, self._document)
        if element.kind == "claim":
            paragraph.paragraph_format.keep_with_next = True
        self._write(paragraph, element.words)

    def _table(self, rows: Sequence[Sequence[Words]]) -> None:
        wide = max(map(len, rows))
        table = self._document.add_table(len(rows), wide, "Light Grid Accent 1")
        for line, row in zip(table.rows, rows, strict=True):
            for cell, words in zip(line.cells, row, strict=False):
                self._write(cell.paragraphs[0], words)
        head = table.rows[0]._tr.get_or_add_trPr()  # noqa: SLF001 - no other way to repeat it
        head.append(self._made("w:tblHeader", {"w:val": "true"}))
        self._document.add_paragraph()

    def _write(self, paragraph: Any, words: Words) -> None:
        for run in words:
            written = paragraph.add_run(_UNFIT.sub("", run.text))
            _dress(written, run, self._colours)
            if run.link:  # python-docx reads links, but writes none
                link = self._made("w:hyperlink", {"r:id": self._link(run.link)})
                paragraph._p.append(link)  # noqa: SLF001
                link.append(written._r)  # noqa: SLF001

    def _made(self, tag: str, values: Mapping[str, str]) -> Any:
        made = self._new(tag)
        for name, value in values.items():
            made.set(self._named(name), value)
        return made

    def _link(self, address: str) -> str:
        """The id of an address among those that the document leads to."""
        if address not in self._links:
            self._links[address] = f"link{len(self._links) + 1}"
            links = self._document.part.rels
            links.add_relationship(HYPERLINK, address, self._links[address], is_external=True)
        return self._links[address]


def _style(element: Element) -> str:
    if element.kind == "heading":
        return f"Heading {element.level}"
    if element.kind == "bullet":
        deep = min(element.level + 1, DEEPEST)
        return "List Bullet" if deep == 1 else f"List Bullet {deep}"
    return _STYLES.get(element.kind, "Normal")


def _dress(written: Any, run: Run, colours: Mapping[str, Any]) -> None:
    """Give words their look."""
    if run.style == "strong":
        written.bold = True
    elif run.style == "emphasis":
        written.italic = True
    elif run.style == "code":
        written.font.name = "Consolas"
    if run.style == "soft":
        written.italic = False
        written.font.color.rgb = colours[SOFT_COLOUR]
    if run.link:
        written.font.underline = True
        written.font.color.rgb = colours[LINK_COLOUR]


def _undated(written: io.BytesIO) -> bytes:
    """The same archive without the time at which it was written."""
    copied = io.BytesIO()
    with zipfile.ZipFile(written) as made, zipfile.ZipFile(copied, "w") as copy:
        for name in made.namelist():
            info = zipfile.ZipInfo(name, UNDATED)
            info.compress_type = zipfile.ZIP_DEFLATED
            copy.writestr(info, made.read(name))
    return copied.getvalue()
