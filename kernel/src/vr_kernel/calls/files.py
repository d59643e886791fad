"""Files of the user's folders, as a call reads and writes them."""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path

from vr_kernel.files.folder_files import read_file, write_file
from vr_kernel.files.policy import Policy
from vr_kernel.jobs.completion import complete


class CallFiles:
    """The `Files` of a call; what has begun to be written is finished even when it is cancelled."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy

    async def read(self, folder: str | Path, name: str) -> tuple[bytes, str]:
        """The content of a file, and its digest; see `Files.read`."""
        return await asyncio.to_thread(read_file, self._policy, folder, name)

    async def write(
        self,
        folder: str | Path,
        name: str,
        data: bytes,
        expected: str | None = None,
        *,
        append: bool = False,
    ) -> str:
        """Create, replace or lengthen a file; see `Files.write`."""
        write = partial(write_file, self._policy, folder, name, data, expected, append=append)
        return await complete(asyncio.to_thread(write))
