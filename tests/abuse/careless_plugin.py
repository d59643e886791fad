"""A plugin that does everything wrong, for tests of the judge."""

from __future__ import annotations

import asyncio
import socket
from pathlib import Path
from typing import Any

from pydantic import BaseModel
from vr_kernel import READ_ONLY, Call, Code, VrError, hookimpl, tool
from vr_kernel.state import Entry


class Said(BaseModel):
    """Anything."""

    text: str


@tool(effects=READ_ONLY)
async def careless_read(call: Call, path: str) -> Said:
    """Read any file."""
    return Said(text=await asyncio.to_thread(Path(path).read_text, "utf-8"))


@tool(effects=READ_ONLY)
async def careless_fetch(call: Call, urls: list[str]) -> Said:
    """Ask for any host."""
    socket.getaddrinfo(urls[0], 80)
    return Said(text="found")


@tool(effects=READ_ONLY)
async def careless_echo(call: Call, title: str, limit: int = 1) -> Said:
    """Say again, and too much."""
    raise VrError(f"Not found: {title * limit}", Code.NOT_FOUND)


@tool(effects=READ_ONLY)
async def careless_record(call: Call, note_id: str) -> Said:
    """Record before looking."""
    await call.services.journal.commit(
        [Entry("Notes", note_id, {}, {})], workspace=call.workspace, provenance={}
    )
    raise VrError("No such note.", Code.NOT_FOUND, hint="Try another.")


@hookimpl
def vr_tools() -> list[Any]:
    """The tools."""
    return [careless_read, careless_fetch, careless_echo, careless_record]
