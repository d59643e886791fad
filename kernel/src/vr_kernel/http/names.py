"""The name service of the operating system, called in threads of its own."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial

Resolver = Callable[[str, int], Awaitable[Sequence[str]]]
"""Host and port -> every address of the answer, as text."""
ASKED_AT_ONCE = 16


class HostNames:
    """Resolves names, in threads of their own: one that hangs may delay other names only."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(ASKED_AT_ONCE, thread_name_prefix="vr-names")

    async def resolve(self, host: str, port: int) -> list[str]:
        """Every address of a name, as the operating system resolves it.

        Raises:
            OSError: as `socket.getaddrinfo`.
        """
        ask = partial(socket.getaddrinfo, host, port, type=socket.SOCK_STREAM)
        answers = await asyncio.get_running_loop().run_in_executor(self._threads, ask)
        return list(dict.fromkeys(str(answer[4][0]) for answer in answers))

    def close(self) -> None:
        """Stop resolving, and cancel the lookups that wait."""
        self._threads.shutdown(wait=False, cancel_futures=True)
