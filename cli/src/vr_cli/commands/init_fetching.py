"""Downloads that `vr init` offers: what plugins lack, such as a speech model."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click
from vr_kernel import visible

from vr_cli.commands.init_questions import is_terminal

if TYPE_CHECKING:
    from vr_kernel import Remedy

NOBODY = "Nobody can be asked here. Add --yes, or --dry-run to only look."


def choose_remedies(number: str, *, yes: bool) -> list[Remedy]:
    """The remedies to run for what plugins lack: all with `yes`, else those a person agrees to.

    `number` is printed before the question.

    Raises:
        click.UsageError: when something is missing and nobody can be asked.
    """
    from vr_cli.configuration import config_with
    from vr_cli.doctor.remedies import find_remedies

    found = find_remedies(config_with(click.get_current_context(), {"kernel.strict": "false"}))
    if yes:
        return found
    if found and not is_terminal():
        raise click.UsageError(NOBODY)
    return [
        each
        for each in found
        if click.confirm(f"{number}{visible(each.question)}", default=False, err=True)
    ]


def words_of(remedy: Remedy) -> str:
    """The command to type that runs a remedy."""
    return f"vr {shlex.join(remedy.command)}"


def fetch_all(remedies: Sequence[Remedy]) -> dict[str, int]:
    """Run the commands one after another, as if they were typed, and return their exit codes."""
    from vr_cli.process.streams import diverted_stdout
    from vr_cli.running import run_command

    root = click.get_current_context().find_root()
    options = [part for setting in root.params["settings"] for part in ("--set", setting)]
    with diverted_stdout():
        return {
            words_of(each): run_command(root.command, [*options, *each.command])
            for each in remedies
        }
