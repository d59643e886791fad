"""The pen draws texts, places and grids for a window, and remembers what was left out."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from vr_kernel import visible, visible_line
from vr_kernel.files import URI_PREFIX
from vr_kernel.views import (
    Cell,
    Link,
    Quote,
    link_words,
    quote_sign,
    said,
    shown_instant,
    shown_size,
)

from vr_cli.showing.addresses import is_address, opened, short_path
from vr_cli.showing.window import WIDEST_TEXT, Window

if TYPE_CHECKING:
    from rich.console import Console, JustifyMethod, RenderableType
    from rich.segment import Segment
    from rich.table import Table
    from rich.text import Text

TAB = 4
SUMMARY_CHARS, LINE_CHARS, NAME_CHARS = 20_000, 1000, 60
"""Most characters of a text, of a line and of a name that a summary lays out."""
LONG = "long lines"
"""Named among what is left out, where a line was cut."""
_DIGEST = re.compile(r"\b[0-9a-f]{64}\b")
_INSTANT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)?")
_DIGEST_CHARS = 64
_ASCII = str.maketrans(
    {
        "\u2018": "'", "\u2019": "'", "\u201a": ",", "\u201c": '"', "\u201d": '"', "\u201e": '"',
        "\u00ab": '"', "\u00bb": '"', "\u2010": "-", "\u2011": "-", "\u2012": "-", "\u2013": "-",
        "\u2014": "-", "\u2212": "-", "\u00a0": " ", "\u2009": " ", "\u202f": " ", "\u00d7": "x",
        "…": "...", "·": "-", "•": "*", "→": "->", "✓": "+", "✗": "x", "▶": ">",
    }
)  # fmt: skip
"""Signs that ASCII lacks, and what stands for them: quotes, dashes, spaces, our own marks."""
_CHECKED = {
    "verified": ("green", ""),
    "moved": ("yellow", "quote moved"),
    "not_found": ("red", "quote not found"),
    "unchecked": ("dim", "not checked"),
}
"""The style and the words for the result of a quote's check."""
DIM, BOLD, HEAD, TIME = "dim", "bold", "bold cyan", "cyan"
"""The styles: of what is beside the point, of names, of headings, of times."""


