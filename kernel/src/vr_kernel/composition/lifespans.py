"""Lifespans of plugins: entered before a kernel's first work, left when it is closed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from vr_kernel.isolation.plugin_code import PluginCode
from vr_kernel.loading.discovery import PluginState, PluginStatus, explain

if TYPE_CHECKING:
    from vr_kernel.log import Log
    from vr_kernel.services import Services

LEAVE_S = 1.0
"""Seconds that a plugin may take to close what it opened; clients kill a server after two."""
GRACE_S = 0.2
"""Seconds that a plugin that took too long has to clean up."""


class Lifespan:
    """The lifespan of one plugin, in a task of its own, which enters and leaves it.

    Args:
        status: of the plugin.
        hook: its `vr_lifespan`.
        services: its own, for the owner.
    """

    def __init__(self, status: PluginStatus, hook: Callable[..., Any], services: Services) -> None:
        self.status = status
        self._hook = hook
        self._services = services
        self._leaving = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    async def enter(self, limit_s: float, ended: Callable[[Lifespan, str], None]) -> None:
        """Open what the plugin needs.

        Args:
            limit_s: seconds that it may take.
            ended: called when it ends before `leave`, with the reason.

        Raises:
            Exception: what the plugin raised; TimeoutError when it took too long.
        """
        entered: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        task = self._task = asyncio.create_task(
            self._run(entered), name=f"vr-lifespan-{self.status.name}"
        )
        try:
            await asyncio.wait({task, entered}, timeout=limit_s, return_when="FIRST_COMPLETED")
        finally:
            if not entered.done():
                self._task = None
                await self._cut_off(task)
        if not entered.done():
            if not task.done() or task.cancelled():
                raise TimeoutError(f"it did not begin within {limit_s:g} s")
            task.result()

        def tell(it: asyncio.Task[None]) -> None:
            if not self._leaving.is_set():
                ended(self, _reason(it))

        task.add_done_callback(tell)

    async def leave(self, log: Log) -> None:
        """Close it; what fails or hangs is logged, and makes the plugin degraded."""
        task, self._task = self._task, None
        if task is None:
            return
        self._leaving.set()
        await asyncio.wait({task}, timeout=LEAVE_S)
        if not task.done():
            log.warning(
                "a plugin took too long to close what it opened",
                plugin=self.status.name,
                limit_s=LEAVE_S,
            )
            self._degrade(log, f"did not end within {LEAVE_S:g} s")
            await self._cut_off(task)
        elif reason := _reason(task):
            log.error(
                "a plugin failed to close what it opened", plugin=self.status.name, reason=reason
            )
            self._degrade(log, f"failed to end: {reason}")

    async def _run(self, entered: asyncio.Future[None]) -> None:
        with PluginCode():
            manager = self._hook(services=self._services)
            if manager is None:
                manager = nullcontext()
            if not hasattr(manager, "__aenter__"):
                raise TypeError(
                    f"vr_lifespan returned {type(manager).__name__}, not an async context manager;"
                    " @asynccontextmanager makes one"
                )
            async with manager:
                if not entered.done():
                    entered.set_result(None)
                await self._leaving.wait()

    def _degrade(self, log: Log, reason: str) -> None:
        if self.status.fine:  # else it ended early, which is told
            self.status.fail(PluginState.DEGRADED, log.clean(f"its lifespan {reason}"))

    async def _cut_off(self, task: asyncio.Task[None]) -> None:
        self._leaving.set()  # one that ignores its cancellation does not stay
        task.cancel()
        await asyncio.wait({task}, timeout=GRACE_S)
        task.add_done_callback(_reason)  # keeps what it raises from being reported as unseen


class Lifespans:
    """The lifespans of all plugins that have one.

    Args:
        lifespans: in the order in which they are entered.
        log: gets what fails.
        drop: called with the name of a plugin whose lifespan cannot begin.
        limit_s: seconds that each may take to begin.
        strict: raises the failure of a plugin instead of leaving it out.
    """

    def __init__(
        self,
        lifespans: Sequence[Lifespan],
        log: Log,
        drop: Callable[[str], None],
        limit_s: float,
        *,
        strict: bool,
    ) -> None:
        self._lifespans = lifespans
        self._log = log
        self._drop = drop
        self._limit_s = limit_s
        self._strict = strict
        self._entering: asyncio.Task[None] | None = None

    async def enter(self) -> None:
        """Enter them one after the other, once; who asks meanwhile waits until that is done.

        Raises:
            VrError: CONFLICT, category PLUGIN_REFUSED, of the first that fails, when strict.
        """
        if self._entering is None:
            self._entering = asyncio.create_task(self._enter(), name="vr-lifespans")
        await asyncio.wait({self._entering})
        self._entering.result()

    async def leave(self) -> None:
        """Leave those that were entered, the last one first."""
        if self._entering is None:
            return
        self._entering.cancel()
        await asyncio.wait({self._entering})
        if not self._entering.cancelled():
            self._entering.exception()
        for each in reversed(self._lifespans):
            await each.leave(self._log)

    async def _enter(self) -> None:
        for each in self._lifespans:
            try:
                await each.enter(self._limit_s, self._ended)
            except Exception as error:
                reason = self._log.clean(f"its lifespan: {explain(error)}")
                each.status.fail(PluginState.BROKEN, reason)
                self._drop(each.status.name)
                if self._strict:
                    raise each.status.as_error() from error
                self._log.error(each.status.what, plugin=each.status.name)

    def _ended(self, lifespan: Lifespan, reason: str) -> None:
        lifespan.status.fail(
            PluginState.DEGRADED, self._log.clean(f"its lifespan ended early: {reason}")
        )
        self._log.error(lifespan.status.what, plugin=lifespan.status.name)


def _reason(task: asyncio.Task[None]) -> str:
    """The reason why a lifespan failed; empty when it did not."""
    if task.cancelled():
        return "it was cancelled"
    error = task.exception()
    return "" if error is None else explain(error)
