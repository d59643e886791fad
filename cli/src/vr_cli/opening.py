"""Opens the kernel of a command."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol, TypeVar

from vr_kernel import Config, Kernel
from vr_kernel.loading import PluginStatus
from vr_kernel.signatures import ToolSchemas

from vr_cli.index import write_index
from vr_cli.output import print_broken
from vr_cli.process.garbage import uncollected
from vr_cli.process.loops import close, run_on
from vr_cli.process.streams import diverted_stdout

T = TypeVar("T")
Tell = Callable[[PluginStatus], None]


def open_kernel(config: Config, tell: Tell = print_broken) -> Kernel:
    """Open the kernel of this command, which may read files below the current folder.

    `tell` is called with each plugin that is not served in full; by default it prints a sentence to
    stderr.
    """
    schemas = ToolSchemas(config.paths.cache / "schemas.json")
    with diverted_stdout(), uncollected():
        kernel = Kernel(config, roots=[Path.cwd()], schemas=schemas, tell=tell)
    schemas.save()
    write_index(kernel)
    return kernel


class Run(Protocol):
    """Runs a coroutine to its end; what it prints goes to stderr, as plugins may print."""

    def __call__(self, work: Coroutine[Any, Any, T], /) -> T:
        """Return or raise what comes of it."""


@contextmanager
def at_work(kernel: Kernel) -> Iterator[Run]:
    """Give what runs coroutines, in one event loop; the kernel is closed at the end."""
    runner = asyncio.Runner()

    def run(work: Coroutine[Any, Any, T], /) -> T:
        with diverted_stdout():
            return run_on(runner, work, kernel.log)

    try:
        yield run
    finally:
        with diverted_stdout():
            try:
                run_on(runner, kernel.aclose(), kernel.log)
            finally:
                close(runner, kernel.log)
