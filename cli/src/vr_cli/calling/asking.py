"""Asks a tool's questions on the terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, get_args

import click
from pydantic.fields import FieldInfo
from vr_kernel import Answer, Asker, Question, ask_nobody, visible


def terminal_asker(clear: Callable[[], None]) -> Asker:
    """Asks the person at the terminal, if there is one; `clear` makes room for a question."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return ask_nobody

    async def ask(question: Question, *, paid: bool) -> Answer:
        del paid
        clear()
        click.echo(question.text, err=True)
        try:
            fields = question.answer.model_fields.items()
            return Answer("accept", {name: _ask(name, field) for name, field in fields})
        except click.Abort:
            return Answer("cancel")

    return ask


def _ask(name: str, field: FieldInfo) -> Any:
    label = f"  {visible(field.description or name)}"
    default = None if field.is_required() else field.get_default(call_default_factory=True)
    if field.annotation is bool:
        return click.confirm(label, default=default, err=True)
    choices = [each for each in get_args(field.annotation) if isinstance(each, str)]
    kind = click.Choice(choices) if choices else None
    # An empty answer needs no brackets with nothing between them.
    shows = default not in (None, "")
    return click.prompt(label, default=default, type=kind, show_default=shows, err=True)
