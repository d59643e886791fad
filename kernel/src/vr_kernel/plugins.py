"""Discover plugins, decide from metadata, load the chosen ones under a deadline."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeVar

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from vr_kernel.errors import VrError

T = TypeVar("T")
GROUP = "vr.plugins"
KERNEL_DISTRIBUTION = "vr-kernel"


class State(StrEnum):
    """What became of an installed plugin."""

    LOADED = "loaded"
    BLOCKED = "blocked"
    INCOMPATIBLE = "incompatible"
    CONFLICT = "conflict"
    BROKEN = "broken"
    DEGRADED = "degraded"


@dataclass(slots=True)
class PluginStatus:
    """An installed plugin: what it is, and whether and why (not) it takes part."""

    name: str
    distribution: str = ""
    version: str = ""
    state: State = State.LOADED
    reason: str = ""
    tools: list[str] = field(default_factory=list)

    def fail(self, state: State, reason: str) -> None:
        """Take the plugin out, or mark it, with a reason a person can act on."""
        self.state, self.reason = state, reason


@dataclass(frozen=True, slots=True)
class Candidate:
    """A plugin known by its metadata alone; nothing of it is imported yet."""

    name: str
    distribution: str
    version: str
    requires: tuple[str, ...]
    load: Callable[[], object]

    def status(self) -> PluginStatus:
        """Its status before anything went wrong."""
        return PluginStatus(self.name, self.distribution, self.version)


def discover() -> list[Candidate]:
    """The installed plugins, sorted by name, then distribution."""
    from importlib_metadata import entry_points

    found = []
    for entry in entry_points(group=GROUP):
        distribution = entry.dist
        if distribution is None:
            continue
        found.append(
            Candidate(
                name=entry.name,
                distribution=distribution.name,
                version=distribution.version,
                requires=tuple(distribution.requires or ()),
                load=entry.load,
            )
        )
    return sorted(set(found), key=lambda c: (c.name, c.distribution))


def check(
    candidates: Iterable[Candidate],
    *,
    wanted: Sequence[str],
    disabled: Sequence[str],
    kernel_version: str,
) -> list[tuple[Candidate, PluginStatus]]:
    """Decide from metadata which candidates may be loaded."""
    checked: list[tuple[Candidate, PluginStatus]] = []
    owners: dict[str, Candidate] = {}
    for candidate in sorted(candidates, key=_rank):
        status = candidate.status()
        owner = owners.setdefault(candidate.name, candidate)
        if owner is not candidate:
            status.fail(State.CONFLICT, f"the name belongs to {owner.distribution}")
        elif candidate.name in disabled or not ("*" in wanted or candidate.name in wanted):
            status.fail(State.BLOCKED, "turned off by configuration")
        elif unmet := _unmet_requirement(candidate, kernel_version):
            status.fail(State.INCOMPATIBLE, f"needs {unmet}, this is {kernel_version}")
        checked.append((candidate, status))
    return checked


class DeadlineError(Exception):
    """A plugin took too long to load."""


def within(seconds: float, work: Callable[[], T]) -> T:
    """Run a plugin's code in a thread of its own, and give up on it after `seconds`.

    Raises:
        DeadlineError: when it is not done in time; the thread is left behind.
        Exception: what the code raised, `SystemExit` included.
    """
    values: list[T] = []
    errors: list[BaseException] = []

    def target() -> None:
        try:
            values.append(work())
        except BaseException as error:  # noqa: BLE001 - SystemExit of a plugin must not end us
            errors.append(error)

    thread = threading.Thread(target=target, name="vr-plugin-load", daemon=True)
    thread.start()
    thread.join(seconds)
    if errors:
        raise errors[0]
    if not values:
        raise DeadlineError(f"took longer than {seconds:g} s")
    return values[0]


def explain(error: BaseException) -> str:
    """One line on why a plugin could not be loaded."""
    if isinstance(error, VrError):
        return f"{error.message} {error.hint}".strip()
    return f"{type(error).__name__}: {error}".splitlines()[0]


def _rank(candidate: Candidate) -> tuple[str, bool, str]:
    """First the distribution that a name belongs to by its own name, then by alphabet."""
    rightful = {f"vr-plugin-{candidate.name}", f"vr-{candidate.name}"}
    owns = canonicalize_name(candidate.distribution) in rightful
    return candidate.name, not owns, candidate.distribution


def _unmet_requirement(candidate: Candidate, kernel_version: str) -> str:
    for text in candidate.requires:
        try:
            requirement = Requirement(text)
        except InvalidRequirement:
            continue
        if canonicalize_name(requirement.name) != KERNEL_DISTRIBUTION:
            continue
        if requirement.marker is not None and not requirement.marker.evaluate({"extra": ""}):
            continue
        if not requirement.specifier.contains(kernel_version, prereleases=True):
            return str(requirement)
    return ""
