"""Text for people: results on stdout, progress and errors on stderr."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click
from vr_kernel import VrError, visible
from vr_kernel.text import bounded, spelled_json

from vr_cli.folding import columns_of, folded

if TYPE_CHECKING:
    from vr_kernel.loading import PluginStatus

INDENT = "  "
ROW_WIDTH = 120
"""Longest item, in characters, with which each item of a list is shown on one line."""
STEP_PERCENT = 5.0
"""Least progress between two printed lines, where a line cannot be rewritten."""
WHOLE = 100.0
PACE_S = 3.0
"""Seconds of work before the remaining time is shown."""
PACE_PERCENT = 1.0
"""Progress before the remaining time is shown."""


def print_result(data: Mapping[str, Any], notes: tuple[str, ...], *, as_json: bool) -> None:
    """Print a tool's result, and its remarks on stderr."""
    if as_json:
        print_json(data)
    else:
        click.echo("\n".join(lines_of(data)))
    print_notes(notes)


def print_notes(notes: Sequence[str], spelled: Callable[[str], str] = str) -> None:
    """Print a result's remarks on stderr; `spelled` turns them into words of the command line."""
    for note in notes:
        _print_folded("Note: ", visible(spelled(note)))


def one_line(text: str) -> str:
    """The text with each run of white space as one space."""
    return " ".join(text.split())


def _print_folded(head: str, text: str) -> None:
    """Print a text on stderr, each of its lines folded for a terminal."""
    for line in f"{head}{text}".split("\n"):
        click.echo("\n".join(folded("", line, sys.stderr)), err=True)


def finding_lines(head: str, what: str, fix: str) -> Iterator[str]:
    """The lines of a finding after its head, and of its fix below."""
    yield from folded(head, one_line(what))
    if fix:
        yield from folded(" " * len(head), f"Fix: {one_line(fix)}")


def print_error(
    error: VrError,
    call_id: str = "",
    *,
    as_json: bool = False,
    spelled: Callable[[str], str] = str,
) -> None:
    """Print an error and its hint; `spelled` turns a text into the words of the command line."""
    if as_json:
        print_error_json(error, call_id)
    _print_folded("Error: ", visible(spelled(bounded(error.message))))
    if error.hint:
        _print_folded("Hint: ", visible(spelled(bounded(error.hint))))


def print_error_json(error: VrError, call_id: str = "") -> None:
    """Print an error for programs, on stdout."""
    print_json({"error": error.as_dict(call_id)})


def print_json(value: Any, indent: int | None = 2) -> None:
    """Print a value for programs; control characters of terminals are escaped."""
    click.echo(spelled_json(value, indent))


def print_broken(status: PluginStatus) -> None:
    """Say on stderr that a plugin is not served in full, and that `vr doctor` says more."""
    _print_folded("", visible(f"{status.what}; see `vr doctor`."))


def lines_of(data: Mapping[str, Any], indent: str = "") -> Iterator[str]:
    """A nested result as indented text, without empty fields."""
    for key, value in data.items():
        if value is None or value in ("", [], {}):
            continue
        label = f"{indent}{visible(key).replace('_', ' ')}:"
        if isinstance(value, Mapping):
            yield label
            yield from lines_of(value, indent + INDENT)
        elif isinstance(value, list):
            yield label
            yield from _items(value, indent + INDENT)
        else:
            yield f"{label} {_scalar(value, indent)}"


class ProgressLine:
    """Progress on stderr: one line that is rewritten on a terminal, a few lines elsewhere.

    Args:
        what: stands before each report, such as which of several sources it is about.
        clock: gives seconds, to estimate the remaining time.
    """

    def __init__(self, what: str = "", clock: Callable[[], float] = time.monotonic) -> None:
        self._what = f"{visible(what)}: " if what else ""
        self._clock = clock
        self._begun: tuple[float, float] | None = None
        self._terminal = sys.stderr.isatty()
        self._last = self._drawn = ""
        self._shown = -STEP_PERCENT

    def __call__(self, done: float, total: float | None, message: str) -> None:
        """Show a report; safe from any thread."""
        message = visible(message)
        percent = 100 * done / total if total else None
        text = message
        if percent is not None:
            text = f"{percent:3.0f} % {message}"
            left = self._left(percent)
            text += "" if message.endswith(" left") else left
        text = f"{self._what}{text.strip()}"
        if self._terminal:
            fitting = text[: columns_of(sys.stderr) - 1]
            if fitting != self._drawn:
                click.echo(f"\r\033[K{fitting}", nl=False, err=True)
            self._drawn = fitting
        elif message != self._last and (percent is None or percent >= self._shown + STEP_PERCENT):
            click.echo(text, err=True)
            self._shown = self._shown if percent is None else percent
        self._last = message

    def finish(self) -> None:
        """Clear the line."""
        if self._terminal and self._last:
            click.echo("\r\033[K", nl=False, err=True)

    def _left(self, percent: float) -> str:
        """The remaining time at the pace so far, in words; empty before there is a pace."""
        from vr_kernel.running import time_words

        now = self._clock()
        if self._begun is None or percent < self._begun[1]:
            self._begun = now, percent
        begun, first = self._begun
        if now - begun < PACE_S or percent - first < PACE_PERCENT or percent >= WHOLE:
            return ""
        left = (now - begun) * (WHOLE - percent) / (percent - first)
        return f", {time_words(left)}"


def _items(values: list[Any], indent: str) -> Iterator[str]:
    inner = indent + INDENT
    shown = [
        list(lines_of(value, inner))
        if isinstance(value, Mapping)
        else [f"{inner}{_scalar(value, indent)}"]
        for value in values
    ]
    rows = ["; ".join(line.strip() for line in lines) for lines in shown]
    if not any(map(_is_nested, values)) and max(map(len, rows)) <= ROW_WIDTH:
        shown = [[inner + row] for row in rows]
    for first, *rest in filter(None, shown):
        yield f"{indent}- {first[len(inner) :]}"
        yield from rest


def _is_nested(item: Any) -> bool:
    """True for a value that cannot stand on one line, however long the line is."""
    parts = item.values() if isinstance(item, Mapping) else [item]
    return any("\n" in str(part) or (part and isinstance(part, Mapping | list)) for part in parts)


def _scalar(value: Any, indent: str) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.3f}".rstrip("0").rstrip(".")
    return visible(str(value)).replace("\n", f"\n{indent}{INDENT}")
