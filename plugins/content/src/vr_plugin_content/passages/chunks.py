"""Chunks: the text of a document cut so that each piece has one place."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from vr_kernel import Document, Locator, Segment

from vr_plugin_content.passages.headings import PageHeadings, Section
from vr_plugin_content.passages.running_heads import without_running_heads

MOST_CHUNKS = 20_000
"""Most chunks of one document."""
MOST_AT_ONCE = 20_000
"""Characters that are cut at once: the time grows with the square of a text without spaces."""
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
    headings, segments = PageHeadings(document), _without_running_heads(document.segments)
    chunks: list[Chunk] = []
    for segment in _joined(segments):
        for section in _sections(segment, headings):
            for start, text in _cut(cut, section.text, most_chars):
                place = _within(segment, section.start + start, text)
                chunks.append(Chunk(text.strip(), place, segment.link, section.headings))
                if len(chunks) == MOST_CHUNKS:
                    return chunks
    return chunks


def _without_running_heads(segments: Sequence[Segment]) -> Sequence[Segment]:
    if any(it.locator.page is None or it.locator.box is not None for it in segments):
        return segments
    texts = without_running_heads([it.text for it in segments])
    return [replace(it, text=text) for it, text in zip(segments, texts, strict=True)]


def _sections(segment: Segment, headings: PageHeadings) -> Iterator[Section]:
    page = segment.locator.page
    if page is None:
        yield Section(segment.text, 0, segment.locator.heading)
        return
    yield from headings.sections(segment.text, page)


def _cut(cut: Cut, text: str, most_chars: int) -> Iterator[tuple[int, str]]:
    """The parts of a text with the number of the character at which each begins."""
    for begins, some in _stretches(text):
        parts = [(0, some)] if len(some) <= most_chars else cut(some)
        yield from ((begins + start, part) for start, part in parts if part.strip())


def _stretches(text: str) -> Iterator[tuple[int, str]]:
    """A long text in stretches that end with a line or a word, if there is one near their end."""
    at = 0
    while len(text) - at > MOST_AT_ONCE:
        near = at + MOST_AT_ONCE
        ends = (text.rfind(sign, at + MOST_AT_ONCE // 2, near) + 1 for sign in "\n ")
        end = next((end for end in ends if end), near)
        yield at, text[at:end]
        at = end
    yield at, text[at:]


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
