"""The HTTP server: it listens, prints its address, and lets calls finish before it ends."""

from __future__ import annotations

import asyncio
import os
import socket
import sys
from collections.abc import Generator
from contextlib import closing, contextmanager
from functools import partial
from typing import cast

import uvicorn
from vr_kernel import Code, Kernel, VrError

from vr_server.http.connections import Connection, ConnectionLimits, Connections, available
from vr_server.http.http_app import PATH, build_http_app

ACCEPTED_AT_ONCE = 16
"""Maximum number of connections accepted before surplus ones are closed."""
WAITING_TO_CONNECT = 2048
"""Maximum number of connections that the system queues for acceptance, within its own limit."""


class HttpServer(uvicorn.Server):
    """Serves a kernel until `should_exit` is set; running calls then have `drain_s` seconds left.

    Raises:
        VrError: as `build_http_app`.
    """

    def __init__(
        self, kernel: Kernel, host: str, port: int, limits: ConnectionLimits | None = None
    ) -> None:
        settings = kernel.config.serve
        limits = limits or ConnectionLimits(available(settings.max_connections))
        self._connections = Connections(limits)
        super().__init__(
            uvicorn.Config(
                build_http_app(kernel, host),
                host=host,
                port=port,
                http=cast("type[asyncio.Protocol]", partial(Connection, self._connections)),
                ws="none",
                backlog=ACCEPTED_AT_ONCE,
                log_config=None,
                access_log=False,
                log_level="warning",
                timeout_graceful_shutdown=max(1, round(settings.drain_s)),
                server_header=False,
            )
        )

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen, and print the address to stderr.

        Raises:
            VrError: UNAVAILABLE, category ADDRESS_UNAVAILABLE, when the port is taken.
        """
        sockets = sockets or await self._bound()
        await super().startup(sockets)
        for each in sockets if self.started else ():
            each.listen(WAITING_TO_CONNECT)
        for server in self.servers if self.started else ():
            for listening in server.sockets:
                host, port = listening.getsockname()[:2]
                shown = f"[{host}]" if ":" in host else host
                sys.stderr.write(f"Serving on http://{shown}:{port}{PATH}\n")
        sys.stderr.flush()

    async def on_tick(self, counter: int) -> bool:
        """Close connections that are late; returns True when the server should stop."""
        self._connections.hang_up_on_late()
        return await super().on_tick(counter)

    async def _bound(self) -> list[socket.socket]:
        """Bind a socket to every address of the host."""
        host, port = self.config.host, self.config.port
        try:
            server = await asyncio.get_running_loop().create_server(
                asyncio.Protocol, host, port, start_serving=False
            )
            with closing(server):
                bound = [each.dup() for each in server.sockets]
            for each in bound:
                each.listen(WAITING_TO_CONNECT)
        except OSError as error:
            no_name = isinstance(error, socket.gaierror)
            why = error.strerror if no_name else os.strerror(error.errno or 0)
            raise VrError(
                f"Nothing can listen on port {port} of {host}: {why}.",
                Code.UNAVAILABLE,
                category="ADDRESS_UNAVAILABLE",
                hint="Give another port, or 0 for one that is free: vr serve --http 0",
            ) from error
        return bound

    @contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """Leave signals to the command, since uvicorn would end the process before it is closed."""
        yield
