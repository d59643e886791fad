"""Secrets among the arguments: typed unseen, or read from a pipe, so that no shell keeps them."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

import click

UNSEEN = "-"
"""The value that stands for a secret that is still to be typed."""


def is_secret(schema: Mapping[str, Any]) -> bool:
    """True for an argument that is declared as a secret, such as a password."""
    return bool(schema.get("writeOnly"))


def read_secret(flag: str) -> str:
    """Ask for a secret at a terminal; elsewhere read a line of standard input.

    Raises:
        click.BadParameter: when nothing is there.
    """
    if sys.stdin.isatty():
        label = flag.lstrip("-").replace("-", " ").capitalize()
        found: str = click.prompt(label, hide_input=True, err=True)
        return found
    line = sys.stdin.readline().rstrip("\r\n")
    if not line:
        raise click.BadParameter("- reads a line of standard input, and it is empty.")
    return line
