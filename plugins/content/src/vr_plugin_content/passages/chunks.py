"""Chunks: the text of a document cut so that each piece has one place."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from vr_kernel import Document, Locator, Segment

from vr_plugin_content.passages.headings import PageHeadings, Section

MOST_CHUNKS = 20_000
"""Most chunks of one document."""
Cut = Callable[[str], Sequence[tuple[int, str]]]


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of a document's text, its place, the address that opens it, the headings above."""

    text: str
    locator: Locator
    link: str
    headings: tuple[str, ...]


def chunks_of(document: Document, most_chars: int) -> list[Chunk]:
    """Cut a document at its sections, and these where their sense allows; blocks.

    Args:
        document: as it was read.
        most_chars: of a chunk.
    """
    from semantic_text_splitter import MarkdownSplitter

    cut: Cut = MarkdownSplitter(most_chars).chunk_indices
    headings = PageHeadings(document)
    chunks: list[Chunk] = []
    for segment in _joined(document.segments):
        for section in _sections(segment, headings):
            for start, text in _cut(cut, section.text, most_chars):
                place = _within(segment, section.start + start, text)
                chunks.append(Chunk(text.strip(), place, segment.link, section.headings))
                if len(chunks) == MOST_CHUNKS:
                    return chunks
    return chunks


def _sections(segment: Segment, headings: PageHeadings) -> Iterator[Section]:
    page = segment.locator.page
    if page is None:
        yield Section(segment.text, 0, segment.locator.heading)
        return
    yield from headings.sections(segment.text, page)


def _cut(cut: Cut, text: str, most_chars: int) -> Iterator[tuple[int, str]]:
    """The parts of a text with the number of the character at which each begins."""
    parts = [(0, text)] if len(text) <= most_chars else cut(text)
    yield from ((start, part) for start, part in parts if part.strip())


def _within(segment: Segment, start: int, text: str) -> Locator:
    """Return the place of a part: its own lines, where the segment has lines."""
    place = segment.locator
    if place.first_line is None or place.last_line is None or place.cells is not None:
        return place
    first = place.first_line + segment.text.count("\n", 0, start)
    last = min(first + text.rstrip().count("\n"), place.last_line)
    return replace(place, first_line=min(first, last), last_line=last)


def _joined(segments: Sequence[Segment]) -> Iterator[Segment]:
    """The segments, with the lines that were recognised on a picture as one."""
    for boxed, group in groupby(segments, key=lambda it: it.locator.box is not None):
        if not boxed:
            yield from group
            continue
        lines = list(group)
        yield replace(lines[0], text="\n".join(line.text for line in lines))
