"""Text with a little Markdown, read into paragraphs and spans; everything else stays text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from vr_kernel.views.words import is_web

Style = Literal["", "strong", "emphasis", "code", "link", "reference"]
Form = Literal["text", "heading", "bullet", "number", "quote", "code"]
_LINE = re.compile(
    r"(?P<heading>#{1,6})[ \t]+|(?P<bullet>[ \t]{0,12}[-*+•])[ \t]+"
    r"|(?P<number>[ \t]{0,12}\d{1,4}[.)])[ \t]+|(?P<quote>>)[ \t]?"
)
_FENCE = re.compile(r"[ \t]{0,3}(`{3,}|~{3,})[ \t]*([\w+#.-]{0,20})[ \t]*\Z")
# Each part is bounded or begins with a sign of its own, so that no text takes long.
_SPAN = re.compile(
    r"`(?P<code>[^`\n]{1,500})`"
    r"|\*\*(?P<strong>[^*\n]{1,500})\*\*"
    r"|(?<![\w*])\*(?P<emphasis>[^*\s][^*\n]{0,500})\*(?![\w*])"
    r"|(?<!!)\[(?P<words>[^\[\]\n]{1,300})\]\((?P<link>https?://[^\s()<>]{1,2000})\)"
    r"|\[(?P<reference>\d{1,3})\](?!\()"
    r"|(?P<bare>https?://[^\s<>\"'`()\[\]]{1,2000})"
)
_ENDS = ".,;:!?"


@dataclass(frozen=True, slots=True)
class Span:
    """Words of one style; a link leads to a web address, a reference to one with that number."""

    text: str
    style: Style = ""
    link: str = ""
    number: int = 0


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph, or an item of a list; `level` counts how deep it lies, from 0."""

    form: Form
    spans: tuple[Span, ...]
    level: int = 0
    mark: str = ""

    @property
    def text(self) -> str:
        """Its words without their styles."""
        return "".join(span.text for span in self.spans)


def paragraphs(text: str) -> list[Paragraph]:
    """Read a text: lists, headings, quotes, code between fences, and paragraphs."""
    found: list[Paragraph] = []
    kept: list[str] = []
    fence = ""
    for line in text.split("\n"):
        bar = _FENCE.match(line)
        if bar is None or (fence and (bar[2] or not bar[1].startswith(fence))):
            kept.append(line)
            continue
        found += _read(kept, fence)
        kept, fence = [], "" if fence else bar[1]
    return found + _read(kept, fence)


def spans(text: str) -> tuple[Span, ...]:
    """Read the styles, links and references of a paragraph."""
    return tuple(_spans(text))


def _read(lines: Sequence[str], fence: str) -> list[Paragraph]:
    """The paragraphs of lines; items and headings need no empty line before."""
    if fence:
        return [Paragraph("code", (Span("\n".join(lines)),))]
    found: list[Paragraph] = []
    kept: list[str] = []

    def end() -> None:
        if kept:
            found.append(_paragraph("\n".join(kept)))
            kept.clear()

    for line in lines:
        begun = _LINE.match(line)
        if begun or not line.strip():
            end()
        if line.strip():
            kept.append(line)
        if begun and begun["heading"]:
            end()
    end()
    return found


def _paragraph(text: str) -> Paragraph:
    begun = _LINE.match(text)
    if begun is None:
        return Paragraph("text", spans(text.strip()))
    rest = spans(text[begun.end() :].strip())
    if begun["heading"]:
        return Paragraph("heading", rest, len(begun["heading"]) - 1)
    if begun["quote"]:
        return Paragraph("quote", spans(re.sub(r"\n>[ \t]?", "\n", text[begun.end() :]).strip()))
    mark = (begun["bullet"] or begun["number"]).strip()
    level = (len(begun[0]) - len(begun[0].lstrip())) // 2
    return Paragraph("bullet" if begun["bullet"] else "number", rest, level, mark)


def _spans(text: str) -> Iterator[Span]:
    at = 0
    for found in _SPAN.finditer(text):
        if found.start() > at:
            yield Span(text[at : found.start()])
        at = found.end()
        style = found.lastgroup or ""
        if style in ("link", "bare"):
            link = found[style].rstrip(_ENDS) if style == "bare" else found[style]
            words = found["words"] or link
            yield Span(words, "link", link) if is_web(link) else Span(found[0])
            if style == "bare" and len(link) < len(found[0]):
                yield Span(found[0][len(link) :])
        elif style == "reference":
            yield Span(found[0], "reference", number=int(found["reference"]))
        else:
            yield Span(found[style], style)  # type: ignore[arg-type]  # the names of the groups
    if at < len(text):
        yield Span(text[at:])
