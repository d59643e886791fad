"""Opens the kernel of a command."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from vr_kernel import Config, Kernel
from vr_kernel.loading import PluginStatus
from vr_kernel.signatures import ToolSchemas

from vr_cli.index import write_index
from vr_cli.output import print_broken
from vr_cli.process.garbage import uncollected
from vr_cli.process.streams import diverted_stdout

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
