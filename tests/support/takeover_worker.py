"""Opens folders of an earlier version in forks, each of which dies at a given function call.

For each line of stdin, a JSON object of `environ` and `after`, it answers with the number of calls
that the fork made, or with `null` when it died.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import threading
from collections.abc import Mapping
from types import FrameType
from typing import Any

import vr_plugin_video.plugin as video
from vr_kernel import Kernel, load_config


class Death:
    """Kills this process after a number of function calls in all threads; 0 for never."""

    def __init__(self, after: int) -> None:
        self._after = after
        self.calls = 0

    def watch(self, _frame: FrameType, _event: str, _given: object) -> None:
        """A debugger's hook, called for each function; it asks for no single lines."""
        self.calls += 1
        if self.calls == self._after:
            os.kill(os.getpid(), signal.SIGKILL)


async def take_over(environ: Mapping[str, str], death: Death) -> None:
    """Ask for what former files hold."""
    async with Kernel.open(load_config(environ), {"video": video}) as kernel:
        threading.settrace(death.watch)
        sys.settrace(death.watch)
        await kernel.services.gemini.context_caches()
        await kernel.services.store.dead_letters()
        await kernel.call("video_list_sessions")
        sys.settrace(None)


def main() -> None:
    """Fork for each order."""
    for line in sys.stdin:
        order: dict[str, Any] = json.loads(line)
        reading, writing = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.dup2(2, 1)
            death = Death(order["after"])
            asyncio.run(take_over(order["environ"], death))
            os.write(writing, str(death.calls).encode())
            os._exit(0)
        os.close(writing)
        with os.fdopen(reading) as answer:
            told = answer.read()
        os.waitpid(pid, 0)
        sys.stdout.write(f"{told or 'null'}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
