"""Records one call of a tool, for the tests of its author."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from vr_kernel.errors import VrError
from vr_kernel.files.artifacts import Artifact, Artifacts
from vr_kernel.generation import Usage
from vr_kernel.kernel import Kernel
from vr_kernel.protocols.records import Journal
from vr_kernel.records import Change
from vr_kernel.running.runner import Outcome


@dataclass(frozen=True, slots=True)
class Progress:
    """A report of a tool: how much is done, of how much when that is known."""

    done: float
    total: float | None
    message: str


@dataclass(frozen=True, slots=True)
class LogLine:
    """A line of the log, of any level; `exception` is the one whose traceback it would show."""

    level: str
    event: str
    fields: Mapping[str, Any]
    exception: BaseException | None = None


@dataclass(frozen=True, slots=True)
class RecordedCall:
    """The outcome of a call, and all that it left behind.

    Attributes:
        outcome: as a server or a command gets it.
        progress: its progress reports, in order.
        records: the records it wrote to the journal, in order.
        artifacts: files that were not kept before, by name.
        log: what the whole kernel logged meanwhile.
    """

    outcome: Outcome
    progress: tuple[Progress, ...] = ()
    records: tuple[Change, ...] = ()
    artifacts: tuple[Artifact, ...] = ()
    log: tuple[LogLine, ...] = ()

    @property
    def result(self) -> Any:
        """The result of the tool; None when it raised."""
        return self.outcome.result

    @property
    def data(self) -> Mapping[str, Any]:
        """The result as a client reads it; empty when the tool raised."""
        return self.outcome.data

    @property
    def error(self) -> VrError | None:
        """The error that a caller gets in place of a result."""
        return self.outcome.error

    @property
    def notes(self) -> tuple[str, ...]:
        """Remarks beside the result."""
        return self.outcome.notes

    @property
    def usage(self) -> Usage | None:
        """The cost of the language models that were asked."""
        return self.outcome.usage


async def record_call(kernel: Kernel, name: str, arguments: Mapping[str, Any]) -> RecordedCall:
    """Call a tool and record what it does; an error is part of the returned record.

    Raises:
        VrError: NOT_FOUND for an unknown tool.
    """
    progress: list[Progress] = []
    log: list[LogLine] = []

    def report(done: float, total: float | None, message: str) -> None:
        progress.append(Progress(done, total, message))

    def hear(level: str, event: str, fields: Mapping[str, Any]) -> None:
        exception = sys.exception() if "exc_info" in fields else None
        kept = {name: value for name, value in fields.items() if name != "exc_info"}
        log.append(LogLine(level, event, kept, exception))

    start = await kernel.services.journal.last_seq()
    known = await asyncio.to_thread(_names, kernel.services.artifacts)
    with kernel.log.heard_by(hear):
        outcome = await kernel.run(name, arguments, report)
    made = await asyncio.to_thread(_names, kernel.services.artifacts)
    return RecordedCall(
        outcome,
        progress=tuple(progress),
        records=tuple(await _records(kernel.services.journal, start, outcome.call_id)),
        artifacts=tuple(kernel.services.artifacts.find(file) for file in sorted(made - known)),
        log=tuple(log),
    )


async def _records(journal: Journal, start: int, call_id: str) -> list[Change]:
    found: list[Change] = []
    while changes := await journal.changes(start):
        start = changes[-1].seq
        found += [change for change in changes if change.provenance.get("call_id") == call_id]
    return found


def _names(artifacts: Artifacts) -> set[str]:
    folder = artifacts.folder
    if not folder.is_dir():
        return set()
    return {path.name for path in folder.iterdir() if not path.name.startswith(".")}
