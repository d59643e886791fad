"""Findings of an inspection: each check with what it found, and how to repair it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from vr_kernel import Diagnosis, Level
from vr_kernel.loading import explain

Finding = tuple[str, Diagnosis]
"""The name of a check, and what it found; a fault keeps the plugin, or a part of it, out."""


@dataclass(frozen=True, slots=True)
class Inspection:
    """All findings about one plugin."""

    plugin: str
    distribution: str
    version: str
    findings: tuple[Finding, ...]

    def count(self, level: Level) -> int:
        """Count the findings of a level."""
        return sum(found.level is level for _, found in self.findings)


def guarded(check: str, look: Callable[[], Iterable[Finding]], fix: str) -> list[Finding]:
    """The findings of a check; an exception becomes a fault, as plugins may return anything."""
    found: list[Finding] = []
    try:
        found += look()
    except Exception as failure:  # noqa: BLE001 - whatever a plugin's objects raise is a finding
        what = f"It cannot be looked at: {explain(failure)}"
        found.append((check, Diagnosis.fault(what, fix)))
    return found


def or_ok(check: str, found: Iterable[Finding], summary: str) -> Iterator[Finding]:
    """The findings of a check, or that it passed when there are none."""
    findings = list(found)
    yield from findings or [(check, Diagnosis.ok(summary))]
