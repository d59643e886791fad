"""Views as plain text, for files and programs that show nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

from vr_kernel.text.visible_text import visible, visible_line
from vr_kernel.views.model import View
from vr_kernel.views.prose import Paragraph
from vr_kernel.views.writing import write

LONGEST_COLUMN = 40
"""Characters to which the cells of a column are filled up; longer ones stand out."""
_UNDERLINES = {1: "=", 2: "-"}


def as_text(view: View) -> str:
    """A whole view as plain text; lines are not folded."""
    return write(view, _Plain())


class _Plain:
    """No signs at all."""

    def plain(self, text: str) -> str:
        return visible_line(text)

    def strong(self, text: str) -> str:
        return text

    def link(self, words: str, address: str) -> str:
        del address
        return visible_line(words)

    def heading(self, text: str, level: int) -> list[str]:
        shown = visible_line(text)
        line = _UNDERLINES.get(level)
        return [shown, line * len(shown)] if line else [shown]

    def code(self, text: str, language: str) -> list[str]:
        del language
        return visible(text).split("\n")

    def table(self, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
        cells = [[visible_line(each) for each in columns], *rows]
        wide = [max(map(len, column)) for column in zip_longest(*cells, fillvalue="")]
        filled = (
            [cell.ljust(min(width, LONGEST_COLUMN)) for cell, width in zip(row, wide, strict=False)]
            for row in cells
        )
        return ["  ".join(row).rstrip() for row in filled]

    def paragraph(self, paragraph: Paragraph) -> list[str]:
        if paragraph.form == "code":
            return self.code(paragraph.text, "")
        text = visible(paragraph.text)
        if paragraph.form in ("bullet", "number"):
            mark = "-" if paragraph.form == "bullet" else paragraph.mark
            return [f"{'  ' * paragraph.level}{mark} {visible_line(text)}"]
        return text.split("\n")
