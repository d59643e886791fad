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
    """

    as_json: bool = False
    full: bool = False


def options(taken: Collection[str] = ()) -> list[click.Option]:
    """The options of each command that shows a result, without the names that are taken."""
    full, as_json = "Show all of it, not a summary.", "Print JSON."
    made = [
        click.Option(["--full", f"{_OURS}full"], is_flag=True, help=full),
        click.Option(["--json", f"{_OURS}as_json"], is_flag=True, help=as_json),
    ]
    return [option for option in made if not {*option.opts} & {*taken}]


def taken_from(given: dict[str, Any]) -> Wanted:
    """Take the options that are about showing out of all that were given."""
    names = [name for name in given if name.startswith(_OURS)]
    return Wanted(**{name.removeprefix(_OURS): given.pop(name) for name in names})
