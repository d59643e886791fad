"""Names the plugin that blocks the event loop, and with it every request that waits."""

from __future__ import annotations

import sys
import threading
import time
from asyncio.events import Handle
from collections.abc import Callable, Mapping
from functools import partial
from types import CodeType, FrameType, TracebackType
from typing import Self

from vr_kernel.log import Log

LOOK_S = 0.25
"""Seconds between two looks at what the loop is doing."""
LIMIT_S = 1.0
"""Seconds that a step may block the loop; longer ones are logged, slightly shorter ones maybe."""
ALONE = 0.9
"""Share of processor time from which a thread counts as having run without a pause."""
AGAIN_S = 600.0
"""Seconds until the same place is logged again."""
_RUN: CodeType = Handle._run.__code__  # noqa: SLF001 - the outermost frame of a step
"""Each step of a loop is one run of this."""


class Owners:
    """Finds the plugins that frames belong to, by their modules.

    Args:
        modules: the names of plugins by the modules that are imported for them. A package that
            contains modules of only one plugin belongs to that plugin, too.
    """

    def __init__(self, modules: Mapping[str, str]) -> None:
        found: dict[str, set[str]] = {}
        for module, plugin in modules.items():
            parts = module.split(".") if module else ()
            for end in range(1, len(parts) + 1):
                found.setdefault(".".join(parts[:end]), set()).add(plugin)
        self._plugins = {name: min(them) for name, them in found.items() if len(them) == 1}

    def owner(self, frame: FrameType) -> str:
        """The name of the plugin, empty for code that belongs to none of them."""
        return self.of_module(str(frame.f_globals.get("__name__", "")))

    def of_module(self, module: str) -> str:
        """The same for a module."""
        while module and module not in self._plugins:
            module = module.rpartition(".")[0]
        return self._plugins.get(module, "")

    def innermost(self, frame: FrameType | None) -> FrameType | None:
        """The frame of a plugin's code that is innermost in a step of the loop; None for none."""
        while frame is not None and frame.f_code is not _RUN:
            if self.owner(frame):
                return frame
            frame = frame.f_back
        return None


class Holdup:
    """The time that the loop has certainly spent on one step."""

    def __init__(self) -> None:
        self._step: FrameType | None = None
        self._held = 0.0

    def see(self, step: FrameType | None, passed: float, used: float) -> float:
        """Return the seconds spent on the step so far, after one more look.

        A look that comes late proves nothing about the time before it: the machine may have slept
        or been busy, or the process was stopped. It counts in full only if the loop's thread had
        the processor all that time.

        Args:
            step: the frame that the loop is running; None when it waits.
            passed: seconds since the previous look.
            used: seconds of processor time that the loop's thread used meanwhile.
        """
        certain = passed if used >= ALONE * passed else min(passed, LOOK_S)
        if step is None:
            self._held = 0.0
        elif step is self._step:
            self._held += certain
        else:
            self._held = max(0.0, certain - LOOK_S)
        self._step = step
        return self._held


class LoopWatch:
    """Watches the event loop of the thread that enters it, from a thread of its own.

    Args:
        owners: of code.
        log: gets the name of a plugin that blocks the loop.
    """

    def __init__(self, owners: Owners, log: Log) -> None:
        self._owners = owners
        self._log = log
        self._told: dict[tuple[str, str], float] = {}
        self._ended = threading.Event()

    def __enter__(self) -> Self:
        """Begin to watch this thread."""
        loop = threading.get_ident()
        look = partial(self._watch, loop, _processor_time(loop))
        self._thread = threading.Thread(target=look, name="vr-loop-watch", daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        """Stop watching."""
        self._ended.set()
        self._thread.join(LIMIT_S)

    def _watch(self, loop: int, processor_time: Callable[[], float]) -> None:
        holdup = Holdup()
        now, used = time.monotonic(), processor_time()
        while not self._ended.wait(LOOK_S):
            before, now = now, time.monotonic()
            used_before, used = used, processor_time()
            top = sys._current_frames().get(loop)  # noqa: SLF001 - there is no other way
            held = holdup.see(_step(top), now - before, used - used_before)
            if top is not None and held >= LIMIT_S - LOOK_S:
                self._tell(top, now)
            del top

    def _tell(self, frame: FrameType | None, now: float) -> None:
        """Name the plugin whose code is innermost; none when it is the kernel's own code."""
        if (frame := self._owners.innermost(frame)) is None:
            return
        plugin = self._owners.owner(frame)
        place = f"{frame.f_globals['__name__']}.{frame.f_code.co_qualname}"
        if now - self._told.get((plugin, place), -AGAIN_S) >= AGAIN_S:
            self._told[plugin, place] = now
            self._log.warning(
                "a plugin holds up the server, nobody else is answered meanwhile",
                plugin=plugin,
                place=place,
                line=frame.f_lineno,
            )


def _step(frame: FrameType | None) -> FrameType | None:
    while frame is not None and frame.f_code is not _RUN:
        frame = frame.f_back
    return frame


def _processor_time(thread: int) -> Callable[[], float]:
    """Seconds of processor time that a thread has used; always 0 where that is not available."""
    if not hasattr(time, "pthread_getcpuclockid"):
        return float
    return partial(time.clock_gettime, time.pthread_getcpuclockid(thread))
