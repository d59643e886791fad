"""The Gemini service: models, uploads, context caches and Deep Research."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from contextlib import suppress
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from vr_kernel.config.model_settings import ModelsSettings
from vr_kernel.errors import VrError
from vr_kernel.gemini.components import Components
from vr_kernel.generation import Media, Reply
from vr_kernel.log import Log
from vr_kernel.models.provider import ModelProvider
from vr_kernel.progress import Report, silent

if TYPE_CHECKING:
    from vr_kernel.gemini.contexts import Make
    from vr_kernel.gemini.paid_research import PaidResearch
    from vr_kernel.gemini.registry import ContextCache
    from vr_kernel.gemini.research_status import ResearchStatus
    from vr_kernel.jobs.leases import LedgerLeases
    from vr_kernel.jobs.scopes import Scope
    from vr_kernel.models.recorder import UsageRecorder
    from vr_kernel.spending.paid_requests import Paid, PaidRequest
    from vr_kernel.state.rows import OpenRows

A = TypeVar("A", bound="Paid")
S = TypeVar("S")
PREFIXES = ("gemini/", "models/")
"""Before a model's name: in our configuration, and in that of Google's own tools."""
"""Prefix of the names of models in Google's own tools."""
PREVIEWED = "preview:file"
"""Stands for the address of a file that is not uploaded, as nothing is sent."""


