"""A command of `vr` that is no tool: named here, imported when it runs."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Command:
    """A command line such as `vr video fetch-models`.

    `path` holds its words, `target` names a `click.Command` as `module:attribute`; the
    command finds the `Config` of this run in `click.get_current_context().obj`.
    """

    path: tuple[str, ...]
    help: str
    target: str
