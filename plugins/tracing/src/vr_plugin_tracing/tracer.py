"""The tracer of one kernel: events in, spans and metrics out, never in the way of a call."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Literal

from vr_plugin_tracing.metrics import Metrics
from vr_plugin_tracing.outbox import Outbox
from vr_plugin_tracing.spans import SpanMaker

if TYPE_CHECKING:
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import ReadableSpan
    from vr_kernel import CallFinished, RequestFinished, Services

    from vr_plugin_tracing.settings import TracingSettings

FLUSH_S = 0.7
"""Seconds that the end of the kernel waits for spans; a lifespan has one."""
ACTIVE_JOBS: tuple[Literal["running", "interrupted"], ...] = ("running", "interrupted")
"""States of jobs that have not ended: worked at, and waiting for a process."""


class CallTracer:
    """Makes spans and metrics of events while it is open, and has them sent.

    Nothing global of the library is set: with a provider for the whole program FastMCP would make
    spans of its own for the same calls, with what the caller is called in them.
    """

    def __init__(self, services: Services) -> None:
        self._services = services
        self._settings: TracingSettings = services.settings
        self._outboxes: list[Outbox] = []
        self._spans: SpanMaker | None = None
        self._metrics: Metrics | None = None
        self._tools: frozenset[str] = frozenset()
        self._loop: asyncio.AbstractEventLoop | None = None

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[None]:
        """Send in the background during an `async with`; at its end what is left, for a moment."""
        self._loop = asyncio.get_running_loop()
        await asyncio.to_thread(self._open)
        try:
            yield
        finally:
            self._spans, metrics = None, self._metrics
            await asyncio.to_thread(self._close)
            self._metrics = None
            if metrics is not None:
                metrics.close()

    def record_call(self, event: CallFinished) -> None:
        """Record a call or a turn that has ended."""
        if self._spans is None or self._metrics is None:
            return
        turn = event.tool not in self._tools
        self._metrics.add_call(event, turn=turn)
        self._put(self._spans.of_call(event, turn=turn))

    def record_request(self, event: RequestFinished) -> None:
        """Record an attempt to ask a model."""
        if self._spans is None or self._metrics is None:
            return
        self._metrics.add_request(event)
        self._put(self._spans.of_request(event))

    def _put(self, span: ReadableSpan | None) -> None:
        if span is not None:
            for outbox in self._outboxes:
                outbox.put(span)

    def _open(self) -> None:
        resource = _resource(self._settings.service_name)
        self._tools = frozenset(tool for it in self._services.plugins() for tool in it.tools)
        self._metrics = Metrics(resource, self._count_jobs)
        self._outboxes = list(self._made(self._metrics))
        for outbox in self._outboxes:
            outbox.open()
        self._spans = SpanMaker(resource, self._settings.names, self._settings.sample)

    def _made(self, metrics: Metrics) -> Iterator[Outbox]:
        from vr_plugin_tracing.destinations import chosen

        for setting, make in chosen(self._settings).items():
            try:
                destination = make()
            except ValueError as wrong:
                self._services.log.warning(
                    "traces are not sent", setting=setting, reason=str(wrong)
                )
                continue
            yield Outbox(destination, self._settings, self._services.log, metrics.collect)

    def _close(self) -> None:
        from time import monotonic

        end = monotonic() + FLUSH_S
        for outbox in self._outboxes:
            outbox.finish()
        for outbox in self._outboxes:
            outbox.close(max(0.0, end - monotonic()))

    def _count_jobs(self) -> Mapping[str, int]:
        """Count the owner's jobs; called by the thread that sends."""
        if self._loop is None:
            return {}
        return asyncio.run_coroutine_threadsafe(self._counted_jobs(), self._loop).result(1)

    async def _counted_jobs(self) -> dict[str, int]:
        jobs, owner = self._services.jobs, self._services.identity.principal
        return {state: len(await jobs.list(owner, (state,), 1000)) for state in ACTIVE_JOBS}


def _resource(name: str) -> Resource:
    from opentelemetry.sdk.resources import SERVICE_NAME, SERVICE_VERSION, Resource
    from vr_kernel import VERSION

    return Resource.create({SERVICE_NAME: name, SERVICE_VERSION: VERSION})