class GeminiService:
    """The Gemini service of one kernel. Nothing is opened or imported before it is used.

    Args:
        settings: returns the current settings; called for each request.
        rows: remember uploads and context caches.
        log: never told a key, a prompt or an answer.
        leases: keep two processes from making the same context.
    """

    def __init__(
        self,
        settings: Callable[[], ModelsSettings],
        rows: OpenRows,
        log: Log,
        leases: LedgerLeases | None = None,
    ) -> None:
        self._log = log
        self._components = Components(settings, rows, log, leases)
        self._background: set[asyncio.Task[None]] = set()
        self.recorder: UsageRecorder | None = None
        self.workspace = ""
        self.scope: Scope | None = None

    @property
    def models(self) -> ModelProvider:
        """The provider named `gemini`."""
        return self._components.models

    def of_call(self, recorder: UsageRecorder, scope: Scope | None) -> GeminiService:
        """The same service, accounting for one call."""
        bound = copy(self)
        bound.recorder, bound.scope = recorder, scope
        return bound

    def of_workspace(self, workspace: str) -> GeminiService:
        """The same service, for a workspace: what it keeps there is separate."""
        bound = copy(self)
        bound.workspace = workspace
        return bound

    async def upload(self, media: Media, report: Report = silent) -> str:
        """The address of the file at the service, uploaded when it is not there.

        Args:
            media: a file; an address is returned unchanged.
            report: called with the bytes so far, then with the seconds that the service processes
                it.

        Raises:
            VrError: TOO_LARGE above 2 GiB; UNSUPPORTED when Gemini cannot read it; AUTH, QUOTA,
                UNAVAILABLE for what the service says.
        """
        if media.file is None or self._previews:
            return media.uri or PREVIEWED
        media = await self._own(media)
        # Files of one request must belong to one key, so they go to the first that can take them.
        first = (await self._components.pool.accounts())[0].hint
        holder = await self._components.uploads.holder([media.digest]) or first
        upload = await self._components.pool.run(
            "files",
            lambda account: self._components.uploads.ensure(account, media, report),
            prefer=holder,
        )
        return upload.uri

    async def cached_content(self, model: str, content: Media, *, system: str = "") -> str | None:
        """Return the name of a context cache of that content, which is made when needed.

        None when there can be none: a YouTube video cannot be cached, nor content that
        is too short; such a refusal is remembered for a day.

        Raises:
            VrError: category STATE_UNAVAILABLE, when what is paid cannot be written down.
        """
        for prefix in PREFIXES:
            model = model.removeprefix(prefix)
        content = await self._own(content)

        async def pay(make: Make) -> ContextCache:
            return await self._attempt("cache", model, make, content)

        contexts = self._components.contexts
        if self._previews:
            known, name = await contexts.find(model, content, system)
            if not known:
                with suppress(VrError):  # it is noted, and not made
                    await pay(_unmade)
            return name
        return await contexts.ensure(model, content, system, pay)

    def prewarm(self, model: str, content: Media, *, system: str = "") -> None:
        """Make a context cache in the background; the caller may close its file at once."""
        if content.file is None or self._previews:
            return
        own = os.fdopen(os.dup(content.file.fileno()), "rb")
        task = asyncio.create_task(
            self._prewarm(model, replace(content, file=own), system),
            name="vr-prewarm",
        )
        self._background.add(task)
        task.add_done_callback(self._background.discard)
        task.add_done_callback(lambda _task: own.close())

    async def refresh(self, name: str) -> bool:
        """Restart the time to live of a context cache; False when the cache is gone.

        Raises:
            VrError: when the service cannot be asked now.
        """
        return self._previews or await self._components.contexts.refresh(name)

    async def context_caches(self) -> list[ContextCache]:
        """Every live context cache of this workspace."""
        return await self._components.contexts.every(self.workspace)

    async def clear_context_caches(self, content_id: str | None = None) -> int:
        """End this workspace's context caches of a content, or all, and say how many."""
        return await self._components.contexts.clear(content_id, self.workspace)

    async def start_research(self, prompt: str, *, agent: str = "", previous: str = "") -> str:
        """Start a Deep Research, and return its id, which is valid in any process.

        Args:
            prompt: what to find out.
            agent: another agent than the usual one.
            previous: id of a finished research that the question is about; the usual model answers
                it then, unless an agent is named.

        Raises:
            VrError: what the service says; nothing was started then, unless its answer was lost.
                NOT_FOUND, category RESEARCH_FORGOTTEN, when it no longer has the previous one.
        """
        research = self._paid_research() or self._components.research
        return await research.start(prompt, agent, previous)

    async def research_status(self, started: str) -> ResearchStatus:
        """Look at a research, without waiting; its cost is accounted for once, when it has ended.

        Raises:
            VrError: NOT_FOUND, category RESEARCH_FORGOTTEN, when the service does not have it.
        """
        return await (self._paid_research() or self._components.research).status(started)

    async def cancel_research(self, started: str) -> ResearchStatus:
        """Cancel a research, and return its state then; one that has ended stays as it is.

        Raises:
            VrError: as `research_status`.
        """
        return await (self._paid_research() or self._components.research).cancel(started)

    async def research_result(self, started: str, *, report: Report = silent) -> Reply:
        """Wait up to an hour for the result of a research.

        Raises:
            VrError: UNAVAILABLE, category RESEARCH_FAILED, when it ended without a result, with
                what it cost.
        """
        from vr_kernel.gemini.research_status import reply_of

        if paid := self._paid_research():
            return await paid.result(started, report)
        return reply_of(await self._components.research.result(started, report))

    async def deep_research(
        self, prompt: str, *, agent: str = "", report: Report = silent
    ) -> Reply:
        """Research a question. When repeated after a crash, it waits for the one it started.

        Raises:
            VrError: as `start_research` and `research_result`.
        """

        async def start() -> str:
            return await self.start_research(prompt, agent=agent)

        from vr_kernel.state.cache import cache_key

        key = cache_key(research=prompt, agent=agent)
        started = await (start() if self.scope is None else self.scope.run(key, start))
        return await self.research_result(started, report=report)

    async def aclose(self) -> None:
        """End background work, and close every connection."""
        for task in self._background:
            task.cancel()
        if self._background:
            await asyncio.wait(self._background)
        await self._components.aclose()

    def _paid_research(self) -> PaidResearch | None:
        """Research that a call pays for; None where there is no call."""
        if self.recorder is None:
            return None
        from vr_kernel.gemini.paid_research import PaidResearch

        parts = self._components
        return PaidResearch(parts.research, parts.claims, self.models, self.recorder)

    @property
    def _previews(self) -> bool:
        return self.recorder is not None and self.recorder.previews

    async def _own(self, media: Media) -> Media:
        if not self.workspace:
            return media
        from vr_kernel.gemini.contexts import identified

        return (await identified(media)).kept_for(self.workspace)

    async def _attempt(
        self,
        purpose: str,
        model: str,
        work: Callable[[], Awaitable[A]],
        content: Media | None = None,
    ) -> A:
        """Do paid work, and account for it where there is a call that pays."""
        if self.recorder is None:
            return await work()
        return await self.recorder.attempt(self._paid(purpose, model, work, content), 1)

    def _paid(
        self, purpose: str, model: str, send: Callable[[], S], content: Media | None = None
    ) -> PaidRequest[S]:
        from vr_kernel.models.provided import ProvidedModel
        from vr_kernel.spending.paid_requests import PaidRequest
        from vr_kernel.spending.sizes import Size, size_of_content

        asked = ProvidedModel(self.models, model)
        size = Size(heard=True)  # nothing bounds a research
        if content is not None:
            size = size_of_content(content, asked.known().context)
        return PaidRequest(asked, purpose, lambda _allowed: send(), size=size)

    async def _prewarm(self, model: str, content: Media, system: str) -> None:
        try:
            await self.cached_content(model, content, system=system)
        except VrError as error:
            self._log.info("no context cache", model=model, error=error.message)


async def _unmade() -> ContextCache:
    """Stand for the making of a context cache in a preview, where nothing is made."""
    raise AssertionError("a preview sends nothing")
