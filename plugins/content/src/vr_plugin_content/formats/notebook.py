"""Notebooks: each cell with its number, outputs clipped, pictures by their size."""

from __future__ import annotations

import json
import re
from base64 import b64decode
from collections.abc import Iterator, Mapping, Sequence
from io import BytesIO
from typing import Any, BinaryIO

from vr_plugin_content.formats.encodings import blank, decoded, without_controls, without_escapes
from vr_plugin_content.formats.markdown_sections import plain
from vr_plugin_content.formats.parsed import (
    Asked,
    OutlineEntry,
    Parsed,
    ParseError,
    Piece,
    TextBudget,
    damaged,
)

MIME = "application/x-ipynb+json"
OUTPUT_CHARS = 2_000
"""Most characters of the outputs of a cell."""
LARGEST = 150_000_000
"""Most bytes of a notebook that are parsed: outputs hold megabytes."""
MOST_CELLS = 10_000
MOST_OUTPUTS = 1_000
MOST_PICTURES = 20
"""Pictures of a cell that are named."""
MIME_CHARS = 40
HEADING_CHARS = 300
LEVELS = (1, 2, 3, 4, 5, 6)
HEAD_OF_PICTURE = 65_536
"""Characters of a picture in which its size stands."""
_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(.+)")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")


def parse(file: BinaryIO, asked: Asked) -> Parsed:
    """Read a notebook of format 3 or 4.

    Raises:
        ParseError: DOCUMENT_DAMAGED for what is no notebook; DOCUMENT_EMPTY without a cell.
    """
    content = file.read(LARGEST + 1)
    if len(content) > LARGEST:
        raise _too_large()
    try:
        book = json.loads(decoded(content, asked.charset), strict=False)
        cells, language = _cells(book), _language(book)
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError):
        raise damaged("a notebook") from None
    budget, pieces, outline = TextBudget(asked.bounds), list[Piece](), list[OutlineEntry]()
    for number, cell in enumerate(cells[:MOST_CELLS], 1):
        said = budget.take(_text(cell, language))
        if said.strip():
            pieces.append(Piece(said, {"cell": number}))
        if cell.get("cell_type") in ("markdown", "heading"):
            outline += _headings(said, number)
    if not pieces:
        raise blank()
    title = outline[0].text if outline else ""
    limits = budget.limits
    if len(cells) > MOST_CELLS:
        limits.append(
            f"Only its first {MOST_CELLS:,} cells were read; split it to read the others."
        )
    return Parsed(MIME, title, pieces, outline, limits=limits)


def _cells(book: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The cells; format 3 has them in worksheets.

    Raises:
        KeyError, TypeError: for what is no notebook.
    """
    sheets = book.get("worksheets")
    cells = [cell for sheet in sheets for cell in sheet["cells"]] if sheets else book["cells"]
    if not isinstance(cells, list) or not all(isinstance(cell, dict) for cell in cells):
        raise TypeError
    return cells


def _language(book: Mapping[str, Any]) -> str:
    """The language of the code, which old formats name with each cell or not at all."""
    found: Any = book.get("metadata")
    for name in ("language_info", "name"):
        found = found.get(name) if isinstance(found, dict) else None
    return found if isinstance(found, str) and found.isalnum() else "python"


def _text(cell: Mapping[str, Any], language: str) -> str:
    source = without_controls(_joined(cell.get("source", cell.get("input", ""))))
    if cell.get("cell_type") == "heading":  # of format 3
        level = cell.get("level")
        return f"{'#' * level if level in LEVELS else '#'} {source.strip()}"
    if cell.get("cell_type") != "code":
        return source
    parts = [_fenced(source, language)] if source.strip() else []
    outputs = cell.get("outputs")
    if said := _outputs(outputs if isinstance(outputs, list) else []):
        parts.append(f"Output:\n\n{said}")
    return "\n\n".join(parts)


def _fenced(source: str, language: str) -> str:
    longest = max(map(len, re.findall("`+", source)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{source}\n{fence}"


def _outputs(outputs: Sequence[Any]) -> str:
    """The outputs of a cell: their words, clipped, and then their pictures."""
    said, pictures = "", list[str]()
    for output in outputs[:MOST_OUTPUTS]:
        if not isinstance(output, dict):
            continue
        if len(said) <= OUTPUT_CHARS:
            said = "\n".join(filter(None, (said, _words(output).strip())))
        pictures += _pictures(output)
    if len(said) > OUTPUT_CHARS:
        said = f"{said[:OUTPUT_CHARS].strip()} [...]"
    return "\n".join(filter(None, (said, *pictures[:MOST_PICTURES])))


def _words(output: Mapping[str, Any]) -> str:
    """The words of an output; of an error its name and message, without the calls before it."""
    if output.get("output_type") in ("error", "pyerr"):
        return _plain(f"{_joined(output.get('ename'))}: {_joined(output.get('evalue'))}")
    data = output.get("data")
    return _plain(_joined(data.get("text/plain") if isinstance(data, dict) else output.get("text")))


def _pictures(output: Mapping[str, Any]) -> Iterator[str]:
    """The pictures of an output, which format 3 has beside its text."""
    data = output.get("data")
    if not isinstance(data, dict):
        data = {f"image/{name}": output.get(name) for name in ("png", "jpeg")}
    for mime, value in data.items():
        if mime.startswith("image/") and (picture := _joined(value)):
            yield _picture(mime[:MIME_CHARS], picture)


def _picture(mime: str, content: str) -> str:
    """A picture by its type and size, from the first bytes of it alone."""
    size = f"{max(len(content) * 3 // 4 // 1000, 1)} KB"
    pixels = _pixels(content[:HEAD_OF_PICTURE]) if mime != "image/svg+xml" else ""
    return f"[{', '.join(filter(None, (mime, pixels, size)))}]"


def _pixels(content: str) -> str:
    """The width and the height of a picture; empty where its first bytes do not tell."""
    from PIL import Image

    try:
        with Image.open(
            BytesIO(b64decode("".join(content.split())[: HEAD_OF_PICTURE // 2]))
        ) as seen:
            return f"{seen.width} x {seen.height}"
    except Exception:  # noqa: BLE001 - a hostile picture may raise anything
        return ""


def _headings(text: str, number: int) -> Iterator[OutlineEntry]:
    """The headings of a cell; a line of code in it is none."""
    fence = ""
    for line in text.split("\n"):
        if mark := _FENCE.match(line):
            closes = fence and mark[1].startswith(fence)
            fence = "" if closes else fence or mark[1]
        elif not fence and (found := _HEADING.match(line)):
            yield OutlineEntry(plain(found[2])[:HEADING_CHARS], len(found[1]), {"cell": number})


def _joined(value: Any) -> str:
    if isinstance(value, Sequence) and not isinstance(value, str):
        return "".join(each for each in value if isinstance(each, str))
    return value if isinstance(value, str) else ""


def _plain(text: str) -> str:
    return without_controls(without_escapes(text[: 4 * OUTPUT_CHARS]))


def _too_large() -> ParseError:
    message, hint = "This notebook is too large to read.", "Clear its outputs, and save it again."
    return ParseError("DOCUMENT_TOO_LARGE", message, hint, "TOO_LARGE")
