"""A report as PDF, laid out by Typst: its words are data to it, and never markup."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from importlib.resources import files
from types import ModuleType
from typing import Any

from vr_kernel import Code, VrError, require_extra, visible_line
from vr_kernel.views import View

from vr_plugin_research.exports.elements import Element, Words, elements_of, texts_of
from vr_plugin_research.exports.install import INSTALL

NARROW = 14
"""Characters up to which a column is as wide as its words; wider ones share what is left."""
WIDE = 60
LONG_WORD, PIECE = 40, 20
"""Characters of a word that may be folded, and of each of its pieces."""
MOST_NAMED = 20
"""Signs that are named in a remark."""
_LONG = re.compile(rf"\S{{{LONG_WORD},}}")
_UNSEEN = ("M", "Z", "C")
"""Categories of signs that have no shape of their own."""


def pdf_of(view: View, made: str) -> tuple[bytes, list[str]]:
    """The view of a report as PDF, and remarks about signs that cannot be shown.

    Args:
        view: all that is written.
        made: the instant at which the report was written, as ISO 8601, if it is known.

    Raises:
        VrError: UNAVAILABLE, category EXTRA_MISSING, when the library is not installed; INTERNAL,
            category PDF_FAILED, when it cannot lay the report out.
    """
    typst = require_extra("typst", "PDF is written by typst, which is not installed.", INSTALL)
    elements = list(elements_of(view))
    given = {"title": visible_line(view.title), "elements": [_data(each) for each in elements]}
    fonts = typst.Fonts()
    try:
        content = typst.compile(
            _layout("report.typ"),
            format="pdf",
            font_paths=fonts,
            sys_inputs={"report": json.dumps(given)},
            timestamp=_timestamp(made),
        )
        return bytes(content), _missing(typst, fonts, elements)
    except typst.TypstError as error:
        raise VrError(
            "The report could not be laid out as PDF.",
            Code.INTERNAL,
            category="PDF_FAILED",
            hint="The formats docx and html hold the same.",
        ) from error


LATEST = 4_102_444_800
"""The year 2100, in seconds; a later date is a damaged one."""


def _layout(name: str) -> bytes:
    return (files("vr_plugin_research.exports") / name).read_bytes()


def _timestamp(made: str) -> int:
    """The second at which the report was written, so that its file is always the same."""
    with suppress(ValueError, OverflowError):
        instant = datetime.fromisoformat(made)
        return min(max(int(instant.replace(tzinfo=instant.tzinfo or UTC).timestamp()), 0), LATEST)
    return 0


def _data(element: Element) -> dict[str, Any]:
    given: dict[str, Any] = {"kind": element.kind, "level": element.level}
    if element.kind == "table":
        wide = max(map(len, element.rows))
        rows = [[*map(_runs, row), *[[]] * (wide - len(row))] for row in element.rows]
        return {**given, "rows": rows, "widths": _widths(element.rows, wide)}
    foldable = element.kind != "code"
    return {**given, "words": _runs(element.words, foldable=foldable)}


def _runs(words: Words, *, foldable: bool = True) -> list[dict[str, str]]:
    return [
        {
            "text": _LONG.sub(_folded, run.text) if foldable else run.text,
            "style": run.style,
            "link": run.link,
        }
        for run in words
    ]


def _folded(word: re.Match[str]) -> str:
    """A long word with places at which a line may end."""
    text = word[0]
    return "\u200b".join(text[at : at + PIECE] for at in range(0, len(text), PIECE))


def _widths(rows: Sequence[Sequence[Words]], wide: int) -> list[int]:
    """The widths of columns as parts of what is left; 0 for one that is as wide as its words."""
    longest = [0] * wide
    for row in rows:
        for at, words in enumerate(row):
            longest[at] = max(longest[at], sum(len(run.text) for run in words))
    return [0 if each <= NARROW else min(each, WIDE) for each in longest]


def _missing(typst: ModuleType, fonts: Any, elements: Sequence[Element]) -> list[str]:
    """A remark that names signs which no font of this machine has; none when all are there."""
    signs = sorted({*_special(elements)})
    if not signs:
        return []
    given = {"signs": json.dumps(signs)}
    found: str = typst.query(
        _layout("signs.typ"),
        "<missing>",
        field="value",
        one=True,
        font_paths=fonts,
        sys_inputs=given,
    )
    missing: list[str] = json.loads(found)
    if not missing:
        return []
    named = " ".join(missing[:MOST_NAMED])
    more = f" and {len(missing) - MOST_NAMED:,} more" if len(missing) > MOST_NAMED else ""
    told = f"No font of this machine has these signs, which are boxes in the PDF: {named}{more}."
    return [f"{told} Install one that has them, such as Noto, or take docx or html."]


def _special(elements: Sequence[Element]) -> Iterator[str]:
    """Signs beyond ASCII that have a shape."""
    for text in texts_of(elements):
        if not text.isascii():
            for sign in text:
                if sign > "\x7f" and not unicodedata.category(sign).startswith(_UNSEEN):
                    yield sign
