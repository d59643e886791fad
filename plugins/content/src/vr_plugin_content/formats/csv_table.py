"""CSV and TSV: rows as a table, each block with its header, its lines and its cells."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from io import StringIO
from itertools import chain
from typing import BinaryIO

from vr_plugin_content.formats import plain_text
from vr_plugin_content.formats.encodings import decoded
from vr_plugin_content.formats.kinds import suffix_of
from vr_plugin_content.formats.parsed import Asked, Parsed, Piece, TextBudget
from vr_plugin_content.formats.table_rows import Row, blocks_of, cell_range, column_name

SAMPLE_CHARS = 4_000
"""Characters by which the delimiter is found; a hostile sample takes quadratic time."""
MOST_COLUMNS = 500
_VALUE = re.compile(r"(?=\D{0,4}\d)[\d.,:/%$€£ TZe+-]{1,40}")
FIELD_CHARS = 1_000_000
"""Longest cell; a line that never ends is read as plain text."""


def parse(file: BinaryIO, asked: Asked) -> Parsed:
    """Read a table; what is none after all is read as plain text.

    Raises:
        ParseError: DOCUMENT_EMPTY; DOCUMENT_BINARY for what is no text.
    """
    text = decoded(
        file.read(plain_text.BYTES_A_CHARACTER * (asked.bounds.chars + 1)), asked.charset
    )
    tabs = suffix_of(asked.name) == ".tsv"
    mime = "text/tab-separated-values" if tabs else "text/csv"
    budget = TextBudget(asked.bounds)
    try:
        pieces = list(_pieces(_rows(text, "\t" if tabs else _delimiter(text)), budget))
    except csv.Error:
        file.seek(0)
        found = plain_text.parse(file, asked)
        found.mime = mime
        return found
    return Parsed(mime, pieces=pieces, limits=budget.limits)


def _delimiter(text: str) -> str:
    try:
        return csv.Sniffer().sniff(text[:SAMPLE_CHARS], ",;\t|").delimiter
    except csv.Error:
        return ","


def _rows(text: str, delimiter: str) -> Iterator[Row]:
    """The rows that are not blank, with their lines.

    Raises:
        csv.Error: for a cell or a row that is too large.
    """
    csv.field_size_limit(FIELD_CHARS)
    reader = csv.reader(StringIO(text, newline=""), delimiter=delimiter)
    begins = 1
    for number, cells in enumerate(reader, 1):
        if len(cells) > MOST_COLUMNS:
            raise csv.Error
        if any(cell.strip() for cell in cells):
            yield Row(cells, number, begins, reader.line_num)
        begins = reader.line_num + 1


def _is_header(cells: Sequence[str]) -> bool:
    """True for a first row of names: without a number, a date or a name that comes twice."""
    names = [cell.strip() for cell in cells if cell.strip()]
    return len(set(names)) == len(names) and not any(map(_VALUE.fullmatch, names))


def _pieces(rows: Iterator[Row], budget: TextBudget) -> Iterator[Piece]:
    first = next(rows, None)
    if first is None:
        return
    headed = _is_header(first.cells)
    names = first.cells if headed else [column_name(at) for at in range(len(first.cells))]
    header = replace(first, cells=names)
    for block in blocks_of(header, rows if headed else chain([first], rows)):
        text = budget.take(block.text)
        if not text:
            return
        width = max(len(header.cells), len(block.first.cells))
        place = {
            "cells": cell_range(block.first, block.last, 0, width),
            "first_line": block.first.first_line,
            "last_line": block.last.last_line,
        }
        yield Piece(text, place)
