"""The tools that `tools/list` names."""

from __future__ import annotations

from collections.abc import Sequence

from fastmcp.server.middleware import CallNext, Middleware, MiddlewareContext
from fastmcp.tools.base import Tool as McpTool
from mcp_types import ListToolsRequest


class Listing(Middleware):
    """Lists the tools that every client is shown; the others can be called all the same.

    FastMCP's own listing also looks for rules of each session. No session has any here, and the
    store that it would look in takes longer to import than all plugins together.
    """

    def __init__(self, tools: Sequence[McpTool]) -> None:
        self._tools = tools

    async def on_list_tools(
        self,
        context: MiddlewareContext[ListToolsRequest],
        call_next: CallNext[ListToolsRequest, Sequence[McpTool]],
    ) -> Sequence[McpTool]:
        """List the tools that are shown, in their order."""
        del context, call_next
        return self._tools
