"""Gives every hostile file of a folder to every tool that takes a file, and tells how it went.

`python hostile_run.py FOLDER NAME...` runs in a process of its own, because a file that wins
takes the process with it. It prints a line of JSON for each file and tool.
"""

from __future__ import annotations

import asyncio
import json
import resource
import sys
import time
from pathlib import Path

from abuse_bench import Bench, Watch
from tool_arguments import ALWAYS, Argument, Kind, environment, filled, of_kind
from vr_kernel import Kernel, load_config

MEMORY = 6 * 2**30


async def run(folder: Path, names: list[str], arguments: list[Argument]) -> None:
    """Call each tool with a good file first, so that what it loads is not put down to a bad one."""
    config = load_config(environ=environment(folder.with_name("own")), working_folder=folder)
    async with Kernel.open(config, roots=[folder]) as kernel:
        bench = Bench(kernel, folder, folder, Watch())
        for argument in arguments:
            beside = {**filled(argument.tool, argument.name), "engine": ALWAYS["engine"]}
            taken = kernel.tools[argument.tool].arguments.model_fields
            beside = {key: value for key, value in beside.items() if key in taken}
            for name in ("good.mp4", *names):
                given = {**beside, argument.name: argument.given(str(folder / name))}
                began = time.perf_counter()
                outcome = await bench.call(argument.tool, given, f"{argument} {name}")
                row = {
                    "tool": argument.tool,
                    "name": name,
                    "code": outcome.error.code.value if outcome.error else "",
                    "ms": round((time.perf_counter() - began) * 1000),
                    "problems": bench.problems,
                }
                bench.problems = []
                sys.stdout.write(json.dumps(row) + "\n")


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    asyncio.run(run(Path(sys.argv[1]), sys.argv[2:], of_kind(Kind.PATH)))