@dataclass(slots=True)
class Pen:
    """Draws for a window.

    Attributes:
        window: that it draws for.
        full: whether everything is shown, or a summary.
        artifacts: the folder of artifacts, whose sizes are shown.
        keeps: whether `-o FILE` keeps the files of what is shown.
        said: a title that the reader knows already, and that is not shown.
        limits: options that let a longer list through, with the length that they had.
        left: names what was left out of a summary.
    """

    window: Window
    full: bool = False
    artifacts: Path | None = None
    keeps: bool = False
    said: str = ""
    limits: Mapping[str, int] = field(default_factory=dict)
    left: list[str] = field(default_factory=list)

    def words(self, text: str) -> str:
        """The text in signs that the window has, without digests and exact seconds."""
        text = visible(text if self.full else text[:SUMMARY_CHARS]).expandtabs(TAB)
        if len(text) >= _DIGEST_CHARS and not self.full:
            text = _DIGEST.sub(lambda found: f"{found[0][:8]}…", text)
        if "T" in text and ":" in text:
            text = _INSTANT.sub(lambda found: shown_instant(found[0]), text)
        return text.translate(_ASCII) if self.window.plain else text

    def text(self, text: str = "", style: str = "", link: str = "") -> Text:
        """A text of any number of lines."""
        from rich.style import Style
        from rich.text import Text

        made = Text(self.words(text), style, overflow="fold")
        if link and (address := self._address(link)):
            made.stylize(Style(link=address))
        return made

    def line(self, text: str, style: str = "", link: str = "") -> Text:
        """A text on one line, which is folded where it is too long."""
        if self.full or len(text) <= LINE_CHARS:
            return self.text(visible_line(text), style, link)
        if LONG not in self.left:
            self.left.append(LONG)
        return self.text(visible_line(text, LINE_CHARS), style, link)

    def command(self, words: Iterable[str]) -> Text:
        """A command for a shell, each word quoted in the signs and with the digits it is shown."""
        from rich.text import Text

        signs = _ASCII if self.window.plain else {}
        shown = (visible(word).translate(signs) for word in words)
        return Text(" ".join(map(shlex.quote, shown)), BOLD, overflow="fold")

    def joined(self, parts: Iterable[Text], between: str = " ") -> Text:
        """Texts one after another; empty ones are left out."""
        made = self.text()
        for part in parts:
            if part.plain:
                made.append(self.words(between) if made.plain else "", DIM)
                made.append_text(part)
        return made

    def cell(self, value: Cell, style: str = "") -> Text:
        """A value among facts or in a table."""
        if isinstance(value, Link):
            return self.place(value)
        if isinstance(value, str) and value.startswith(URI_PREFIX):
            return self.file(value)
        if isinstance(value, str) and is_address(value):
            return self.line(value, style, value)
        return self.line(short_path(said(value)), style)

    def short(self, value: Cell) -> Text:
        """A value in a table, where an address stands as its host or file unless all is shown."""
        if not self.full and isinstance(value, str) and is_address(value):
            return self.place(Link(value))
        return self.cell(value)

    def place(self, place: Link, style: str = "") -> Text:
        """A place, which opens by a click where that is possible."""
        timed = TIME if place.start is not None or place.page is not None else ""
        if place.address.startswith(URI_PREFIX) and not place.label:
            return self.file(place.address)
        return self.line(link_words(place), style or timed, place.address)

    def file(self, uri: str, size: int | None = None) -> Text:
        """An artifact by its size and kind, or by its path when everything is shown."""
        path = self.path_of(uri)
        if self.full and path is not None:
            return self.line(str(path), "", str(path))
        if size is None and path is not None:
            size = path.stat().st_size
        ending = visible_line(uri.rpartition("/")[2].partition(".")[2])
        shown = "" if size is None else shown_size(size)
        if path is None and not shown:
            return self.line(f"{ending or 'a file'} that is not there any more", DIM)
        return self.line(" ".join(filter(None, [shown, ending])) or "file")

    def path_of(self, uri: str) -> Path | None:
        """The path of an artifact or a file, when it is there."""
        if uri.startswith(URI_PREFIX):
            path = self.artifacts / uri.rpartition("/")[2] if self.artifacts else None
        else:
            path = Path(uri)
        try:
            return path if path is not None and path.is_file() else None
        except (OSError, ValueError):
            return None

    def mark(self, quote: Quote) -> Text:
        """The result of a quote's check, as a sign and a few words."""
        if not quote.mark:
            return self.line(quote.note, DIM)
        style, told = _CHECKED[quote.mark]
        noted = quote.note if quote.mark != "verified" else ""
        return self.joined([self.text(quote_sign(quote), style), self.line(noted or told, style)])

    def quote(self, quote: Quote, lines: int = 0) -> Text:
        """A quote with its place and its mark, cut to some lines in a summary."""
        words = self.line(f"“{quote.text}”") if quote.text else self.text()
        if lines:
            words = self.cut(words, lines, self.window.width - 12)
        return self.joined([words, self.place(quote.place), self.mark(quote)])

    def most(self, items: Sequence[object], limit: int) -> int:
        """Return the number of things that are shown; a single one more is shown as well."""
        count = len(items)
        return count if self.full or count <= limit + 1 else limit

    def leave(self, title: str, count: int, noun: str) -> None:
        """Remember what is not shown."""
        if count > 0:
            name = visible_line(title, NAME_CHARS)
            name = f"{name[:1].lower()}{name[1:]}" if name[1:].islower() else name
            counted = f"{count:,} {noun if count != 1 else noun.removesuffix('s')}"
            if not name or name == noun:
                self.left.append(counted)
            else:
                self.left.append(f"{name} ({counted})" if noun else name)

    def beside(self, width: int) -> Pen:
        """A pen for a part of the window."""
        return replace(self, window=replace(self.window, width=width))

    def more(self, total: int, shown: int) -> Text:
        """A line about things that are not even in the view, and the option that shows them."""
        count = total - shown
        told = f"{count:,} more {'is' if count == 1 else 'are'} not in this answer"
        option = next((name for name, length in self.limits.items() if length == shown), "")
        way = f"; {option} N shows more" if option else ""
        return self.line(f"{told}{way}.", DIM)

    def console(self, width: int = 0) -> Console:
        """A console that writes into a text."""
        import io

        from rich.console import Console

        return Console(
            file=io.StringIO(),
            width=width or self.window.width,
            color_system="standard" if self.window.colour else None,
            force_terminal=self.window.colour,
            legacy_windows=False,
            highlight=False,
            markup=False,
            emoji=False,
            _environ={},
        )

    def cut(self, text: Text, lines: int, width: int = 0) -> Text:
        """The text cut to some lines of the window, unless everything is shown."""
        width = max(min(width or self.window.width, self.window.width), 1)
        if self.full or len(text.plain) <= width // 2:
            return text
        folded = text.wrap(self.console(), width)
        if len(folded) <= lines:
            return text
        *first, last = folded[:lines]
        dots, whole = self.words("…"), last.plain
        last.truncate(max(width - len(dots), 0))
        last = last[: _word_end(last.plain, whole)]
        last.append(dots)
        return self.text("\n").join([*first, last])

    def clipped(
        self, shown: Sequence[RenderableType], lines: int, title: str, *, counted: bool = True
    ) -> RenderableType:
        """Running text of at most so many lines in a summary; counted where all of it is here."""
        from rich.console import Group
        from rich.segment import SegmentLines

        group = Group(*shown)
        width = min(self.window.width, WIDEST_TEXT)
        console = self.console(width)
        drawn = _trimmed(console.render_lines(group, pad=False))
        if not self.full and len(drawn) > lines + 2:
            self.leave(title, len(drawn) - lines, "lines" if counted else "")
            drawn = _trimmed(drawn[:lines])
        return SegmentLines(drawn, new_lines=True)

    def grid(self, *styles: str, gap: int = 2) -> Table:
        """Columns without lines around; the last one takes the room that is left."""
        from rich.table import Table

        made = Table.grid(padding=(0, gap, 0, 0), pad_edge=False)
        for number, style in enumerate(styles, 1):
            last = number == len(styles)
            side: JustifyMethod = "right" if style == TIME and not last else "left"
            made.add_column(style=style, overflow="fold", no_wrap=not last, justify=side)
        return made

    def _address(self, link: str) -> str:
        """An address that opens by a click, in signs that no terminal obeys; empty for none."""
        return opened(link) if self.window.links else ""


def _word_end(kept: str, whole: str) -> int:
    """The end of the last whole word of a cut line; the end of the line where none is near."""
    end = kept.rfind(" ", len(kept) // 2)
    cut = end >= 0 and whole[len(kept) :][:1] not in ("", " ")
    return len((kept[:end] if cut else kept).rstrip(" ·"))


def _trimmed(drawn: list[list[Segment]]) -> list[list[Segment]]:
    """Lines without the empty ones at their end."""
    while drawn and not "".join(segment.text for segment in drawn[-1]).strip():
        drawn.pop()
    return drawn
