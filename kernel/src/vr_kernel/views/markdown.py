"""Views as Markdown, in which no text of a source is taken for markup."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from urllib.parse import quote

from vr_kernel.text.visible_text import visible, visible_line
from vr_kernel.views.model import View
from vr_kernel.views.prose import Paragraph, Span
from vr_kernel.views.words import is_local_file, is_web
from vr_kernel.views.writing import write

# Underlines within words mean nothing; signs that begin a line are met where one is begun.
_SIGNS = re.compile(r"[\\`*\[\]<>|~]|(?<![^\W_])_|_(?![^\W_])|&(?=#?\w{1,32};)")
_BEGIN = re.compile(r"\A(?:#(?=[#\s]|\Z)|[+=-](?=[\s=-]|\Z)|\d{1,9}(?=[.)](?:\s|\Z)))")
_CLOSE = re.compile(r"(?<=\s)(?=#+\Z)")
_ENTITY = re.compile(r"&(?=#?\w{1,32};)")
_SAFE = "/:?#@!$&'*+,;=%~-._"
_MOST_LEVELS = 6


def as_markdown(view: View, level: int = 1) -> str:
    """A whole view as Markdown, its title a heading of that level."""
    return write(view, _Markdown(), level)


class _Markdown:
    """The signs of Markdown."""

    def plain(self, text: str) -> str:
        escaped = _SIGNS.sub(r"\\\g<0>", visible_line(text))
        return _BEGIN.sub(_escaped_begin, escaped)

    def strong(self, text: str) -> str:
        return f"**{text}**" if text else ""

    def link(self, words: str, address: str) -> str:
        shown = self.plain(words)
        if not (is_web(address) or is_local_file(address)):
            return shown
        led = _ENTITY.sub("&amp;", quote(visible_line(address), safe=_SAFE))
        return f"[{shown}]({led})"

    def heading(self, text: str, level: int) -> list[str]:
        shown = _CLOSE.sub(r"\\", self.plain(text))
        return [f"{'#' * min(level, _MOST_LEVELS)} {shown}"]

    def code(self, text: str, language: str) -> list[str]:
        shown = visible(text)
        longest = max([2, *(len(run) for run in re.findall("`+", shown))])
        fence = "`" * (longest + 1)
        return [f"{fence}{re.sub(r'[^A-Za-z0-9+#-]', '', language)}", *shown.split("\n"), fence]

    def table(self, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
        head = [self.plain(each) for each in columns]
        ruled = ["---"] * len(head)
        return [f"| {' | '.join(row)} |" for row in (head, ruled, *rows)]

    def paragraph(self, paragraph: Paragraph) -> list[str]:
        if paragraph.form == "code":
            return self.code(paragraph.text, "")
        text = "".join(self._written(paragraph.spans))
        if paragraph.form == "heading":
            return [f"**{text}**"]
        text = _BEGIN.sub(_escaped_begin, text)
        if paragraph.form == "quote":
            return [f"> {text}"]
        if paragraph.form in ("bullet", "number"):
            mark = "-" if paragraph.form == "bullet" else paragraph.mark
            return [f"{'  ' * paragraph.level}{mark} {text}"]
        return [text]

    def _written(self, spans: Sequence[Span]) -> Iterator[str]:
        """The spans of a paragraph, of which none changes the meaning of the next one."""
        for span, after in zip_longest(spans, spans[1:]):
            text = self._span(span)
            if after and after.style in ("link", "reference") and text.endswith("!"):
                yield f"{text[:-1]}\\!"
            elif span.style == "reference" and after and after.text.startswith(":"):
                yield f"\\{text}"
            else:
                yield text

    def _span(self, span: Span) -> str:
        if span.style == "code":
            shown = visible_line(span.text)
            return f"`{shown}`" if shown else ""
        if span.style == "link":
            return self.link(span.text, span.link)
        if span.style == "reference":
            return f"[{span.number}]"
        text = _SIGNS.sub(r"\\\g<0>", " ".join(visible(span.text).split("\n")))
        if span.style and not (text := text.strip()):
            return ""
        return {"strong": f"**{text}**", "emphasis": f"*{text}*"}.get(span.style, text)


def _escaped_begin(found: re.Match[str]) -> str:
    return f"\\{found[0]}" if not found[0].isdigit() else f"{found[0]}\\"
