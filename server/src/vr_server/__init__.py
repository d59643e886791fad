"""The tools of a kernel over MCP, on stdio or HTTP, and a client; names load at first use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vr_kernel import lazy_exports

if TYPE_CHECKING:
    from vr_server.application import build_server
    from vr_server.client import Era, ToolClient, connect, connect_to
    from vr_server.http.http_app import build_http_app
    from vr_server.http.http_server import HttpServer
    from vr_server.served.tool import USAGE_META
    from vr_server.stdio.stdout_guard import StdoutGuard
    from vr_server.view import View, choose_view

__all__ = [
    "USAGE_META",
    "Era",
    "HttpServer",
    "StdoutGuard",
    "ToolClient",
    "View",
    "build_http_app",
    "build_server",
    "choose_view",
    "connect",
    "connect_to",
]

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "application": "build_server",
        "client": "Era ToolClient connect connect_to",
        "http.http_app": "build_http_app",
        "http.http_server": "HttpServer",
        "served.tool": "USAGE_META",
        "stdio.stdout_guard": "StdoutGuard",
        "view": "View choose_view",
    },
)
