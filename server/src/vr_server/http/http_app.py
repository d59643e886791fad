"""The MCP application over HTTP: tokens, and limits on requests before they are read."""

from __future__ import annotations

import ipaddress

from mcp.server.request_state import RequestStateSecurity
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from vr_kernel import VERSION, Access, Kernel
from vr_kernel.config import config_error

from vr_server.application import build_server
from vr_server.http.body_limit import BodyLimit
from vr_server.http.sessions import Sessions
from vr_server.http.shared_key import shared_key
from vr_server.http.tokens import Tokens

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
HEALTH_PATH = "/health"
PATH = "/mcp"


def build_http_app(kernel: Kernel, host: str) -> Starlette:
    """Build the ASGI application that an HTTP server runs.

    Args:
        kernel: the one to serve; the caller opens and closes it.
        host: the address that the server listens on.

    Raises:
        VrError: INVALID_INPUT, category CONFIG_INVALID: no token beyond loopback, a token that
            cannot be used, an unknown toolset.
    """
    settings = kernel.config.serve
    if not settings.tokens and not is_loopback(host):
        raise config_error(
            f"Only this machine may send requests without a token, and {host} is open to others.",
            "Set VR_HTTP_TOKEN, or listen on 127.0.0.1.",
        )
    auth = Tokens(Access(settings, kernel.identity)) if settings.tokens else None
    server = build_server(kernel, auth=auth, request_states=_request_states(kernel))

    @server.custom_route(HEALTH_PATH, methods=["GET"], include_in_schema=False)
    async def health(_request: Request) -> Response:
        return JSONResponse({"status": "ok", "version": VERSION})

    owner = kernel.identity.principal
    app: Starlette = server.http_app(
        path=PATH,
        stateless_http=settings.stateless,
        middleware=[
            Middleware(BodyLimit, most=settings.max_body_bytes, owner=owner),
            Middleware(Sessions, most=settings.max_sessions, owner=owner),
        ],
        session_idle_timeout=settings.session_idle_s,
        host_origin_protection=True,
        allowed_hosts=[*LOOPBACK, host, *settings.allowed_hosts],
        allowed_origins=settings.allowed_origins,
    )
    return app


def is_loopback(host: str) -> bool:
    """Return True if only this machine can reach a server on that address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def _request_states(kernel: Kernel) -> RequestStateSecurity | None:
    """Return the seal that all servers on one state folder share; None if there can be none."""
    try:
        key = shared_key(kernel.config.paths.state)
        return RequestStateSecurity(keys=[key])
    except (OSError, ValueError) as error:
        kernel.log.warning(
            "an answer to a question must come to the server that asked it", reason=str(error)
        )
        return None
