"""`vr serve`: the MCP server over stdio."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import TYPE_CHECKING

import click

from vr_kernel.config import Config
from vr_kernel.stdout_guard import StdoutGuard

if TYPE_CHECKING:
    from vr_kernel.kernel import Kernel


@click.command()
@click.pass_obj
def serve(config: Config) -> None:
    """Serve all tools to an MCP client over stdin and stdout."""
    guard = StdoutGuard()
    # Start-up makes objects that live to the end: collecting among them is wasted work.
    gc.disable()
    import asyncio

    asyncio.run(_serve(_kernel(config), guard))


def _kernel(config: Config) -> Kernel:
    from vr_kernel.cli.index import write_index
    from vr_kernel.kernel import Kernel
    from vr_kernel.policy import server_roots

    kernel = Kernel(config, roots=server_roots(Path.cwd(), Path.home()))
    write_index(kernel)
    return kernel


async def _serve(kernel: Kernel, guard: StdoutGuard) -> None:
    from vr_kernel.server import build_server

    def ready() -> None:
        gc.freeze()
        gc.enable()
        guard.release()

    try:
        app = build_server(kernel, ready)
        await app.run_stdio_async(show_banner=False, log_level="WARNING")
    finally:
        await kernel.aclose()
