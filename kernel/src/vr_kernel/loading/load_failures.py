"""Plugins that took long to fail, remembered until they change, so each costs time once."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

Failure = dict[str, str]
"""`stamp`: the state of the plugin's files when it failed; `reason`: why it failed."""


class LoadFailures:
    """Reasons by the names of plugins, in one file; a file that cannot be used counts as empty."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._known: dict[str, Failure] | None = None

    def reason(self, name: str, stamp: Callable[[], str]) -> str:
        """Return the reason why a plugin failed; empty when it has changed since, or never failed.

        `stamp` is called only when a failure of the plugin is known.
        """
        failure = self._read().get(name)
        if failure is None or failure["stamp"] != stamp():
            return ""
        return failure["reason"]

    def keep(self, name: str, stamp: str, reason: str) -> None:
        """Remember a failure."""
        self._write({**self._read(), name: {"stamp": stamp, "reason": reason}})

    def forget(self, name: str) -> None:
        """Forget what was known of a plugin; harmless when nothing was."""
        known = self._read()
        if name in known:
            self._write({each: known[each] for each in known if each != name})

    def _read(self) -> dict[str, Failure]:
        if self._known is None:
            try:
                found = json.loads(self._path.read_bytes())
            except (OSError, ValueError, RecursionError):
                found = {}
            self._known = found if _is_whole(found) else {}
        return self._known

    def _write(self, known: dict[str, Failure]) -> None:
        self._known = known
        with suppress(OSError):
            if not known:
                self._path.unlink(missing_ok=True)
                return
            self._path.parent.mkdir(parents=True, exist_ok=True)
            fresh = self._path.with_suffix(f".{os.getpid()}.part")
            fresh.write_text(json.dumps(known), "utf-8")
            fresh.replace(self._path)


def _is_whole(found: object) -> bool:
    return isinstance(found, dict) and all(
        isinstance(failure, dict)
        and failure.keys() == {"stamp", "reason"}
        and all(isinstance(text, str) for text in failure.values())
        for failure in found.values()
    )
