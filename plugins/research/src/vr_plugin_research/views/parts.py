"""Parts of views: lists, facts, texts, and words for counts and scores."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from vr_kernel import visible_line
from vr_kernel.views import Block, Cell, Facts, Prose

from vr_plugin_research.results.claims import CheckScore

ID_CHARS = 20
"""Longest id that is shown as it is; of a longer one the beginning is enough for `vr show`."""
SHORT_CHARS = 8


def counted(count: int, noun: str, nouns: str = "") -> str:
    """A number of things in words; `nouns` where its plural is not made with an `s`."""
    return f"{count:,} {noun if count == 1 else nouns or f'{noun}s'}"


def percent(share: float) -> str:
    """A part from 0 to 1 in words."""
    return f"{min(max(share, 0.0), 1.0):.0%}".replace("%", " %")


def part(value: float) -> str:
    """A number from 0 to 1 with two digits."""
    return f"{value:.2f}"


def score_words(score: CheckScore) -> str:
    """The counts of a check in words; empty without quotes."""
    if not score.quotes:
        return ""
    return f"{score.verified + score.moved:,} of {counted(score.quotes, 'quote')} stand"


def short_id(id: str) -> str:  # noqa: A002 - the word for it
    """An id as people read it."""
    shown = visible_line(id)
    return shown if len(shown) <= ID_CHARS else shown[:SHORT_CHARS]


def told(items: Iterable[str]) -> list[str]:
    """Short texts without the empty ones."""
    return [each for each in items if each]


def listed(title: str, items: Sequence[str], *, detail: bool = False) -> list[Block]:
    """Texts as a list; nothing without them."""
    lines = [f"- {line}" for item in items if (line := visible_line(item))]
    return prose(title, "\n".join(lines), detail=detail)


def prose(title: str, text: str, *, detail: bool = False) -> list[Block]:
    """A text; nothing for an empty one."""
    return [Prose(text, title=title, detail=detail)] if text.strip() else []


def facts(title: str, rows: Iterable[tuple[str, Cell]], *, detail: bool = False) -> list[Block]:
    """Names with their values; those without a value are left out."""
    known = [(name, value) for name, value in rows if value not in (None, "")]
    return [Facts(known, title=title, detail=detail)] if known else []
