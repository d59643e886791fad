"""Background work that catches up when it is woken, and retries after a failure."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress

from vr_kernel.errors import reason_of
from vr_kernel.isolation.previewing import PREVIEWED
from vr_kernel.log import Log

FIRST_PAUSE_S = 1.0
LONGEST_PAUSE_S = 60.0
NOTHING_IS_WRONG = frozenset({"KERNEL_CLOSED", PREVIEWED})
"""Categories of errors of work that is not to be done now."""


class Follower:
    """Catches up in one background task when woken, and retries failures with growing pauses.

    Each pause is twice as long as the one before. A failure is logged as a warning once; further
    tries are logged at debug level.

    Args:
        catch_up: does all the remaining work; called again if woken meanwhile.
        name: of the task.
        log: gets what failed.
        complaint: the log message for that, such as "texts are not embedded".
        on_failure: called after each failure, before the pause.
        first_pause_s: seconds before the second try.
        longest_pause_s: seconds that a pause never exceeds.

    Attributes:
        progressed: set by a `catch_up` that got on before it failed: pauses start over.
        trouble: why the last try failed; empty after a success.
    """

    def __init__(
        self,
        catch_up: Callable[[], Awaitable[None]],
        *,
        name: str,
        log: Log,
        complaint: str,
        on_failure: Callable[[], Awaitable[None]] | None = None,
        first_pause_s: float = FIRST_PAUSE_S,
        longest_pause_s: float = LONGEST_PAUSE_S,
    ) -> None:
        self.first_pause_s = first_pause_s
        self.longest_pause_s = longest_pause_s
        self.trouble = ""
        self.progressed = False
        self._catch_up = catch_up
        self._name = name
        self._log = log
        self._complaint = complaint
        self._on_failure = on_failure
        self._woken = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    @property
    def began(self) -> bool:
        """True from the first `wake` until it is closed."""
        return self._task is not None

    def wake(self) -> None:
        """Catch up in the background, now or after the present work."""
        self._woken.set()
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._run(), name=self._name)

    async def woken(self, timeout: float) -> bool:  # noqa: ASYNC109 - a bound, not an error
        """Wait, while catching up, for the next `wake`; False when it takes longer, in seconds."""
        with suppress(TimeoutError):
            async with asyncio.timeout(timeout):
                await self._woken.wait()
        return self._woken.is_set()

    async def settled(self, timeout: float) -> bool:  # noqa: ASYNC109 - a bound, not an error
        """Wait until nothing is left to do; False when that takes longer, in seconds."""
        if self._task is not None and not self._task.done():
            await asyncio.wait({self._task}, timeout=timeout)
        return self._task is None or self._task.done()

    async def aclose(self) -> None:
        """Stop; the remaining work is found at the next start."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task

    async def _run(self) -> None:
        pause, self.trouble = self.first_pause_s, ""
        while self._woken.is_set():
            self._woken.clear()
            self.progressed = False
            try:
                await self._catch_up()
                pause, self.trouble = self.first_pause_s, ""
            except Exception as error:  # noqa: BLE001 - what is followed with may be a plugin's
                self._woken.set()
                pause = self.first_pause_s if self.progressed else pause
                why = reason_of(error)
                is_known = why == self.trouble or getattr(error, "category", "") in NOTHING_IS_WRONG
                tell = self._log.debug if is_known else self._log.warning
                tell(self._complaint, error=why, retry_in=pause)
                self.trouble = why
                if self._on_failure is not None:
                    await self._on_failure()
                await asyncio.sleep(pause)
                pause = min(2 * pause, self.longest_pause_s)
