"""Discover plugins, decide from metadata, load the chosen ones under a deadline."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn, TypeVar

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from vr_kernel.errors import Code, VrError
from vr_kernel.text.bounds import MOST_SAID, said

if TYPE_CHECKING:
    from importlib_metadata import EntryPoint

    from vr_kernel.log import Log

T = TypeVar("T")
GROUP = "vr.plugins"
KERNEL_DISTRIBUTION = "vr-kernel"
INFRA = "infra"
"""Name of the plugin of the kernel's own tools."""
BUILT_IN = frozenset({INFRA, "gemini"})
"""Names of the plugins that come with the kernel; no other may use them."""
OFFERS = ("tools", "commands", "prompts", "resources", "record kinds", "providers")


class PluginState(StrEnum):
    """The state of an installed plugin."""

    LOADED = "loaded"
    BLOCKED = "blocked"
    INCOMPATIBLE = "incompatible"
    CONFLICT = "conflict"
    BROKEN = "broken"
    DEGRADED = "degraded"


@dataclass(slots=True)
class PluginStatus:
    """An installed plugin, its state, and the reason for that state."""

    name: str
    distribution: str = ""
    version: str = ""
    state: PluginState = PluginState.LOADED
    reason: str = ""
    tools: list[str] = field(default_factory=list)
    offers: dict[str, list[str]] = field(default_factory=lambda: {what: [] for what in OFFERS})
    """Names of everything that it offers, by kind."""
    module: str = ""
    """The module that is imported for it; empty for an object that is no module."""

    def fail(self, state: PluginState, reason: str) -> None:
        """Set the state of a failed plugin, with a reason that a person can act on."""
        self.state = state
        self.reason = f"{self.reason}; {reason}" if self.reason else reason

    @property
    def fine(self) -> bool:
        """True when the plugin is in the state that the user wants."""
        return self.state in (PluginState.LOADED, PluginState.BLOCKED)

    @property
    def what(self) -> str:
        """The sentence, without its full stop, that says what is wrong with it."""
        state = "in conflict" if self.state is PluginState.CONFLICT else self.state
        return f"Plugin {self.name} is {state}: {self.reason.rstrip('.')}"

    def as_error(self) -> VrError:
        """The error of strict configuration, which ends the program for a plugin like this."""
        return VrError(
            f"{self.what}.",
            Code.CONFLICT,
            category="PLUGIN_REFUSED",
            hint="Repair, remove or disable it; without VR_STRICT=1 all others are served.",
        )

    def as_broken(self) -> VrError:
        """The error of a call to a plugin that could not begin its work."""
        return VrError(
            f"{self.what}.",
            Code.UNAVAILABLE,
            category="PLUGIN_BROKEN",
            hint="`vr doctor` says how to repair it; a program that runs must be started again.",
        )


@dataclass(frozen=True, slots=True)
class Candidate:
    """A plugin known by its metadata only; nothing of it is imported yet.

    `stamp` changes when the installed files change; empty when that cannot be determined.
    """

    name: str
    distribution: str
    version: str
    requires: tuple[str, ...]
    load: Callable[[], object]
    stamp: Callable[[], str] = str
    module: str = ""

    def status(self) -> PluginStatus:
        """Its status before anything went wrong."""
        return PluginStatus(self.name, self.distribution, self.version, module=self.module)


def discover() -> list[Candidate]:
    """The installed plugins, sorted by name, then distribution."""
    from importlib_metadata import entry_points

    found = map(_candidate, entry_points(group=GROUP))
    return sorted(found, key=lambda c: (c.name, c.distribution))


def check(
    candidates: Iterable[Candidate],
    *,
    wanted: Sequence[str],
    disabled: Sequence[str],
    kernel_version: str,
) -> list[tuple[Candidate, PluginStatus]]:
    """Decide from metadata which candidates may be loaded."""
    checked: list[tuple[Candidate, PluginStatus]] = []
    owners: dict[str, str] = dict.fromkeys(BUILT_IN, KERNEL_DISTRIBUTION)
    for candidate in sorted(candidates, key=_rank):
        status = candidate.status()
        owner = owners.get(candidate.name)
        owners.setdefault(candidate.name, candidate.distribution)
        if owner is not None:
            status.fail(PluginState.CONFLICT, f"the name {candidate.name} belongs to {owner}")
        elif candidate.name in disabled or not ("*" in wanted or candidate.name in wanted):
            status.fail(PluginState.BLOCKED, "turned off by configuration")
        elif unmet := _unmet_requirement(candidate, kernel_version):
            status.fail(PluginState.INCOMPATIBLE, f"needs {unmet}, this is {kernel_version}")
        checked.append((candidate, status))
    return checked


