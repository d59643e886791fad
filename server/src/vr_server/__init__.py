"""Serves a kernel's tools over MCP, on stdio or HTTP."""

from __future__ import annotations

from vr_server.application import INSTRUCTIONS, build_server
from vr_server.served.tool import (
    HANDED_OUT,
    USAGE_META,
    ServedTool,
    as_tool_result,
    hints_of,
    output_schema_of,
)

__all__ = [
    "HANDED_OUT",
    "INSTRUCTIONS",
    "USAGE_META",
    "ServedTool",
    "as_tool_result",
    "build_server",
    "hints_of",
    "output_schema_of",
]
