"""Text and source code: blocks of lines with the lines they stand on.

JSON, XML and YAML are read as the texts they are: no parser is there that they could harm.
"""

from __future__ import annotations

from typing import BinaryIO

from vr_plugin_content.formats.encodings import decoded
from vr_plugin_content.formats.kinds import suffix_of
from vr_plugin_content.formats.line_blocks import line_blocks
from vr_plugin_content.formats.parsed import Asked, Parsed, TextBudget

MIMES = {
    ".json": "application/json",
    ".jsonl": "application/x-ndjson",
    ".ndjson": "application/x-ndjson",
    ".geojson": "application/geo+json",
    ".xml": "application/xml",
    ".yaml": "application/yaml",
    ".yml": "application/yaml",
    ".toml": "application/toml",
    ".css": "text/css",
    ".js": "text/javascript",
    ".py": "text/x-python",
    ".rst": "text/x-rst",
    ".srt": "application/x-subrip",
    ".vtt": "text/vtt",
}
"""Media types of suffixes; every other is plain text."""
BYTES_A_CHARACTER = 4
"""Most bytes of a character in any encoding."""


def parse(file: BinaryIO, asked: Asked) -> Parsed:
    """Read a text.

    Raises:
        ParseError: DOCUMENT_EMPTY; DOCUMENT_BINARY for what is no text.
    """
    text = decoded(file.read(BYTES_A_CHARACTER * (asked.bounds.chars + 1)), asked.charset)
    budget = TextBudget(asked.bounds)
    pieces = list(line_blocks(text, budget))
    return Parsed(mime_of(asked.name), pieces=pieces, limits=budget.limits)


def mime_of(name: str) -> str:
    """Return the media type of a text by its name."""
    return MIMES.get(suffix_of(name), "text/plain")
