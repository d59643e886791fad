"""What an inspection finds: one line a check, and what to do about it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from vr_kernel.loading import explain


class Level(StrEnum):
    """How bad it is: an error keeps the plugin, or a part of it, from being served rightly."""

    OK = "ok"
    WARNING = "warning"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check found, and in one line how to repair it."""

    check: str
    level: Level
    message: str
    fix: str = ""


@dataclass(frozen=True, slots=True)
class Inspection:
    """All findings about one plugin."""

    plugin: str
    distribution: str
    version: str
    findings: tuple[Finding, ...]

    def count(self, level: Level) -> int:
        """How many findings are that bad."""
        return sum(finding.level is level for finding in self.findings)


def ok(check: str, message: str) -> Finding:
    """A check that passed, with what it looked at."""
    return Finding(check, Level.OK, _line(message))


def warning(check: str, message: str, fix: str) -> Finding:
    """Something that users of the plugin would mind."""
    return Finding(check, Level.WARNING, _line(message), _line(fix))


def error(check: str, message: str, fix: str) -> Finding:
    """Something that the kernel refuses."""
    return Finding(check, Level.ERROR, _line(message), _line(fix))


def guarded(check: str, look: Callable[[], Iterable[Finding]], fix: str) -> list[Finding]:
    """The findings of a check, with an error for what it raised: plugins offer anything."""
    found: list[Finding] = []
    try:
        found += look()
    except Exception as failure:  # noqa: BLE001 - whatever a plugin's objects raise is a finding
        found.append(error(check, f"It cannot be looked at: {explain(failure)}", fix))
    return found


def or_ok(check: str, found: Iterable[Finding], summary: str) -> Iterator[Finding]:
    """The findings of a check, or that it passed when there are none."""
    findings = list(found)
    yield from findings or [ok(check, summary)]


def _line(text: str) -> str:
    return " ".join(text.split())
