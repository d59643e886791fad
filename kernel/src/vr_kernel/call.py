"""The call that a tool is given: services, progress, and what it records, caches and shows."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

from pydantic import BaseModel

from vr_kernel.calls.commit import commit, keep_artifact, settle
from vr_kernel.calls.produced import CacheWrite
from vr_kernel.content import Content
from vr_kernel.generation import Usage
from vr_kernel.jobs.completion import complete
from vr_kernel.progress import Report
from vr_kernel.questions import Question, understand

if TYPE_CHECKING:
    from vr_kernel.calls.produced import Produced
    from vr_kernel.files.artifacts import Artifact
    from vr_kernel.log import Log
    from vr_kernel.protocols.work import Files
    from vr_kernel.records import Record
    from vr_kernel.services import Services

M = TypeVar("M", bound=BaseModel)


class Call:
    """One call of one tool. Safe to use from worker threads.

    Records are kept until the tool succeeds and are then committed by the runner, together or
    not at all.

    Attributes:
        id: of the call; it stays the same when the call is resumed after a crash.
        services: those of the tool's plugin, for the caller.
    """

    __slots__ = ("_produced", "id", "services")

    def __init__(self, produced: Produced) -> None:
        self._produced = produced
        self.id: str = produced.id
        self.services: Services = produced.context.services

    @property
    def tool(self) -> str:
        """The name of the tool."""
        return self._produced.tool

    @property
    def principal(self) -> str:
        """The name of the caller."""
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
    def files(self) -> Files:
        """Files of the user's folders that the caller may read and write."""
        from vr_kernel.calls.files import CallFiles

        return CallFiles(self.services.policy)

    @property
    def usage(self) -> Usage:
        """The tokens that language models have cost this call so far."""
        return self._produced.meter.usage

    @property
    def notes(self) -> tuple[str, ...]:
        """The remarks so far; see `note`."""
        return tuple(self._produced.notes)

    def progress(self, done: float, total: float | None = None, message: str = "") -> None:
        """Report progress; cheap, never blocks, may be called from any thread.

        Control characters, invisible characters and secrets are removed from the message.
        """
        self._produced.report(done, total, self.log.clean(message))

    def record(self, *records: Record, essential: bool = False) -> None:
        """Keep records to be journalled when the tool succeeds.

        When the journal cannot be written, the result is returned with a remark; with `essential`
        the call fails instead, because the result is worthless without its records.

        Raises:
            VrError: CONFLICT, category TURN_ENDED, after the block of `Kernel.turn`.
        """
        self._produced.require_open()
        self._produced.records.extend(records)
        self._produced.essential = self._produced.essential or essential

    def forget(self, kind: str, *keys: str) -> None:
        """Have records deleted when the tool succeeds, in the journal and in every store.

        Unlike with `record`, the call always fails when the journal cannot be written.

        Raises:
            VrError: as `record`.
        """
        self._produced.require_open()
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

        A cache hit records nothing, so a result is cached only once its records are journalled. A
        model is read back with `services.cache.model(key, Model)`. Without `over`, an existing
        entry is kept.
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
        """Return the cached result of `key`, or call `produce` and cache its result.

        When several callers ask at the same time, also in several processes, only one of them calls
        `produce`; the others get its result, with `cached` true when the model has that field.
        `produce` is given the call to work with: its records, notes and costs belong to one of the
        waiting callers; see `skip_cache`. Replies of models and steps in it are committed as they
        arrive, so after a crash equal work continues from there.

        Args:
            key: of `cache_key`, naming everything that changes the result.
            result: the model of the result.
            produce: does the work.
            content_id: what the result is about, for `infra_cache` to list and clear by.
            looked: True when the caller has just found no entry in the cache.

        Raises:
            VrError: what `produce` raised.
        """

        @wraps(produce)  # its module tells which plugin is running
        async def work(shared: Produced) -> M:
            return await produce(Call(shared))

        flights, call = self._produced.context.single_flights, self._produced
        value = await flights.once(call, key, result, work, content_id, looked=looked)
        return cast("M", value)

    async def step(self, key: str, work: Callable[[], Awaitable[Any]]) -> Any:
        """Return the result of `work` (a JSON value, not None), committed before it is returned.

        In a tool that is `long`, and within `once`, a step that was committed before a crash
        is not done again. The same key, used again in one call, stands for another step.

        Raises:
            VrError: CONFLICT, category LEASE_LOST, when another process took the work over.
        """
        return await self._produced.step(key, work)

    async def ask(self, question: str, answer: type[M], *, default: M) -> M:
        """Ask the person who called; returns `default` when no one can be asked.

        Ask before anything is paid for: with MCP 2026-07-28 the tool is called again with the
        answers so far. Once something was paid for there, and always within `once`, where several
        callers wait, the default is used.

        Args:
            question: what the person reads.
            answer: a flat model of text, numbers, yes or no, and choices.
            default: used when there is no person, or no way to reach one.

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
    async def part(self, name: str, report: Report | None = None) -> AsyncIterator[Call]:
        """Open a call for one part of this one, such as one file of many: use it with `async with`.

        Its records and cached results are committed when its block succeeds, even if this call
        fails. Its costs and notes belong to this call in any case.

        Args:
            name: of the part. A record without a key gets one derived from it, and gets the same
                one when the work is done again after a crash.
            report: takes the part's progress; by default that of this call.

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
        """Own a name exclusively until the records of this call are journalled.

        Returns True at once when this call owns it already, and False when another call still owns
        it after `patience_s` seconds, or when names cannot be owned now; the call then works
        without it.

        Raises:
            TypeError: when the name is no text.
        """
        if not isinstance(name, str) or name != name.encode("utf-8", "replace").decode():
            raise TypeError("the name that a call owns is a text")
        if any(lease.name == name and not lease.lost for lease in self._produced.leases):
            return True
        leases = self._produced.context.leases
        lease = await leases.wait_for(name, patience=patience_s, without=lambda _error: True)
        if lease is not None:
            self._produced.leases.append(lease)
        return lease is not None

    def restore_usage(self, usage: Usage) -> None:
        """Count what this work paid before it was interrupted, instead of what it paid now.

        Raises:
            TypeError: when it is no `Usage`.
        """
        if not isinstance(usage, Usage):
            raise TypeError("call.restore_usage takes a Usage")
        self._produced.meter.usage = usage

    def note(self, message: str) -> None:
        """Add a remark that is returned with the result, such as about a degraded service."""
        self._produced.notes.append(message)

    def show(self, content: Content) -> None:
        """Show the client an image, a sound, a text or a file along with the result.

        It belongs to this one answer: neither the cache nor the result of a job has it.

        Raises:
            TypeError: when it is no `Content`.
        """
        if not isinstance(content, Content):
            raise TypeError("call.show takes a Content")
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
