"""The plain values, which stand for a view that cannot be drawn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from vr_kernel import Code, Log, VrError
from vr_kernel.views import Code as Lines
from vr_kernel.views import View

from vr_cli.output import lines_of

UNDRAWN = "The view could not be drawn; these are the plain values."


def plain_form(data: Mapping[str, Any], title: str, log: Log, error: Exception) -> View:
    """A view of the values alone, in the one block that every drawing can draw."""
    told(log, error)
    return View(title or "Result", [Lines("\n".join(lines_of(data)))], notes=[UNDRAWN])


def undrawable(log: Log, error: Exception) -> VrError:
    """The error of what draws nothing at all."""
    told(log, error)
    hint = "Give a file with .md, .txt or .json."
    return VrError("No page could be made.", Code.INTERNAL, category="PAGE_FAILED", hint=hint)


def told(log: Log, error: Exception) -> None:
    """Log what went wrong, for those who look for it."""
    log.info("a view could not be drawn", error=f"{type(error).__name__}: {error}")
