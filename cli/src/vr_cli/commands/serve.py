"""`vr serve`: the MCP server over stdio or HTTP."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import sys
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from vr_kernel import Config, extra_missing

from vr_cli.configuration import config_with
from vr_cli.process.exits import end_soon
from vr_cli.process.loops import run_alone
from vr_cli.process.streams import own_streams

if TYPE_CHECKING:
    from vr_kernel import Kernel
    from vr_server import StdoutGuard

LAST_PORT = 65_535
AT_A_TERMINAL = (
    "Waiting for an MCP client on stdin and stdout; Ctrl-C ends it. `vr init` sets up a client."
)
ANSWER_S = 5.0
"""Seconds, after a call became a job, in which a client that closed stdin is still answered."""
GRACE_S = 0.5
"""Time that running calls have to clean up after a signal."""
SERVER_MISSING = "SERVER_MISSING"
"""Error category: the distribution vr-server is not installed."""
INSTALL_SERVER = "pip install 'vr-cli[serve]'"
CLOSING_S = 5.0
"""Longest time for a server whose client is gone to close its files, after the calls' time."""


@click.command()
@click.option("--toolsets", help="Show only these: all, core, a plugin's name, compat.")
@click.option("--search", is_flag=True, help="Show a search for tools; all others are found by it.")
@click.option("--http", "address", metavar="[HOST:]PORT", help="Serve over HTTP instead.")
@click.pass_context
def serve(
    context: click.Context, toolsets: str | None, address: str | None, *, search: bool
) -> int:
    """Serve tools to an MCP client over stdin and stdout, or over HTTP."""
    _require_server()
    flags = {"kernel.toolsets": toolsets} if toolsets else {}
    flags |= {"kernel.tool_search": "true"} if search else {}
    config = config_with(context, flags)
    if address is not None:
        kernel = _kernel(config)
        return run_alone(_serve_http(kernel, *_host_and_port(address)), kernel.log)
    by_hand = sys.stdin is not None and sys.stdin.isatty()
    if by_hand:
        click.echo(AT_A_TERMINAL, err=True)
    from vr_server import StdoutGuard

    guard = StdoutGuard()
    # Start-up makes objects that live to the end: garbage collection would be wasted work.
    gc.disable()
    kernel = _kernel(config, handed=not by_hand)
    return run_alone(_serve(kernel, guard), kernel.log)


def has_server() -> bool:
    """True when vr-server is installed, which is an extra of the command line."""
    return find_spec("vr_server") is not None


def _require_server() -> None:
    """Check that the server is installed.

    Raises:
        VrError: UNAVAILABLE, which ends the program with the exit code of a wrong configuration.
    """
    if not has_server():
        message = "`vr serve` needs vr-server, which is not installed."
        raise extra_missing(message, INSTALL_SERVER, SERVER_MISSING)


def _host_and_port(address: str) -> tuple[str, int]:
    host, _, port = address.rpartition(":")
    if not (port.isascii() and port.isdigit()) or int(port) > LAST_PORT:
        raise click.BadParameter("write [HOST:]PORT, such as 8765 or 127.0.0.1:8765")
    return host.strip("[]") or "127.0.0.1", int(port)


async def _serve_http(kernel: Kernel, host: str, port: int) -> int:
    from vr_server import HttpServer

    try:
        kernel.log.prepare()
        with kernel.log.of_libraries():
            server = HttpServer(kernel, host, port)
            serving = asyncio.create_task(server.serve())
            stopped = _stop_signal()
            ends: set[asyncio.Future[Any]] = {serving, stopped}
            await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
            server.should_exit = True
            drain_s = kernel.config.serve.drain_s + GRACE_S + 1
            _, late = await asyncio.wait(ends - {stopped}, timeout=drain_s)
            if not late:
                serving.result()
    finally:
        await kernel.aclose()
    return 0 if server.started else 1


def _kernel(config: Config, *, handed: bool = False) -> Kernel:
    from vr_kernel import Kernel
    from vr_kernel.config import server_roots
    from vr_kernel.signatures import ToolSchemas

    from vr_cli.index import write_index

    schemas = ToolSchemas(config.paths.cache / "schemas.json")
    roots = server_roots(Path.cwd(), Path.home())
    with own_streams():
        kernel = Kernel(config, roots=roots, schemas=schemas, handed=handed)
    schemas.save()
    write_index(kernel)
    return kernel


async def _serve(kernel: Kernel, guard: StdoutGuard) -> int:
    from vr_server import build_server

    loop, drain_s = asyncio.get_running_loop(), kernel.config.serve.drain_s
    drained = asyncio.Event()

    def gone() -> None:
        end_soon(0, within_s=drain_s + CLOSING_S)  # a call may block the event loop, too
        with suppress(RuntimeError):  # the loop is closed
            loop.call_soon_threadsafe(loop.call_later, drain_s, drained.set)

    def ready() -> None:
        gc.freeze()
        gc.enable()
        guard.lend(kernel.config.kernel.handle_after_s + ANSWER_S, gone)

    app = build_server(kernel, ready)
    with kernel.log.of_libraries():
        serving = asyncio.create_task(app.run_stdio_async(show_banner=False))
        stopped = _stop_signal()
        try:
            late = loop.create_task(drained.wait())
            ends: set[asyncio.Future[Any]] = {serving, stopped, late}
            await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
            code = stopped.result() if stopped.done() else 0
            if stopped.done():
                end_soon(code)
            elif late.done():
                kernel.log.warning("a call does not end although its client is gone")
            if not serving.done():
                serving.cancel()
                await asyncio.wait({serving}, timeout=GRACE_S)
        finally:
            await kernel.aclose()
    end_soon(code)
    if not serving.done():
        os._exit(code)  # the thread that reads stdin cannot be woken
    if not stopped.done():
        serving.result()
    return code


def _stop_signal() -> asyncio.Future[int]:
    """A future of the exit code, 128 + the signal's number, set when a signal arrives."""
    loop = asyncio.get_running_loop()
    stopped: asyncio.Future[int] = loop.create_future()

    def note(code: int) -> None:
        if not stopped.done():
            stopped.set_result(code)

    def stop(number: int, _frame: Any) -> None:
        loop.call_soon_threadsafe(note, 128 + number)

    for number in (signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, stop)
    return stopped
