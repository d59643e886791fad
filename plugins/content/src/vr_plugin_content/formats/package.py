"""Packages of office documents: parts that list others, in their order, before a library reads."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Iterator, Mapping
from io import BytesIO
from typing import Any, BinaryIO
from xml.parsers import expat
from zipfile import BadZipFile, ZipFile
from zlib import error as DamagedError  # noqa: N812 - a class, whatever its name

PRESENTATION = "ppt/presentation.xml"
WORKBOOK = "xl/workbook.xml"
ODF_CONTENT = "content.xml"
MOST_BYTES = 10_000_000
"""Most bytes that are read of a part which lists others; they are small."""
BLOCK = 1_000_000
BEGINNING = 64
"""More bytes than the beginning of a cell has, with its place."""
_BROKEN = (
    BadZipFile,
    DamagedError,
    expat.ExpatError,
    KeyError,
    OSError,
    ValueError,
    RuntimeError,
    EOFError,
)
_SLIDE = re.compile(r"slide(\d{1,9})\.xml", re.IGNORECASE)
_BLANKS = re.compile(rb"(</?%s[^<>]*>)\s+(?=</?%s)" % ((rb"(?:table:|office:|text:p\b)",) * 2))
_PLACE = rb"([A-Z]{1,3})(\d{1,7})"
_CELL = re.compile(rb"""<(?:\w+:)?c\s[^<>]{0,40}?\br=["']%s["']""" % _PLACE)
_DIMENSION = re.compile(rb"""<(?:\w+:)?dimension\s+ref=["']%s:%s["']""" % (_PLACE, _PLACE))


def shown_slides(file: BinaryIO) -> Mapping[int, int]:
    """Return the numbers at which slides are shown, by their numbers in the order of their files.

    A slide that was moved keeps the name of its file. It is empty where nothing can be told.
    """
    try:
        with ZipFile(file) as archive:
            related = _related(archive, PRESENTATION, "/slide")
            shown = [related[_id(each)] for each in _elements(archive, PRESENTATION, "sldId")]
    except _BROKEN:
        return {}
    numbers = {part: _SLIDE.fullmatch(posixpath.basename(part)) for part in related.values()}
    files = sorted((int(match[1]), part) for part, match in numbers.items() if match)
    if len(files) < len(numbers):
        return {}
    places = {part: number for number, part in enumerate(shown, 1)}
    return {at: places[part] for at, (_, part) in enumerate(files, 1) if part in places}


def sprawling_sheets(file: BinaryIO, most: int) -> set[str]:
    """Return the names of the sheets whose cells span more than so many, as far as can be told."""
    found: set[str] = set()
    try:
        with ZipFile(file) as archive:
            related = _related(archive, WORKBOOK, "/worksheet")
            for sheet in _elements(archive, WORKBOOK, "sheet"):
                part = related.get(_id(sheet))
                if part is not None and _sprawls(archive, part, most):
                    found.add(sheet.get("name", ""))
    except _BROKEN:
        pass
    return found


def without_blanks(content: bytes) -> BytesIO:
    """Return an OpenDocument spreadsheet without the white space between its cells.

    It says nothing, and the library refuses it.

    Raises:
        Exception: when it is no such package.
    """
    made = BytesIO()
    with ZipFile(BytesIO(content)) as archive, ZipFile(made, "w") as compact:
        for name in archive.namelist():
            part = archive.read(name)
            compact.writestr(name, _BLANKS.sub(rb"\1", part) if name == ODF_CONTENT else part)
    made.seek(0)
    return made


def _sprawls(archive: ZipFile, part: str, most: int) -> bool:
    """True for cells that span too many; a sheet that says it is large may be so by its styles."""
    with archive.open(part) as file:
        rest = file.read(BLOCK)
        said = _DIMENSION.search(rest)
        if said and _spanned([(said[1], said[2]), (said[3], said[4])]) <= most:
            return False
        cells: set[tuple[bytes, bytes]] = set()
        while rest:
            cells = _corners(cells.union(_CELL.findall(rest)))
            if _spanned(cells) > most:
                return True
            block = file.read(BLOCK)
            rest = rest[-BEGINNING:] + block if block else b""
    return False


def _corners(cells: Collection[tuple[bytes, bytes]]) -> set[tuple[bytes, bytes]]:
    """Two cells that span what these span."""
    if not cells:
        return set()
    columns, rows = [column for column, _ in cells], [row for _, row in cells]
    return {
        (min(columns, key=_column), min(rows, key=int)),
        (max(columns, key=_column), max(rows, key=int)),
    }


def _spanned(cells: Collection[tuple[bytes, bytes]]) -> int:
    """The number of cells that these span."""
    columns, rows = [_column(column) for column, _ in cells], [int(row) for _, row in cells]
    return (max(columns) - min(columns) + 1) * (max(rows) - min(rows) + 1) if cells else 0


def _column(name: bytes) -> int:
    number = 0
    for letter in name:
        number = number * 26 + letter - 64
    return number


def _related(archive: ZipFile, part: str, kind: str) -> dict[str, str]:
    """The parts of a kind that a part refers to, by the ids it has for them."""
    folder, name = posixpath.split(part)
    return {
        each["Id"]: posixpath.normpath(posixpath.join(f"/{folder}", each["Target"]))[1:]
        for each in _elements(archive, f"{folder}/_rels/{name}.rels", "Relationship")
        if each["Type"].endswith(kind)
    }


def _elements(archive: ZipFile, part: str, tag: str) -> Iterator[dict[str, str]]:
    """The attributes of each element of a name, in the order of a part."""
    found: list[dict[str, str]] = []

    def start(name: str, attributes: dict[str, str]) -> None:
        if name.rpartition(" ")[2] == tag:
            found.append(attributes)

    parser = expat.ParserCreate(namespace_separator=" ")
    parser.StartElementHandler = start
    parser.EntityDeclHandler = _refuse
    with archive.open(part) as file:
        parser.Parse(file.read(MOST_BYTES), True)
    return iter(found)


def _id(attributes: Mapping[str, str]) -> str:
    """The id of what an element refers to, in whatever namespace of relations."""
    return next((value for name, value in attributes.items() if name.endswith(" id")), "")


def _refuse(*_: Any) -> None:
    raise ValueError
