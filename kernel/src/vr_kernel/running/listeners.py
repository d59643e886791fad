"""Tells plugins about what has finished, within a time limit and without harm to a result."""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Awaitable
from typing import TYPE_CHECKING, Any

from vr_kernel.errors import Code, VrError
from vr_kernel.events import CallFinished, Hear
from vr_kernel.isolation.plugin_code import PluginCode
from vr_kernel.log import Log

if TYPE_CHECKING:
    from vr_kernel.calls.produced import Produced
    from vr_kernel.services import Services

LIMIT_S = 2.0
"""Seconds that a result may wait for all listeners."""
CALL, REQUEST = "call", "request"


class Listeners:
    """The plugins that implement an event hook; falsy while there are none.

    Args:
        log: gets the failures of listeners.
        limit_s: seconds that all listeners together may take.
        what: it is that has finished: `vr_call_finished` tells of a call.
    """

    def __init__(self, log: Log, limit_s: float = LIMIT_S, what: str = CALL) -> None:
        self._what = what
        self._log = log
        self._limit_s = limit_s
        self._listeners: list[tuple[Hear, Services]] = []
        self._late: set[asyncio.Task[None]] = set()

    def __bool__(self) -> bool:
        return bool(self._listeners)

    def add(self, hear: Hear, services: Services) -> None:
        """Call a plugin with every event from now on."""
        self._listeners.append((hear, services))

    def remove(self, plugin: str) -> None:
        """Call a plugin no more."""
        self._listeners[:] = [each for each in self._listeners if each[1].plugin != plugin]

    def tell_soon(self, event: Any) -> None:
        """Call all listeners in the background; `settle` waits for them."""
        task = asyncio.create_task(self.tell(event), name=f"vr-{self._what}-finished")
        self._late.add(task)
        task.add_done_callback(self._late.discard)

    async def settle(self) -> None:
        """Wait for listeners that were called in the background, as long as the limit allows."""
        if self._late:
            await asyncio.wait(self._late, timeout=self._limit_s)

    async def tell(self, event: Any) -> None:
        """Call all listeners concurrently, and wait for them as long as the limit allows.

        A listener that takes longer is cancelled; one that fails is named in the log. A plugin that
        has nothing to do may return None instead of an awaitable.
        """
        tasks: dict[asyncio.Task[None], str] = {}
        for hear, services in self._listeners:
            awaitable = self._begun(hear, services, event)
            if awaitable is not None:
                task = asyncio.create_task(self._heard(awaitable, services.plugin))
                tasks[task] = services.plugin
        if not tasks:
            return
        try:
            _, late = await asyncio.wait(tasks, timeout=self._limit_s)
        except asyncio.CancelledError:
            self._stop(set(tasks))
            raise
        for task in late:
            self._log.warning(
                f"a plugin took too long over a finished {self._what}",
                plugin=tasks[task],
                tool=event.tool,
                limit_s=self._limit_s,
            )
        self._stop(late)

    def _begun(self, hear: Hear, services: Services, event: Any) -> Awaitable[None] | None:
        try:
            with PluginCode():
                awaitable: Any = hear(event=event, services=services)
        except Exception:  # noqa: BLE001 - a plugin's
            self._tell_failure(services.plugin)
            return None
        if awaitable is None or inspect.isawaitable(awaitable):
            return awaitable
        kind = type(awaitable).__name__
        self._log.error(
            f"vr_{self._what}_finished returned no awaitable", plugin=services.plugin, got=kind
        )
        return None

    async def _heard(self, awaitable: Awaitable[None], plugin: str) -> None:
        try:
            await PluginCode.ended(awaitable)
        except Exception:  # noqa: BLE001 - a plugin's
            self._tell_failure(plugin)

    def _tell_failure(self, plugin: str) -> None:
        self._log.exception(f"a plugin failed over a finished {self._what}", plugin=plugin)

    def _stop(self, tasks: set[asyncio.Task[None]]) -> None:
        """Cancel tasks, and keep references until they end: the loop alone might lose them."""
        for task in tasks:
            self._late.add(task)
            task.add_done_callback(self._late.discard)
            task.cancel()


def finished(
    produced: Produced, error: BaseException | None, *, cached: bool = False
) -> CallFinished:
    """Return the event of a call that has ended.

    Args:
        produced: by the call.
        error: with which it ended; None for a result.
        cached: whether the result came from the cache.
    """
    ok, meter = error is None, produced.meter
    code = error.code if isinstance(error, VrError) else None if ok else Code.INTERNAL
    usage = meter.usage if meter.usage.calls else getattr(error, "usage", None)
    return CallFinished(
        call_id=produced.id,
        tool=produced.tool,
        plugin=meter.plugin,
        principal=produced.principal,
        workspace=produced.context.workspace,
        ok=ok,
        code=Code.CANCELLED if isinstance(error, asyncio.CancelledError) else code,
        records=produced.recorded + (len(produced.records) if ok else 0),
        deletions=len(produced.deletions) if ok else 0,
        cached=cached,
        usage=usage,
        duration_s=time.monotonic() - produced.begun,
        started_at=produced.started_at,
        run=produced.run,
        trace=meter.trace,
    )
