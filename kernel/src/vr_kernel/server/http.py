"""The MCP application over HTTP: who may ask, what is refused before it is read."""

from __future__ import annotations

import ipaddress
from typing import Any

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from vr_kernel.config_sources import config_error
from vr_kernel.kernel import Kernel
from vr_kernel.server.application import build_server
from vr_kernel.server.tokens import Tokens
from vr_kernel.version import VERSION

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
HEALTH_PATH = "/health"


class BodyLimit:
    """Refuses a request whose body is larger than `most` bytes, however it is announced."""

    def __init__(self, app: ASGIApp, most: int) -> None:
        self._app = app
        self._most = most

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, as long as it stays small enough."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        announced = dict(scope["headers"]).get(b"content-length", b"0")
        if not announced.isdigit() or int(announced) > self._most:
            await _too_large(self._most)(scope, receive, send)
            return
        body = bytearray()
        while True:
            message = await receive()
            if message["type"] != "http.request":
                return
            body += message.get("body", b"")
            if len(body) > self._most:
                await _too_large(self._most)(scope, receive, send)
                return
            if not message.get("more_body"):
                break
        await self._app(scope, _replay(bytes(body), receive), send)


def build_http_app(kernel: Kernel, host: str) -> Starlette:
    """The application that an HTTP server runs.

    Args:
        kernel: what to serve; its lifetime is the caller's.
        host: the address that the server listens on.

    Raises:
        VrError: INVALID_INPUT, category CONFIG_INVALID: no token beyond loopback, a token that
            cannot be used, an unknown toolset.
    """
    settings = kernel.config.serve
    if not settings.tokens and not is_loopback(host):
        raise config_error(
            f"Nobody but this machine may ask without a token, and {host} is open to others.",
            "Set VR_HTTP_TOKEN, or listen on 127.0.0.1.",
        )
    auth = Tokens(settings.tokens, kernel.principal) if settings.tokens else None
    server = build_server(kernel, auth=auth)

    @server.custom_route(HEALTH_PATH, methods=["GET"], include_in_schema=False)
    async def health(_request: Request) -> Response:
        return JSONResponse({"status": "ok", "version": VERSION})

    app: Starlette = server.http_app(
        path=settings.path,
        stateless_http=settings.stateless,
        middleware=[Middleware(BodyLimit, most=settings.max_body_bytes)],
        host_origin_protection=True,
        allowed_hosts=[*LOOPBACK, host, *settings.allowed_hosts],
        allowed_origins=settings.allowed_origins,
    )
    return app


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach a server on that address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def _too_large(most: int) -> Response:
    said = f"The request has more than {most:,} bytes."
    return JSONResponse({"error": {"code": "TOO_LARGE", "message": said}}, status_code=413)


def _replay(body: bytes, receive: Receive) -> Receive:
    """Gives a body that was read already, then whatever comes after it."""
    first: list[dict[str, Any]] = [{"type": "http.request", "body": body, "more_body": False}]

    async def again() -> Message:
        return first.pop() if first else await receive()

    return again
