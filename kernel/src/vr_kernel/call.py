"""The call that a tool is handed: services, progress, and what it records, keeps and shows."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

from pydantic import BaseModel

from vr_kernel.calls.commit import commit, keep_artifact, settle
from vr_kernel.calls.produced import CacheWrite, ProgressReport
from vr_kernel.jobs.ledger import complete
from vr_kernel.questions import Question, understand

if TYPE_CHECKING:
    from vr_kernel.calls.produced import Produced
    from vr_kernel.content import Content
    from vr_kernel.files.artifacts import Artifact
    from vr_kernel.generation import Usage
    from vr_kernel.log import Log
    from vr_kernel.records import Record
    from vr_kernel.services import Services

M = TypeVar("M", bound=BaseModel)


class Call:
    """One call of one tool. Safe to use from worker threads.

    Records are kept until the tool succeeds and are then committed by the runner, together or
    not at all.

    Attributes:
        id: of the call; a call that goes on after a crash keeps it.
        services: of the tool's plugin, for whoever calls.
    """

    __slots__ = ("_produced", "id", "services")

    def __init__(self, produced: Produced) -> None:
        self._produced = produced
        self.id = produced.id
        self.services: Services = produced.context.services

    @property
    def tool(self) -> str:
        """The name of the tool."""
        return self._produced.tool

    @property
    def principal(self) -> str:
        """The name of whoever calls."""
        return self._produced.principal

    @property
    def settings(self) -> Any:
        """The calling plugin's own validated settings."""
        return self.services.settings

    @property
    def workspace(self) -> str:
        """The workspace that records of this call belong to."""
        return self.services.workspace

    @property
    def log(self) -> Log:
        """The log of the plugin."""
        return self.services.log

    @property
    def usage(self) -> Usage:
        """The tokens that language models have cost this call so far."""
        return self._produced.meter.usage

    @property
    def notes(self) -> tuple[str, ...]:
        """The remarks so far; see `note`."""
        return tuple(self._produced.notes)

    def progress(self, done: float, total: float | None = None, message: str = "") -> None:
        """Say how far the work is; cheap, never waits, may be called from any thread.

        What steers a terminal, is not seen or is a secret is taken out of the message.
        """
        self._produced.report(done, total, self.log.clean(message))

    def record(self, *records: Record, essential: bool = False) -> None:
        """Keep records to be journalled when the tool succeeds.

        When the journal cannot be written the result is given with a remark; with `essential`
        the call fails instead, because without its records the result is worth nothing.
        """
        self._produced.records.extend(records)
        self._produced.essential = self._produced.essential or essential

    def forget(self, kind: str, *keys: str) -> None:
        """Have records deleted when the tool succeeds, in the journal and in every store.

        Unlike a result whose records cannot be written, such a call fails when the journal does.
        """
        self._produced.deletions.extend((kind, key) for key in keys)
        self._produced.essential = True

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
            place = self._produced.context.cache.model(key, type(value))
            key, value = place.key, place.dump(value)
        self._produced.cache_writes.append(CacheWrite(key, value, content_id, model, over))

    def skip_cache(self) -> None:
        """Keep the result of this work out of the cache, such as one that lacks a part."""
        self._produced.repeatable = False

    async def once(
        self,
        key: str,
        result: type[M],
        produce: Callable[[Call], Awaitable[M]],
        *,
        content_id: str = "",
        looked: bool = False,
    ) -> M:
        """Return the cached result of `key`, or what `produce` makes, which is kept in the cache.

        However many callers ask at the same time, in however many processes, one of them
        produces; the others get its result, with `cached` true when the model has that field.
        `produce` gets the call to work with: what it records, notes and pays belongs to one of
        those who wait; see `skip_cache`. Replies of models and steps in it are committed as they
        come: after a crash equal work goes on from there.

        Args:
            key: of `cache_key`, naming everything that changes the result.
            result: the model of the result.
            produce: does the work.
            content_id: what the result is about, for `infra_cache` to list and clear by.
            looked: the caller has just looked, and there is none in the cache.

        Raises:
            VrError: what `produce` raised.
        """

        @wraps(produce)  # whose module tells which plugin is at work
        async def work(shared: Produced) -> M:
            return await produce(Call(shared))

        flights, call = self._produced.context.single_flights, self._produced
        value = await flights.once(call, key, result, work, content_id, looked=looked)
        return cast("M", value)

    async def step(self, key: str, work: Callable[[], Awaitable[Any]]) -> Any:
        """Return the result of `work`, a JSON value but None, committed before.

        In a tool that is `long`, and within `once`, a step that was committed before a crash
        is not done again. Equal keys are told apart by their order.

        Raises:
            VrError: CONFLICT, category LEASE_LOST, when another process took the work over.
        """
        return await self._produced.step(key, work)

    async def ask(self, question: str, answer: type[M], *, default: M) -> M:
        """Ask the person who called; `default` where nobody can be asked.

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
        produced = self._produced
        asked = Question(self.log.clean(question), answer)
        begun = produced.scope is not None and produced.scope.begun
        given = await produced.asker(asked, paid=produced.meter.usage.calls > 0 or begun)
        understood = understand(asked, given)
        return default if understood is None else cast("M", understood)

    @asynccontextmanager
    async def part(self, name: str, report: ProgressReport | None = None) -> AsyncIterator[Call]:
        """Open a call for one part of this one, such as a file of many: `async with` it.

        What it records and keeps is committed when its block ends well, whatever becomes of this
        call. What it paid and noted belongs to this call in any case.

        Args:
            name: of the part. A record without a key gets one from it, and gets it once more
                when the work is done again after a crash.
            report: takes the part's progress; left out, it is that of this call.

        Raises:
            VrError: UNAVAILABLE when essential records cannot be journalled.
        """
        produced = self._produced
        part = produced.branch(produced.scope, report or produced.report)
        try:
            yield Call(part)
            part.recorded += await complete(commit(part, name))
        finally:
            produced.take_account_of(part)
            await complete(settle(part))

    async def own(self, name: str, *, patience_s: float = 10.0) -> bool:
        """Be the only one with that name until the records of this call are journalled.

        Returns False where another one still has it after `patience_s` seconds, or where names
        cannot be owned now: then the call works without.
        """
        leases = self._produced.context.leases
        lease = await leases.wait_for(name, patience=patience_s, without=lambda _error: True)
        if lease is not None:
            self._produced.leases.append(lease)
        return lease is not None

    def restore_usage(self, usage: Usage) -> None:
        """Count what this work paid before it was interrupted, in place of what it paid now."""
        self._produced.meter.usage = usage

    def note(self, message: str) -> None:
        """Add a remark that reaches the caller beside the result, such as a degraded service."""
        self._produced.notes.append(message)

    def show(self, content: Content) -> None:
        """Show the client an image, a sound, a text or a file beside the result.

        It belongs to this one answer: the cache, and the result of a job, are without it.
        """
        self._produced.attachments.append(content)

    def artifact(self, content: bytes | Path, mime: str) -> Artifact:
        """Keep bytes, or a copy of a file, in the artifacts folder.

        Raises:
            VrError: UNAVAILABLE when the folder cannot be written.
        """
        return keep_artifact(self._produced, content, mime)


def produced_by(call: Call) -> Produced:
    """Return the kernel's side of a call, for the kernel's own code."""
    return call._produced  # noqa: SLF001 - nobody else may
