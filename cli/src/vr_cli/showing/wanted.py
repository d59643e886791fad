"""The options with which a person says how a result is shown."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import click

_OURS = "shown__"
"""Begins the names of these options, which no argument of a tool has."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """The way in which a result is shown.

    Attributes:
        as_json: as JSON on stdout, for programs.
        full: all of it, where a summary is shown otherwise.
        output: in this file, of a kind that its ending says.
        force: even when that file exists.
        in_browser: as a page in the browser.
    """

    as_json: bool = False
    full: bool = False
    output: str | None = None
    force: bool = False
    in_browser: bool = False


def options(taken: Collection[str] = ()) -> list[click.Option]:
    """The options of each command that shows something, without the names that are taken."""
    output = "Write it to FILE: .md, .html, .json, .txt, or a file that the tool makes."
    made: list[tuple[list[str], str, dict[str, Any]]] = [
        (["-o", "--output"], "output", {"metavar": "FILE", "help": output}),
        (["--force"], "force", {"is_flag": True, "help": "Replace FILE when it exists."}),
        (["--open"], "in_browser", {"is_flag": True, "help": "Open it in the browser."}),
        (["--full"], "full", {"is_flag": True, "help": "Show all of it, not a summary."}),
        (["--json"], "as_json", {"is_flag": True, "help": "Print JSON."}),
    ]
    free = [([it for it in names if it not in taken], name, more) for names, name, more in made]
    return [click.Option([*names, _OURS + name], **more) for names, name, more in free if names]


def taken_from(given: dict[str, Any]) -> Wanted:
    """Take the options that are about showing out of all that were given."""
    names = [name for name in given if name.startswith(_OURS)]
    return Wanted(**{name.removeprefix(_OURS): given.pop(name) for name in names})
