"""What a tool call is handed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from vr_kernel.artifacts import Artifact
from vr_kernel.log import Log
from vr_kernel.records import Record
from vr_kernel.services import Services

ProgressReport = Callable[[float, float | None, str], None]


@dataclass(frozen=True, slots=True)
class Kept:
    """A result on its way into the cache."""

    key: str
    value: dict[str, Any]
    content_id: str
    model: str


@dataclass(slots=True)
class Call:
    """One call of one tool: services, identity, progress, and what it produces.

    Safe to use from worker threads. Records are kept until the tool succeeds and are then
    committed by the runner, together or not at all.
    """

    id: str
    tool: str
    services: Services
    principal: str
    log: Log
    report: ProgressReport
    records: list[Record] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    kept: list[Kept] = field(default_factory=list)
    essential: bool = False

    @property
    def settings(self) -> Any:
        """The calling plugin's own validated settings."""
        return self.services.settings

    @property
    def workspace(self) -> str:
        """The workspace that records of this call belong to."""
        return self.services.workspace

    def progress(self, done: float, total: float | None = None, message: str = "") -> None:
        """Say how far the work is; cheap, never waits, may be called from any thread."""
        self.report(done, total, message)

    def record(self, *records: Record, essential: bool = False) -> None:
        """Keep records to be journalled when the tool succeeds.

        When the journal cannot be written the result is given with a remark; with `essential`
        the call fails instead, because without its records the result is worth nothing.
        """
        self.records.extend(records)
        self.essential = self.essential or essential

    def keep(
        self, key: str, value: dict[str, Any], *, content_id: str = "", model: str = ""
    ) -> None:
        """Keep a result in the cache once the records of this call are journalled.

        A hit records nothing, so nothing may be cached whose records could be missing.
        """
        self.kept.append(Kept(key, value, content_id, model))

    def note(self, message: str) -> None:
        """Add a remark that reaches the caller beside the result, such as a degraded service."""
        self.notes.append(message)

    def artifact(self, content: bytes | Path, mime: str) -> Artifact:
        """Keep bytes, or a copy of a file, in the artifacts folder.

        Raises:
            VrError: UNAVAILABLE when the folder cannot be written.
        """
        return self.services.artifacts.add(content, mime)
