"""Markdown as passages: one per section, with the headings above it as its place."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from vr_kernel import Record, entity_key

from vr_plugin_knowledge.transfer.front_matter import split_front

PASSAGES = "DocumentPassages"
LONGEST = 2000
"""Most characters of a passage; a longer section is cut between its blocks."""


@dataclass(slots=True)
class Section:
    """Blocks below one path of headings."""

    headings: tuple[str, ...]
    blocks: list[str] = field(default_factory=list)


def passages_of(text: str, path: Path, title: str) -> Iterator[Record]:
    """The passages of a Markdown text, without its front matter.

    Args:
        text: the whole file.
        path: of the file, absolute; the same file read again replaces its passages.
        title: of a text without headings.
    """
    digest = hashlib.sha256(text.encode()).hexdigest()
    sections = _sections(split_front(text)[1])
    title = next((s.headings[0] for s in sections if s.headings), title)
    number = 0
    for section in sections:
        for passage in _cut(section.blocks):
            fields = {
                "source": str(path),
                "sha256": digest,
                "title": title,
                "locator": " > ".join(section.headings),
                "text": passage,
                "link": path.as_uri(),
            }
            yield Record(PASSAGES, fields, _key(path, number))
            number += 1


def passage_ids(path: Path, start: int, end: int) -> list[tuple[str, str]]:
    """Kind and key of the passages of a file, from number `start` up to, not including, `end`."""
    return [(PASSAGES, _key(path, number)) for number in range(start, end)]


def _key(path: Path, number: int) -> str:
    return entity_key("markdown", path.as_posix(), number)


def _sections(text: str) -> list[Section]:
    from markdown_it import MarkdownIt

    lines = text.splitlines()
    sections = [Section(())]
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    for index, token in enumerate(tokens):
        if token.map is None or token.level or token.nesting < 0:
            continue
        if token.type == "heading_open":
            above = sections[-1].headings[: int(token.tag[1]) - 1]
            sections.append(Section((*above, tokens[index + 1].content)))
        else:
            first, last = token.map
            sections[-1].blocks.append("\n".join(lines[first:last]).strip())
    return [section for section in sections if any(section.blocks) or section.headings]


def _cut(blocks: list[str]) -> Iterator[str]:
    passage = ""
    for block in filter(None, blocks):
        if passage and len(passage) + len(block) > LONGEST:
            yield passage
            passage = ""
        passage = f"{passage}\n\n{block}" if passage else block
    if passage:
        yield passage
