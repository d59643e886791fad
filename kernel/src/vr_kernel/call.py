"""What a tool call is handed."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar, cast

from pydantic import BaseModel

from vr_kernel.content import Content
from vr_kernel.files.artifacts import Artifact
from vr_kernel.jobs.leases import Lease
from vr_kernel.jobs.ledger import complete
from vr_kernel.jobs.scopes import Scope
from vr_kernel.log import Log
from vr_kernel.models.usage import Meter
from vr_kernel.questions import Asker, Question, ask_nobody, understand
from vr_kernel.records import Record
from vr_kernel.services import Services

M = TypeVar("M", bound=BaseModel)
ProgressReport = Callable[[float, float | None, str], None]


@dataclass(frozen=True, slots=True)
class Kept:
    """A result on its way into the cache."""

    key: str
    value: dict[str, Any]
    content_id: str
    model: str
    over: bool = True


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
    meter: Meter
    scope: Scope | None = None
    steps_version: str = ""
    repeatable: bool = True
    records: list[Record] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    kept: list[Kept] = field(default_factory=list)
    essential: bool = False
    held: list[Lease] = field(default_factory=list)
    asker: Asker = ask_nobody
    shown: list[Content] = field(default_factory=list)
    forgotten: list[tuple[str, str]] = field(default_factory=list)
    owed: list[Call] = field(default_factory=list)
    """Shared work whose result others have already: journalled even when this call fails."""
    recorded: int = 0
    """How many records are in the journal already, before the end of the call."""

    @property
    def settings(self) -> Any:
        """The calling plugin's own validated settings."""
        return self.services.settings

    @property
    def workspace(self) -> str:
        """The workspace that records of this call belong to."""
        return self.services.workspace

    def progress(self, done: float, total: float | None = None, message: str = "") -> None:
        """Say how far the work is; cheap, never waits, may be called from any thread.

        What steers a terminal, is not seen or is a secret is taken out of the message.
        """
        self.report(done, total, self.log.clean(message))

    def record(self, *records: Record, essential: bool = False) -> None:
        """Keep records to be journalled when the tool succeeds.

        When the journal cannot be written the result is given with a remark; with `essential`
        the call fails instead, because without its records the result is worth nothing.
        """
        self.records.extend(records)
        self.essential = self.essential or essential

    def forget(self, kind: str, *keys: str) -> None:
        """Have records deleted when the tool succeeds, in the journal and in every store.

        Unlike a result whose records cannot be written, such a call fails when the journal does.
        """
        self.forgotten.extend((kind, key) for key in keys)
        self.essential = True

    def keep(
        self,
        key: str,
        value: dict[str, Any] | BaseModel,
        *,
        content_id: str = "",
        model: str = "",
        over: bool = True,
    ) -> None:
        """Keep a result in the cache once the records of this call are journalled.

        A hit records nothing, so nothing may be cached whose records could be missing. A model
        is found again by `services.cache.model(key, Model)`. Without `over` it does not take the
        place of one that is there.
        """
        if isinstance(value, BaseModel):
            place = self.services.cache.model(key, type(value))
            key, value = place.key, place.dump(value)
        self.kept.append(Kept(key, value, content_id, model, over))

    async def once(
        self,
        key: str,
        result: type[M],
        produce: Callable[[Call], Awaitable[M]],
        *,
        content_id: str = "",
        looked: bool = False,
    ) -> M:
        """The cached result of `key`, or what `produce` makes, which is then kept in the cache.

        However many callers ask at the same time, in however many processes, one of them
        produces; the others get its result, with `cached` true when the model has that field.
        `produce` gets the call to work with: what it records, notes and pays belongs to one of
        those who wait. Set `repeatable` of that call to False when the result is not to be
        kept. Replies of models and steps in it are committed as they come: after a crash equal
        work goes on from there.

        Args:
            key: of `cache_key`, naming everything that changes the result.
            result: the model of the result.
            produce: does the work.
            content_id: what the result is about, for `infra_cache` to list and clear by.
            looked: the caller has just looked, and there is none in the cache.

        Raises:
            VrError: what `produce` raised.
        """
        flights = self.services.flights
        return await flights.once(self, key, result, produce, content_id, looked=looked)

    async def step(self, key: str, work: Callable[[], Awaitable[Any]]) -> Any:
        """The result of `work`, a JSON value but None, committed before it is returned.

        In a tool that is `long`, and within `once`, a step that was committed before a crash
        is not done again. Equal keys are told apart by their order.

        Raises:
            VrError: CONFLICT, category LEASE_LOST, when another process took the work over.
        """
        return await (work() if self.scope is None else self.scope.run(f"step/{key}", work))

    async def ask(self, question: str, answer: type[M], *, default: M) -> M:
        """The answer of the person who called; `default` where nobody can be asked.

        Ask before anything is paid: by MCP 2026-07-28 the tool is called again with the
        answers so far. Once something is paid there, and always within `once`, where several
        callers wait, the default counts.

        Args:
            question: what the person reads.
            answer: a flat model of text, numbers, yes or no, and choices.
            default: what counts when there is no person, or no way to one.

        Raises:
            VrError: CANCELLED, category DECLINED, when the person would not answer;
                INVALID_INPUT, category ANSWER_INVALID, when the answer does not fit.
        """
        asked = Question(self.log.clean(question), answer)
        paid = self.meter.usage.calls > 0 or (self.scope is not None and self.scope.begun)
        given = understand(asked, await self.asker(asked, paid=paid))
        return default if given is None else cast("M", given)

    def of_plugin(self, services: Services) -> Call:
        """The same call in the hands of another plugin, which works for it by its own settings."""
        return replace(
            self, services=services.of_principal(self.principal).of_call(self.meter, self.scope)
        )

    def shared(self, key: str, lease: Lease | None, report: ProgressReport) -> Call:
        """A call for work that several callers wait for; see `once`."""
        notes: list[str] = []

        async def hold() -> Lease | None:
            if self.scope is not None:
                await self.scope.hold()
            return lease

        scope = Scope(
            self.services.jobs.steps,
            self.services.flights.place(key),
            self.steps_version,
            hold,
            notes.append,
        )
        shared = self._own(scope, report, notes)
        shared.held = [lease] if lease is not None else []
        shared.asker = ask_nobody
        shared.services.models.recorder.keep_in(self.services.cache)
        return shared

    @asynccontextmanager
    async def part(self, name: str, report: ProgressReport | None = None) -> AsyncIterator[Call]:
        """A call for one part of this one, such as a file of many: `async with` it.

        What it records and keeps is committed when its block ends well, whatever becomes of this
        call. What it paid and noted belongs to this call in any case.

        Args:
            name: of the part. A record without a key gets one from it, and gets it once more
                when the work is done again after a crash.
            report: takes the part's progress; left out, it is that of this call.

        Raises:
            VrError: UNAVAILABLE when essential records cannot be journalled.
        """
        from vr_kernel.running.commit import commit, settle

        part = self._own(self.scope, report or self.report, [])
        try:
            yield part
            part.recorded += await complete(commit(part, name))
        finally:
            self.meter.add_all(part.meter)
            self.notes.extend(part.notes)
            self.shown.extend(part.shown)
            self.recorded += part.recorded
            await complete(settle(part))

    def hold(self, lease: Lease) -> None:
        """Keep a lease until the records of this call are journalled, or it has failed."""
        self.held.append(lease)

    def _own(self, scope: Scope | None, report: ProgressReport, notes: list[str]) -> Call:
        """A call that works for this one, and has produced nothing yet."""
        meter = self.meter.fresh()
        return replace(
            self,
            services=self.services.of_call(meter, scope),
            meter=meter,
            scope=scope,
            report=report,
            repeatable=True,
            records=[],
            notes=notes,
            kept=[],
            held=[],
            essential=False,
            shown=[],
            forgotten=[],
            owed=[],
            recorded=0,
        )

    def absorb(self, other: Call) -> None:
        """Take over what shared work produced."""
        self.record(*other.records, essential=other.essential)
        self.notes.extend(other.notes)
        self.kept.extend(other.kept)
        self.held.extend(other.held)
        self.shown.extend(other.shown)
        self.forgotten.extend(other.forgotten)
        self.owed.extend(other.owed)
        self.recorded += other.recorded
        self.meter.add_all(other.meter)

    def note(self, message: str) -> None:
        """Add a remark that reaches the caller beside the result, such as a degraded service."""
        self.notes.append(message)

    def show(self, content: Content) -> None:
        """Show the client an image, a sound, a text or a file beside the result.

        It belongs to this one answer: the cache, and the result of a job, are without it.
        """
        self.shown.append(content)

    def artifact(self, content: bytes | Path, mime: str) -> Artifact:
        """Keep bytes, or a copy of a file, in the artifacts folder.

        Raises:
            VrError: UNAVAILABLE when the folder cannot be written.
        """
        from vr_kernel.running.commit import keep_artifact

        return keep_artifact(self, content, mime)
