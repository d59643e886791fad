"""Search mode: one tool that finds all others, and one that calls them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import cache
from typing import Annotated, Any

from fastmcp.server.middleware import CallNext, Middleware, MiddlewareContext
from fastmcp.tools.base import Tool as McpTool
from fastmcp.tools.base import ToolResult
from mcp_types import ListToolsRequest
from pydantic import BaseModel, Field, PrivateAttr
from vr_kernel import (
    CALLS_OUT,
    DESTRUCTIVE,
    IDEMPOTENT,
    READ_ONLY,
    Call,
    Kernel,
    Tool,
    VrError,
    build_tool,
    tool,
)
from vr_kernel.running import Outcome

from vr_server.failures import RefusedError
from vr_server.search.tool_index import ToolIndex
from vr_server.search.tool_meaning import ToolMeaning
from vr_server.search.tool_words import Phrases
from vr_server.served.tool import ServedTool, as_tool_result, hints_of

INSTRUCTIONS = " Find the tool for a task with tool_search, and call it with tool_call."
Answer = Callable[[dict[str, Any]], Awaitable[ToolResult]]


class FoundTool(BaseModel):
    """A tool as a search shows it."""

    name: str
    description: str
    inputSchema: dict[str, Any]  # noqa: N815 - as tools/list names it


class FoundTools(BaseModel):
    """The tools that fit a request, best first."""

    tools: list[FoundTool]


class SearchRequest(BaseModel):
    """The arguments of `tool_search`; `search_tools` has the answer."""

    query: str
    limit: int


class CallRequest(BaseModel):
    """The arguments of `tool_call`; `search_tools` has the answer."""

    name: str
    arguments: dict[str, Any]


@tool(effects=READ_ONLY | IDEMPOTENT)
async def tool_search(
    call: Call,
    query: Annotated[str, Field(min_length=1, max_length=1000, description="What is to be done")],
    limit: Annotated[int, Field(ge=1, le=20)] = 5,
) -> SearchRequest:
    """Find the tools for a task, each with its arguments."""
    del call
    return SearchRequest(query=query, limit=limit)


@tool(effects=DESTRUCTIVE | CALLS_OUT)
async def tool_call(
    call: Call,
    name: Annotated[str, Field(max_length=128)],
    arguments: Annotated[dict[str, Any], Field(default_factory=dict, description="By inputSchema")],
) -> CallRequest:
    """Call a tool that tool_search found; the result is the tool's own."""
    del call
    return CallRequest(name=name, arguments=arguments)


class ModeTool(McpTool):
    """A tool about tools, which the kernel does not know."""

    _tool: Tool = PrivateAttr()
    _answer: Answer = PrivateAttr()

    @classmethod
    def of(cls, function: Callable[..., Any], answer: Answer) -> ModeTool:
        """Make it from a declaration, and a function that is called with validated arguments."""
        declared = build_tool(function, "server")
        made = cls(
            name=declared.name,
            description=declared.description,
            parameters=declared.input_schema,
            annotations=hints_of(declared.effects),
        )
        made._tool = declared
        made._answer = answer
        return made

    async def run(self, arguments: dict[str, Any]) -> ToolResult:
        """Answer a call."""
        try:
            return await self._answer(self._tool.validate(arguments))
        except VrError as error:
            raise RefusedError(error) from None


class OnlyShown(Middleware):
    """Lists only some tools, since the others are found by search; all can be called."""

    def __init__(self, names: frozenset[str]) -> None:
        self._names = names

    async def on_list_tools(
        self,
        context: MiddlewareContext[ListToolsRequest],
        call_next: CallNext[ListToolsRequest, Sequence[McpTool]],
    ) -> Sequence[McpTool]:
        """List the tools that are shown, in their order."""
        return [tool for tool in await call_next(context) if tool.name in self._names]


def search_tools(kernel: Kernel, served: Mapping[str, ServedTool]) -> list[ModeTool]:
    """Make `tool_search` and `tool_call` for a kernel's tools, `served` under these names."""
    phrases = Phrases(kernel.log)
    meaning = ToolMeaning(kernel.tools, phrases, kernel.services.vectors, kernel.log)

    @cache
    def index() -> ToolIndex:
        return ToolIndex(kernel.tools, phrases)

    async def search(arguments: dict[str, Any]) -> ToolResult:
        query: str = arguments["query"]
        names = index().search(query, arguments["limit"], await meaning.likeness(query))
        found = FoundTools(tools=[_found(served[name]) for name in names])
        return as_tool_result(Outcome("", data=found.model_dump()))

    async def call(arguments: dict[str, Any]) -> ToolResult:
        name = arguments["name"]
        if name not in served:
            raise kernel.unknown_tool(name)
        return await served[name].run(arguments["arguments"])

    finder = ModeTool.of(tool_search, search)
    about = ", ".join(dict.fromkeys(tool.domain for tool in kernel.tools.values()))
    finder.description = f"{finder.description} They are about: {about}."
    return [finder, ModeTool.of(tool_call, call)]


def _found(tool: ServedTool) -> FoundTool:
    return FoundTool(
        name=tool.name, description=tool.description or "", inputSchema=tool.parameters
    )
