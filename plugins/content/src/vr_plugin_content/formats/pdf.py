"""PDF: the text of each page, its outline, pictures of pages, and the pictures on them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from typing import Any, BinaryIO

from vr_plugin_content.formats.encodings import blank
from vr_plugin_content.formats.parsed import (
    Asked,
    Parsed,
    ParsedPicture,
    ParseError,
    Piece,
    TextBudget,
    damaged,
)
from vr_plugin_content.formats.pdf_form_fields import filled_in
from vr_plugin_content.formats.pdf_outline import outline_of
from vr_plugin_content.formats.pdf_pictures import (
    is_scan,
    shows_something,
    written_pages,
    written_pictures,
)

MIME = "application/pdf"
FEW_CHARS = 3
"""A page with fewer characters has no text worth the name: a lone page number, or nothing."""
STAMP_CHARS = 60
"""Longest text that a scanner or a stamp puts on the picture of a page, such as its own name."""
TITLE_CHARS = 300
NO_TITLES = frozenset({"untitled", "(anonymous)", "(unspecified)", "unknown"})
"""Titles that programs write for want of one."""
_PROGRAM = re.compile(r"(?i)microsoft (word|powerpoint|excel) - ")
_SPACES = re.compile(r"[ \t]+(?=\n|\Z)")
_BREAK = re.compile("[\u00ad\ufffe][\r\n]*")
_UNREADABLE = re.compile("[\ue000-\uf8ff\ufffd\x00-\x08\x0e-\x1f]")
"""Characters of fonts that do not tell which letters they draw, and controls."""
_ERRORS = (RuntimeError, ValueError, OverflowError)
"""What the library raises at a damaged page; `PdfiumError` is a `RuntimeError`."""


def parse(file: BinaryIO, asked: Asked) -> Parsed:
    """Read the text of each page; a damaged page costs itself alone.

    Raises:
        ParseError: PASSWORD_NEEDED, PASSWORD_WRONG; DOCUMENT_EMPTY; DOCUMENT_DAMAGED.
    """
    with _opened(file, asked) as pdf:
        budget = TextBudget(asked.bounds)
        found = Parsed(MIME, _title(pdf), pages=len(pdf))
        wanted = min(found.pages, asked.bounds.pages)
        broken = 0
        for number in range(1, wanted + 1):
            if budget.left <= 0:
                budget.cut = True
                break
            try:
                _read_page(pdf, number, budget, found)
            except _ERRORS:
                broken += 1
        if broken == wanted:
            raise damaged("PDF")
        found.outline = list(outline_of(pdf))
        found.limits = [*_limits(found.pages, wanted, broken), *budget.limits]
        return found


def render(file: BinaryIO, asked: Asked) -> list[ParsedPicture]:
    """Write pictures of pages into the folder of the task.

    Raises:
        ParseError: as `parse`.
    """
    with _opened(file, asked) as pdf:
        return written_pages(pdf, asked)


def pictures(file: BinaryIO, asked: Asked) -> list[ParsedPicture]:
    """Write the pictures on the pages into the folder of the task.

    Raises:
        ParseError: as `parse`.
    """
    with _opened(file, asked) as pdf:
        return written_pictures(pdf, asked)


@contextmanager
def _opened(file: BinaryIO, asked: Asked) -> Iterator[Any]:
    import pypdfium2

    if not file.read(1):
        raise blank()
    file.seek(0)
    try:
        pdf = pypdfium2.PdfDocument(file, password=asked.password or None)
    except pypdfium2.PdfiumError as error:
        raise _refused(error, asked) from None
    with closing(pdf):
        with suppress(RuntimeError):  # without its form, the text of the pages is still there
            pdf.init_forms()
        yield pdf


def _read_page(pdf: Any, number: int, budget: TextBudget, found: Parsed) -> None:
    with closing(pdf[number - 1]) as page:
        text = budget.take("\n".join(filter(None, (_text(page), *filled_in(page)))))
        if text:
            found.pieces.append(Piece(text, {"page": number}))
        if len(text) <= STAMP_CHARS and _lacks_words(page, text):
            found.wordless.append(number)


def _lacks_words(page: Any, text: str) -> bool:
    return shows_something(page) if len(text) < FEW_CHARS else is_scan(page)


def _text(page: Any) -> str:
    """Return the text of a page; empty when its fonts hide what most of it says."""
    with closing(page.get_textpage()) as words:
        try:
            text = words.get_text_range()
        except RecursionError:  # it skips characters outside of the text one by one
            text = words.get_text_bounded()
    joined = _BREAK.sub(_between, text).replace("\r\n", "\n").replace("\r", "\n")
    if _UNREADABLE.search(joined):
        if 2 * len(_UNREADABLE.findall(joined)) > len(joined):
            return ""
        joined = joined.replace("\0", "")
    return _SPACES.sub("", joined).strip("\n")


def _between(broken: re.Match[str]) -> str:
    """Join a word that was broken at the end of a line; a hyphen of its own stays.

    It is one where capitals or digits meet small letters, as in `Jean-Paul` and `UTF-8`.
    """
    text, start, end = broken.string, broken.start(), broken.end()
    before, after = text[start - 1 : start], text[end : end + 1]
    if not after or before.isspace():
        return ""
    whole = after.islower() or (before.isupper() and after.isupper()) or not before.isalnum()
    return "" if whole or not after.isalnum() else "-"


def _title(pdf: Any) -> str:
    with suppress(Exception):  # a title is worth no failure
        title = " ".join(str(pdf.get_metadata_value("Title")).replace("\0", " ").split())
        if title.lower() not in NO_TITLES and not _PROGRAM.match(title):
            return title[:TITLE_CHARS]
    return ""


def _limits(pages: int, wanted: int, broken: int) -> Iterator[str]:
    if pages > wanted:
        yield (
            f"Only the first {wanted:,} of {pages:,} pages were read; raise max_pages in"
            " [plugins.content] for more."
        )
    if broken:
        count = "1 page is" if broken == 1 else f"{broken:,} pages are"
        yield f"{count} damaged and could not be read; save the PDF again from its own program."


def _refused(error: Exception, asked: Asked) -> ParseError:
    import pypdfium2.raw

    if getattr(error, "err_code", None) != pypdfium2.raw.FPDF_ERR_PASSWORD:
        return damaged("PDF")
    hint = "Give its password: password=..."
    if asked.password:
        message = "The password does not open this document."
        return ParseError("PASSWORD_WRONG", message, hint, "AUTH")
    message = "This document is protected by a password."
    return ParseError("PASSWORD_NEEDED", message, hint, "AUTH")
