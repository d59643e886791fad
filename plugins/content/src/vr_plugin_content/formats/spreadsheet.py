"""Spreadsheets: rows of each sheet as tables, with the exact range of their cells."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime, time, timedelta
from typing import Any, BinaryIO

from vr_plugin_content.formats.compound_file import has_password
from vr_plugin_content.formats.encodings import blank
from vr_plugin_content.formats.kinds import KINDS, suffix_of
from vr_plugin_content.formats.package import sprawling_sheets, without_blanks
from vr_plugin_content.formats.parsed import (
    Asked,
    OutlineEntry,
    Parsed,
    ParseError,
    Piece,
    TextBudget,
    damaged,
)
from vr_plugin_content.formats.table_rows import Row, blocks_of, cell_range

MOST_SHEETS = 500
MOST_CELLS = 20_000_000
"""Most cells of the used area of a sheet: its corners alone can span billions."""
MOST_COLUMNS = 500
TOO_MANY = "spans too many cells"


def parse(file: BinaryIO, asked: Asked) -> Parsed:
    """Read the sheets of a workbook.

    Raises:
        ParseError: EXTRA_MISSING; PASSWORD_NEEDED; DOCUMENT_DAMAGED; DOCUMENT_EMPTY; SHEETS_UNREAD
            where no sheet could be read.
    """
    sprawling = sprawling_sheets(file, MOST_CELLS)
    file.seek(0)
    book = _opened(file)
    suffix, budget = suffix_of(asked.name), TextBudget(asked.bounds)
    mime = next(kind.mime for kind in KINDS if suffix in kind.suffixes)
    found = Parsed(mime)
    for name in book.sheet_names[:MOST_SHEETS]:
        try:
            sheet = _sheet(book, name, sprawling)
            pieces = list(_pieces(sheet, name, budget))
        except _TooLargeError:
            found.limits.append(f"The sheet {name!r} {TOO_MANY}, and was left out.")
            continue
        except MemoryError:
            raise
        except Exception:  # noqa: BLE001 - a sheet of charts or macros costs only itself
            found.limits.append(f"The sheet {name!r} could not be read.")
            continue
        if pieces and sheet.width > MOST_COLUMNS:
            found.limits.append(f"Only {MOST_COLUMNS} columns of the sheet {name!r} were read.")
        if pieces:
            found.pieces += pieces
            found.outline.append(OutlineEntry(name, 1, {"sheet": name}))
    if not found.pieces:
        raise _nothing(found.limits)
    found.limits += budget.limits
    return found


class _TooLargeError(Exception):
    """A used area that spans more cells than are read."""


def _nothing(limits: list[str]) -> ParseError:
    """The error of a workbook of which no cell was read."""
    if not limits:
        return blank()
    if not any(TOO_MANY in each for each in limits):
        return damaged("a workbook")
    hint = "Delete cells that lie far from the others, and save it again."
    return ParseError("SHEETS_UNREAD", limits[0], hint, "TOO_LARGE")


def _opened(file: BinaryIO) -> Any:
    from python_calamine import CalamineWorkbook, PasswordError

    try:
        return CalamineWorkbook.from_filelike(file)
    except PasswordError:
        raise _locked() from None
    except MemoryError:
        raise
    except Exception:  # noqa: BLE001 - it has an error for each way to be broken
        file.seek(0)
        return _mended(file.read())


def _mended(content: bytes) -> Any:
    """A workbook that is read without its white space, or the error of one that is not."""
    from python_calamine import CalamineWorkbook

    try:
        return CalamineWorkbook.from_filelike(without_blanks(content))
    except MemoryError:
        raise
    except Exception:  # noqa: BLE001 - as above
        raise (_locked() if has_password(content) else damaged("a workbook")) from None


def _locked() -> ParseError:
    message = "This workbook is protected by a password."
    hint = "Open it in its own program, remove the password, and save it again."
    return ParseError("PASSWORD_NEEDED", message, hint, "AUTH")


def _sheet(book: Any, name: str, sprawling: set[str]) -> Any:
    """A sheet of a workbook; the library takes memory for each cell that it spans."""
    if name in sprawling:
        raise _TooLargeError
    return book.get_sheet_by_name(name)


def _pieces(sheet: Any, name: str, budget: TextBudget) -> Iterator[Piece]:
    if sheet.start is None:
        return
    top, left = sheet.start
    if sheet.height * sheet.width > MOST_CELLS:
        raise _TooLargeError
    rows = _rows(sheet, top)
    header = next(rows, None)
    if header is None:
        return
    for block in blocks_of(header, rows):
        text = budget.take(block.text)
        if not text:
            return
        cells = cell_range(block.first, block.last, left, min(sheet.width, MOST_COLUMNS))
        yield Piece(text, {"sheet": name, "cells": cells})


def _rows(sheet: Any, top: int) -> Iterator[Row]:
    for number, cells in enumerate(sheet.to_python(skip_empty_area=True), top + 1):
        words = [_said(cell) for cell in cells[:MOST_COLUMNS]]
        if any(words):
            yield Row(words, number)


def _said(cell: Any) -> str:
    """A value as people write it."""
    if isinstance(cell, bool):
        return str(cell).upper()
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < 1e15:  # noqa: PLR2004 - exact so far
        return str(int(cell))
    if isinstance(cell, datetime):
        return cell.isoformat(sep=" ")
    if isinstance(cell, date | time | timedelta):
        return str(cell)
    return str(cell).strip()
