"""Presents a view as a person wants it: in the window, as a file, in the browser."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click
from vr_kernel import Services, View, ViewRenderer, VrError, private_folder, visible, visible_line
from vr_kernel.text import spelled_json
from vr_kernel.views import as_markdown, as_text

from vr_cli.output import print_error, print_json, print_notes
from vr_cli.process.exits import Exit, exit_code
from vr_cli.showing.browser import moment_of, open_page, readable_name, renderer_of
from vr_cli.showing.output_file import OutputFile, unwritten
from vr_cli.showing.undrawn import UNDRAWN, plain_form, undrawable
from vr_cli.showing.wanted import Wanted
from vr_cli.showing.window import window_of


@dataclass(slots=True)
class Presented:
    """A thing that is about to be shown.

    Attributes:
        data: the JSON of it.
        view: None where nothing but the data is asked for.
        document: a text that stands alone on stdout, instead of the view.
        kept: the path of the file that was written.
        page: the page that is opened.
        failure: the reason why no file or page could be made.
        notes: remarks.
        said: a title that the reader knows already.
        limits: options that let a longer list through, with the length that they had.
        spelled: turns remarks into words of the command line.
    """

    data: Mapping[str, Any]
    view: View | None
    notes: tuple[str, ...] = ()
    said: str = ""
    document: str = ""
    limits: Mapping[str, int] = field(default_factory=dict)
    spelled: Callable[[str], str] = str
    kept: str = ""
    page: Path | None = None
    failure: VrError | None = field(default=None)


def require_pages(services: Services, wanted: Wanted) -> None:
    """Check that pages can be made, where one is wanted.

    Raises:
        VrError: UNAVAILABLE when nothing makes them.
    """
    if wanted.in_browser or (wanted.output or "").lower().endswith(".html"):
        renderer_of(services)


async def write_view(it: Presented, services: Services, target: OutputFile) -> None:
    """Write what is shown into a file, by its ending; a failure is kept for the end."""
    try:
        if target.ending == "html":
            target.write(await _page(it, services, target.path.parent))
        elif target.ending == "json":
            target.write(f"{spelled_json(it.data, 2)}\n")
        else:
            target.write(_drawn(it, services, as_markdown if target.ending == "md" else as_text))
        it.kept = target.named
    except VrError as error:
        it.failure = error


async def make_page(it: Presented, services: Services) -> None:
    """Make the page that is opened; a failure is kept for the end."""
    assert it.view is not None
    folder = services.paths.pages
    try:
        private_folder(folder)
        name = folder / f"{readable_name(it.view.title)}.html"
        target = OutputFile(name, str(name), replaces=True)
        target.write(await _page(it, services, folder))
        it.page = name
    except VrError as error:
        it.failure = error
    except OSError as error:
        it.failure = unwritten(str(folder), error)


async def _page(it: Presented, services: Services, folder: Path) -> str:
    """The view as a page; the plain values, where it cannot be drawn.

    Raises:
        VrError: when there is no page at all.
    """
    assert it.view is not None
    renderer = renderer_of(services)
    try:
        return await renderer.page(it.view, folder)
    except VrError:
        raise
    except Exception as error:  # noqa: BLE001 - whatever it is, the result is not lost
        _fall_back(it, services, error)
    try:
        return await renderer.page(it.view, folder)
    except Exception as error:
        raise undrawable(services.log, error) from error


def _drawn(it: Presented, services: Services, draw: Callable[[View], str]) -> str:
    """The view as text; the plain values, where it cannot be drawn."""
    assert it.view is not None
    try:
        return draw(it.view)
    except Exception as error:  # noqa: BLE001 - whatever it is, the result is not lost
        _fall_back(it, services, error)
        return draw(it.view)


def _fall_back(it: Presented, services: Services, error: Exception) -> None:
    it.view = plain_form(it.data, it.said, services.log, error)
    it.notes = (*it.notes, UNDRAWN)


def present(it: Presented, services: Services, wanted: Wanted) -> int:
    """Print what is to be printed, open what is to be opened, and return the exit code.

    Args:
        it: made by the functions above.
        services: of the kernel.
        wanted: the options.
    """
    opened = it.page is not None and open_page(it.page, moment_of(it.view) if it.view else 0.0)
    if opened:
        click.echo(f"Opened in the browser: {visible(str(it.page))}", err=True)
    if wanted.as_json:
        print_json(it.data)
    elif it.kept or it.page:
        _print_paths(it, opened=opened)
    elif it.document:
        _print_document(it)
    elif it.view is not None:
        _show(it, services, wanted)
    print_notes(it.notes, it.spelled)
    if it.failure is not None:
        with suppress(BrokenPipeError):
            sys.stdout.flush()
        print_error(it.failure)
        return exit_code(it.failure)
    return Exit.OK


def _print_document(it: Presented) -> None:
    """Print a document on stdout alone, and on stderr a line about it and its remarks.

    At a terminal one that is longer than the window goes through the reader's pager.
    """
    if sys.stdout.isatty():
        _turn_pages(visible(it.document).rstrip())
    else:
        click.echo(it.document.rstrip())
    if it.view is not None:
        if about := " · ".join(filter(None, it.view.about)):
            click.echo(visible_line(about), err=True)
        print_notes(it.view.notes, it.spelled)


def _turn_pages(text: str) -> None:
    window = shutil.get_terminal_size()
    lines = sum(1 + len(line) // max(window.columns, 1) for line in text.split("\n"))
    if lines < window.lines or not sys.stdin.isatty():
        click.echo(text)
    else:
        click.echo_via_pager(text)


def _print_paths(it: Presented, *, opened: bool) -> None:
    """Print the path of the file that was written, and of the page, where no browser shows it."""
    if it.kept:
        click.echo(_printed_path(it.kept))
    if it.page and not opened:
        if sys.stdout.isatty():
            click.echo("No browser could be opened here. This is the page:", err=True)
        click.echo(_printed_path(str(it.page)))


def _printed_path(path: str) -> str | bytes:
    """A path as a person reads it; in a pipe exactly as it is, for a program that opens it."""
    if sys.stdout.isatty() or sys.platform == "win32":
        return visible_line(path)
    return os.fsencode(path)


def _show(it: Presented, services: Services, wanted: Wanted) -> None:
    ways = ["--full", *(["--open"] if services.providers.names(ViewRenderer) else []), "-o FILE"]
    window, folder = window_of(sys.stdout), services.artifacts.folder

    def draw(view: View) -> str:
        from vr_cli.showing.pen import Pen
        from vr_cli.showing.terminal import drawn

        pen = Pen(window, wanted.full, folder, keeps=True, said=it.said, limits=it.limits)
        return drawn(view, pen, ways)

    click.echo(_drawn(it, services, draw), color=window.colour or None)
    if it.view is not None:
        print_notes([each for each in it.view.notes if each not in it.notes], it.spelled)
