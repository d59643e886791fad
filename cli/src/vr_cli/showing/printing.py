"""Prints views on stdout, and their remarks on stderr."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

import click
from vr_kernel.views import View

from vr_cli.output import print_notes


def print_view(
    view: View,
    *,
    full: bool,
    artifacts: Path,
    said: str = "",
    ways: Sequence[str] = ("--full",),
    limits: Mapping[str, int] = MappingProxyType({}),
    spelled: Callable[[str], str] = str,
) -> None:
    """Print a view for the window of this command.

    Args:
        view: what is shown.
        full: whether all of it is shown, or a summary.
        artifacts: the folder of artifacts.
        said: a title that the reader knows already.
        ways: options that show what a summary leaves out.
        limits: options that let a longer list through, with the length that they had.
        spelled: turns remarks into words of the command line.
    """
    from vr_cli.showing.pen import Pen
    from vr_cli.showing.terminal import drawn
    from vr_cli.showing.window import window_of

    window = window_of(sys.stdout)
    text = drawn(view, Pen(window, full, artifacts, "-o FILE" in ways, said, limits), ways)
    click.echo(text, color=window.colour or None)
    print_notes(view.notes, spelled)
