"""Another process that extracts concepts: `graph_worker.py FOLDER GEMINI_URL`."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from refined_kernels import knowledge_kernel


class Service:
    """The address of the test's fake service."""

    def __init__(self, url: str) -> None:
        self.url = url


async def main(folder: str, url: str) -> None:
    """Extract from all notes."""
    async with knowledge_kernel(gemini=Service(url), folder=Path(folder)) as kernel:  # type: ignore[arg-type]
        await kernel.call("knowledge_extract", collections=["Notes"])


asyncio.run(main(*sys.argv[1:]))
