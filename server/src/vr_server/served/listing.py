"""The lists of tools, prompts and resources that clients are given."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from fastmcp.prompts.base import Prompt
from fastmcp.resources.base import Resource
from fastmcp.resources.template import ResourceTemplate
from fastmcp.server.middleware import CallNext, Middleware, MiddlewareContext
from fastmcp.server.providers import Provider
from fastmcp.tools.base import Tool


class Listing(Middleware):
    """Lists all that the server has, and of its tools those that are shown, for every client.

    FastMCP's own lists also look for rules of each session. No session has any here, and the
    store that they look in takes longer to import than all plugins together.
    """

    def __init__(self, provider: Provider, shown: Collection[str]) -> None:
        self._provider = provider
        self._shown = shown

    async def on_list_tools(
        self, context: MiddlewareContext[Any], call_next: CallNext[Any, Sequence[Tool]]
    ) -> Sequence[Tool]:
        """List the tools that are shown; the others can be called all the same."""
        del context, call_next
        return [tool for tool in await self._provider.list_tools() if tool.name in self._shown]

    async def on_list_prompts(
        self, context: MiddlewareContext[Any], call_next: CallNext[Any, Sequence[Prompt]]
    ) -> Sequence[Prompt]:
        """List the prompts."""
        del context, call_next
        return await self._provider.list_prompts()

    async def on_list_resources(
        self, context: MiddlewareContext[Any], call_next: CallNext[Any, Sequence[Resource]]
    ) -> Sequence[Resource]:
        """List the resources that have one address."""
        del context, call_next
        return await self._provider.list_resources()

    async def on_list_resource_templates(
        self, context: MiddlewareContext[Any], call_next: CallNext[Any, Sequence[ResourceTemplate]]
    ) -> Sequence[ResourceTemplate]:
        """List the resources whose address has parts."""
        del context, call_next
        return await self._provider.list_resource_templates()
