"""Tells plugins about finished calls, within a time limit and without harm to a result."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable
from typing import TYPE_CHECKING, Any

from vr_kernel.events import Hear
from vr_kernel.isolation.plugin_code import PluginCode
from vr_kernel.log import Log

if TYPE_CHECKING:
    from vr_kernel.events import CallFinished
    from vr_kernel.services import Services

LIMIT_S = 2.0
"""Seconds that a result may wait for all listeners."""
FAILED = "a plugin failed over a finished call"


class Listeners:
    """The plugins that implement `vr_call_finished`; falsy while there are none.

    Args:
        log: gets the failures of listeners.
        limit_s: seconds that all listeners together may take.
    """

    def __init__(self, log: Log, limit_s: float = LIMIT_S) -> None:
        self._log = log
        self._limit_s = limit_s
        self._listeners: list[tuple[Hear, Services]] = []
        self._late: set[asyncio.Task[None]] = set()

    def __bool__(self) -> bool:
        return bool(self._listeners)

    def add(self, hear: Hear, services: Services) -> None:
        """Call a plugin after every call that ends from now on."""
        self._listeners.append((hear, services))

    def remove(self, plugin: str) -> None:
        """Call a plugin no more."""
        self._listeners[:] = [each for each in self._listeners if each[1].plugin != plugin]

    async def tell(self, event: CallFinished) -> None:
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
                "a plugin took too long over a finished call",
                plugin=tasks[task],
                tool=event.tool,
                limit_s=self._limit_s,
            )
        self._stop(late)

    def _begun(self, hear: Hear, services: Services, event: CallFinished) -> Awaitable[None] | None:
        try:
            with PluginCode():
                awaitable: Any = hear(event=event, services=services)
        except Exception:  # noqa: BLE001 - a plugin's
            self._log.exception(FAILED, plugin=services.plugin)
            return None
        if awaitable is None or inspect.isawaitable(awaitable):
            return awaitable
        kind = type(awaitable).__name__
        self._log.error("vr_call_finished returned no awaitable", plugin=services.plugin, got=kind)
        return None

    async def _heard(self, awaitable: Awaitable[None], plugin: str) -> None:
        try:
            await PluginCode.ended(awaitable)
        except Exception:  # noqa: BLE001 - a plugin's
            self._log.exception(FAILED, plugin=plugin)

    def _stop(self, tasks: set[asyncio.Task[None]]) -> None:
        """Cancel tasks, and keep references until they end: the loop alone might lose them."""
        for task in tasks:
            self._late.add(task)
            task.add_done_callback(self._late.discard)
            task.cancel()
