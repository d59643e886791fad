"""Uploads the file argv[2] to the service at argv[1]; prints what that took of this process."""

from __future__ import annotations

import asyncio
import json
import resource
import sys
import time
from pathlib import Path

from gemini_service import MODEL, ask, gemini_at
from vr_kernel.generation import Media

MIB = 1024 * 1024


def peak_mib() -> float:
    status = Path("/proc/self/status")
    if status.exists():  # getrusage would count what the parent had when it forked
        (peak,) = (line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(peak.split()[1]) / 1024
    unit = MIB if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


def queued() -> float:
    """Seconds that this thread was ready to run and the machine had no processor for it."""
    schedule = Path("/proc/thread-self/schedstat")
    return int(schedule.read_text().split()[1]) / 1e9 if schedule.exists() else 0.0


class Stall:
    """The longest time that the event loop did not come round, for want of its own."""

    def __init__(self) -> None:
        self.longest = 0.0

    async def watch(self) -> None:
        while True:
            began, waited = time.perf_counter(), queued()
            await asyncio.sleep(0.001)
            away = time.perf_counter() - began - 0.001 - (queued() - waited)
            self.longest = max(self.longest, away)


async def main(url: str, path: Path) -> None:
    stall = Stall()
    async with gemini_at(url, path.parent) as gemini:
        await gemini.models.generate(MODEL, ask("Hello."))
        before = peak_mib()
        watching = asyncio.create_task(stall.watch())
        began = time.perf_counter()
        with path.open("rb") as file:
            address = await gemini.upload(Media("video/mp4", file=file, digest="0" * 64))
        took = time.perf_counter() - began
        watching.cancel()
    measured = {
        "address": address,
        "grown_mib": peak_mib() - before,
        "stall_ms": stall.longest * 1000,
        "seconds": took,
    }
    sys.stdout.write(json.dumps(measured))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], Path(sys.argv[2])))
