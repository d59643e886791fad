"""Questions of `vr init`, asked on stderr, and again after a bad answer."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click
from vr_kernel import VrError

from vr_cli.folding import folded

if TYPE_CHECKING:
    from vr_cli.onboarding.clients import Machine

T = TypeVar("T")
KEY_PAGE = "https://aistudio.google.com/apikey"
NONE = "none"
ERROR = "Error: "
"""Stands before what click says of an answer."""


def is_terminal() -> bool:
    """True when somebody can answer."""
    return sys.stdin.isatty()


def ask_folders(home: Path) -> list[Path]:
    """The folders that the server may read."""
    from vr_cli.onboarding.answers import allowed_folder

    def parsed(text: str) -> list[Path]:
        named = [part.strip() for part in text.split(os.pathsep) if part.strip()]
        between = f"{os.pathsep!r} stands between several"
        return [allowed_folder(part, home, several=between) for part in named]

    text = "Which folders may the server read? It always reads the one it is started in, unless"
    text += f" that is your home folder. Several are separated by {os.pathsep!r}; empty: no more."
    say(text, "1. ")
    return answer("Folders", parsed)


def ask_clients(found: Sequence[str], machine: Machine) -> list[str]:
    """The names of the clients to set up."""
    from vr_cli.onboarding.clients import NAMES, choose_clients

    def parsed(text: str) -> list[str]:
        named = [part for part in text.replace(",", " ").split() if part != NONE]
        choose_clients(named, machine, project=False)
        return named

    offered = "Empty takes those found here." if found else "None of them was found here."
    say(f"Which clients? Known: {', '.join(NAMES)}; or {NONE}. {offered}", "3. ")
    return answer("Clients", parsed, default=" ".join(found) or NONE)


def answer(
    question: str, parsed: Callable[[str], T], *, default: str = "", hide: bool = False
) -> T:
    """Ask a question until its answer can be parsed; `hide` shows nothing of what is typed."""

    def checked(text: str) -> T:
        try:
            return parsed(text)
        except VrError as error:
            told = "\n".join(folded(ERROR, error.told, sys.stderr))
            raise click.BadParameter(told.removeprefix(ERROR)) from None

    given: T = click.prompt(
        question,
        default=default,
        show_default=bool(default),
        hide_input=hide,
        value_proc=checked,
        err=True,
    )
    return given


def say(text: str, head: str = "") -> None:
    """Print a line beside the questions, after a head, folded for a terminal."""
    click.echo("\n".join(folded(head, text, sys.stderr)), err=True)
