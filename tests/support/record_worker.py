"""Processes that record batches of five notes into one journal, each ready to be killed.

Run as a program it copies itself for each line of its stdin, as `paid_worker` does. A copy tells
in the pipe `told` of its folder when it begins, and each batch that is recorded.
"""

from __future__ import annotations

import signal
import sys
from itertools import count
from pathlib import Path
from types import SimpleNamespace

from paid_worker import copy_for_each_line
from pydantic import BaseModel
from vr_kernel import (
    WRITES_LOCAL,
    Call,
    Kernel,
    Record,
    RecordField,
    RecordKind,
    entity_key,
    hookimpl,
    load_config,
    tool,
)


class Done(BaseModel):
    """A batch was recorded."""

    batch: str


@tool(effects=WRITES_LOCAL)
async def note_write(call: Call, batch: str) -> Done:
    """Record a batch of five notes."""
    for number in range(5):
        call.record(Record("Notes", {"batch": batch}, key=entity_key(batch, number)))
    return Done(batch=batch)


@hookimpl
def vr_tools() -> list[object]:
    """Offer the tool."""
    return [note_write]


@hookimpl
def vr_record_kinds() -> list[RecordKind]:
    """Declare its records."""
    return [RecordKind("Notes", "Notes.", (RecordField("batch"),), rerank="batch")]


async def work(folder: Path) -> None:
    """Record batches, named by that folder, without end."""
    home = folder.parent
    folders = {f"VR_{part}_DIR": str(home / part) for part in ("STATE", "CACHE", "CONFIG")}
    config = load_config(environ={"HOME": str(home), **folders}, working_folder=home)
    plugin = SimpleNamespace(vr_tools=vr_tools, vr_record_kinds=vr_record_kinds)
    with (folder / "told").open("w", encoding="utf-8") as told:
        async with Kernel.open(config, {"note": plugin}, roots=[]) as kernel:
            print("ready", file=told, flush=True)
            for number in count():
                outcome = await kernel.run("note_write", {"batch": f"{folder.name} {number}"})
                if outcome.error or outcome.notes:
                    print("not recorded", outcome, file=told, flush=True)
                    return
                print(outcome.data["batch"], file=told, flush=True)


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    copy_for_each_line(Path(sys.argv[1]), work)
