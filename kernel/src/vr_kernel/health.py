"""Checks that `vr doctor` makes, and their findings."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import StrEnum

DEADLINE_S = 5.0


class Level(StrEnum):
    """Severity of a finding; only a fault makes `vr doctor` fail."""

    OK = "ok"
    WARNING = "warning"
    FAULT = "fault"


@dataclass(frozen=True, slots=True)
class Remedy:
    """A command that fetches what a check found missing; `vr init` offers to run it.

    `command` holds its words behind `vr`, `question` says what is fetched, from where, and how
    large it is.
    """

    command: tuple[str, ...]
    question: str


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """Finding of a check: one line on the state, and one on how to repair it."""

    level: Level
    what: str
    fix: str = ""
    remedy: Remedy | None = None

    @classmethod
    def ok(cls, what: str) -> Diagnosis:
        """Everything is in order."""
        return cls(Level.OK, what)

    @classmethod
    def warning(cls, what: str, fix: str, remedy: Remedy | None = None) -> Diagnosis:
        """Something is missing or worse than it could be; the program works."""
        return cls(Level.WARNING, what, fix, remedy)

    @classmethod
    def fault(cls, what: str, fix: str) -> Diagnosis:
        """Something does not work."""
        return cls(Level.FAULT, what, fix)


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that `vr doctor` looks at.

    Args:
        name: one to four words, such as `speech model`.
        examine: looks, changes nothing, asks no network; a plain function runs in a thread of
            its own, a coroutine function in the event loop. An exception counts as a fault, and the
            hint of a `VrError` says how to repair it.
        deadline_s: seconds after which it counts as hanging, which is a fault as well.
    """

    name: str
    examine: Callable[[], Diagnosis | Awaitable[Diagnosis]]
    deadline_s: float = DEADLINE_S