def report(
    status: PluginStatus, log: Log, tell: Callable[[PluginStatus], None] | None, *, strict: bool
) -> None:
    """Report a plugin that is not fully available with `tell`, or to the log without it.

    Raises:
        VrError: CONFLICT, with `strict`.
    """
    if status.fine:
        return
    if strict:
        raise status.as_error()
    if tell is not None:
        tell(status)
    else:
        said = {"plugin": status.name, "state": status.state.value, "reason": status.reason}
        log.error("plugin is not loaded whole", **said)


def within(seconds: float, work: Callable[[], T]) -> T:
    """Run a plugin's code in a thread of its own, and give up on it after `seconds`.

    Raises:
        VrError: when it is not done in time (the thread is left behind), or raised what
            would end the program, such as `SystemExit`.
        Exception: what the code raised.
    """
    values: list[T] = []
    errors: list[BaseException] = []

    def target() -> None:
        try:
            values.append(work())
        except BaseException as error:  # noqa: BLE001 - a plugin must not end the program
            errors.append(error)

    thread = threading.Thread(target=target, name="vr-plugin-load", daemon=True)
    thread.start()
    thread.join(seconds)
    if errors:
        _reraise(errors[0])
    if not values:
        raise VrError(
            f"it took longer than {seconds:g} s to load (import_deadline_s in [kernel])",
            Code.UNAVAILABLE,
        )
    return values[0]


def explain(error: BaseException) -> str:
    """One line on why a plugin could not be loaded."""
    if isinstance(error, VrError):
        return error.told[:MOST_SAID]
    return said(error)


def _candidate(entry: EntryPoint) -> Candidate:
    distribution = entry.dist
    try:
        assert distribution is not None
        said = distribution.metadata  # read once, since each access parses it again
        name, version = said["Name"], said["Version"]
        requires = tuple(said.get_all("Requires-Dist") or distribution.requires or ())
    except Exception as error:  # noqa: BLE001 - metadata is a file that anything may have damaged
        return Candidate(entry.name, "", "", (), _damaged(explain(error)))
    beside = partial(distribution.locate_file, "")
    stamp = partial(_stamp, entry, version, beside)
    module = entry.value.partition(":")[0].strip()
    return Candidate(entry.name, name, version, requires, entry.load, stamp, module)


def _stamp(entry: EntryPoint, version: str, folder: Callable[[], object]) -> str:
    """A text that changes with a plugin's version, its files, and other installed packages."""
    from importlib.util import find_spec

    from vr_kernel.signatures.schema_cache import fingerprint

    try:
        installed = Path(str(folder())).stat().st_mtime_ns
        spec = find_spec(entry.module.partition(".")[0])
        places = (spec.submodule_search_locations or [spec.origin or ""]) if spec else []
        files = fingerprint([Path(place) for place in places])
    except Exception:  # noqa: BLE001 - finders are anybody's code; what is unknown is not kept
        return ""
    return f"{version} {installed} {files}"


def _damaged(reason: str) -> Callable[[], object]:
    def load() -> object:
        raise VrError(
            f"Its metadata is damaged ({reason}).",
            Code.UNAVAILABLE,
            hint="Install its distribution again, or remove what is left of it.",
        )

    return load


def _reraise(error: BaseException) -> NoReturn:
    if isinstance(error, Exception):
        raise error
    try:
        shown = repr(error)[:MOST_SAID]
    except BaseException:  # noqa: BLE001 - it is code of whoever wrote the class
        shown = type(error).__name__
    raise VrError(f"it raised {shown}, which would end the program", Code.UNAVAILABLE) from error


def _rank(candidate: Candidate) -> tuple[str, bool, str]:
    """Sort the distribution that has the plugin's name first, then by alphabet."""
    rightful = {f"vr-plugin-{candidate.name}", f"vr-{candidate.name}"}
    owns = canonicalize_name(candidate.distribution) in rightful
    return candidate.name, not owns, candidate.distribution


def _unmet_requirement(candidate: Candidate, kernel_version: str) -> str:
    for text in candidate.requires:
        if not canonicalize_name(text).startswith(KERNEL_DISTRIBUTION):
            continue  # most are others, and parsing takes long
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
