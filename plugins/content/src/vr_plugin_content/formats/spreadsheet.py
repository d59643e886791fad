"""Spreadsheets: rows of each sheet as tables, with the exact range of their cells."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime, time, timedelta
from typing import Any, BinaryIO

from vr_plugin_content.formats.encodings import blank
from vr_plugin_content.formats.kinds import KINDS, suffix_of
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


def parse(file: BinaryIO, asked: Asked) -> Parsed:
    """Read the sheets of a workbook.

    Raises:
        ParseError: EXTRA_MISSING; PASSWORD_NEEDED; DOCUMENT_DAMAGED; DOCUMENT_EMPTY.
    """
    book = _opened(file)
    suffix, budget = suffix_of(asked.name), TextBudget(asked.bounds)
    mime = next(kind.mime for kind in KINDS if suffix in kind.suffixes)
    found = Parsed(mime)
    for name in book.sheet_names[:MOST_SHEETS]:
        try:
            pieces = list(_pieces(book.get_sheet_by_name(name), name, budget))
        except _TooLargeError:
            found.limits.append(f"The sheet {name!r} spans too many cells, and was left out.")
            continue
        except MemoryError:
            raise
        except Exception:  # noqa: BLE001 - a sheet of charts or macros costs only itself
            found.limits.append(f"The sheet {name!r} could not be read.")
            continue
        if pieces:
            found.pieces += pieces
            found.outline.append(OutlineEntry(name, 1, {"sheet": name}))
    if not found.pieces:
        raise blank()
    found.limits += budget.limits
    return found


class _TooLargeError(Exception):
    """A used area that spans more cells than are read."""


def _opened(file: BinaryIO) -> Any:
    from python_calamine import CalamineWorkbook, PasswordError

    try:
        return CalamineWorkbook.from_filelike(file)
    except PasswordError:
        message = "This workbook is protected by a password."
        hint = "Open it in its own program, remove the password, and save it again."
        raise ParseError("PASSWORD_NEEDED", message, hint, "AUTH") from None
    except MemoryError:
        raise
    except Exception:  # noqa: BLE001 - it has an error for each way to be broken
        raise damaged("a workbook") from None


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
