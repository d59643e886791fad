"""A plugin to inspect, as its metadata describes it, before any of its code runs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from packaging.utils import canonicalize_name
from vr_kernel.loading import Candidate


@dataclass(frozen=True, slots=True)
class Metadata:
    """The metadata of a distribution; a field that is not given is empty."""

    name: str
    version: str = ""
    summary: str = ""
    readme: bool = False
    licence: str = ""
    requires_python: str = ""
    requires: tuple[str, ...] = ()
    dynamic: frozenset[str] = frozenset()
    """Keys of `[project]` whose values only a build would tell."""


@dataclass(frozen=True, slots=True)
class Subject:
    """One plugin: an entry point of a distribution that is installed, or of a project.

    `target` is the entry point's value and `source` the folder that its module lies in; both
    are empty for an installed plugin, which is found as the kernel finds it.
    """

    name: str
    metadata: Metadata
    module: str
    target: str = ""
    source: Path | None = None

    def candidate(self) -> Candidate:
        """The plugin as a candidate for the kernel's choice; it cannot be loaded from here."""
        meta = self.metadata
        return Candidate(self.name, meta.name, meta.version, meta.requires, lambda: None)

    def is_of(self, distribution: str) -> bool:
        """True when that distribution is the plugin's own."""
        return canonicalize_name(distribution) == canonicalize_name(self.metadata.name)
