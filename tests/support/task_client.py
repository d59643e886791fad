"""A client that follows tasks, as raw as the protocol: what a result says stays as it is."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, Literal

from fastmcp import Client
from mcp.client.extension import ClientExtension, ResultClaim
from mcp_types import Request, RequestParams, Result
from pydantic import ConfigDict
from waiting import until

EXTENSION = "io.modelcontextprotocol/tasks"
VERSION = "2026-07-28"


class Raw(Result):
    """Any result, with all its fields."""

    model_config = ConfigDict(extra="allow")


class RawTask(Raw):
    """The answer that comes in place of a result."""

    result_type: Literal["task"]


class RawParams(RequestParams):
    """Any parameters."""

    model_config = ConfigDict(extra="allow")


class RawRequest(Request[RawParams, str]):
    """Any request."""


async def _refuse(_task: Any, _context: Any) -> Any:
    raise AssertionError("a task is not to be followed unasked")


class FollowsTasks(ClientExtension):
    """Says that the client follows tasks."""

    identifier = EXTENSION

    def claims(self) -> Sequence[ResultClaim[Any]]:
        """Takes tasks for results."""
        versions = frozenset([VERSION])
        return [
            ResultClaim(
                result_type="task", model=RawTask, resolve=_refuse, protocol_versions=versions
            )
        ]


class TaskClient:
    """A session, and what is asked of tasks in it."""

    def __init__(self, client: Client[Any]) -> None:
        self.client = client

    async def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Call a tool; its answer is a result, or a task."""
        answer = await self.client.session.call_tool(tool, arguments, allow_claimed=True)
        return _plain(answer)

    async def task(self, tool: str, **arguments: Any) -> str:
        """The id of the task that a call became."""
        answer = await self.call(tool, **arguments)
        assert answer["resultType"] == "task", answer
        return str(answer["taskId"])

    async def ask(self, method: str, **params: Any) -> dict[str, Any]:
        """Send any request."""
        request = RawRequest(method=method, params=RawParams.model_validate(params))
        return _plain(await self.client.session.send_request(request, Raw))

    async def get(self, task: str) -> dict[str, Any]:
        """State of a task."""
        return await self.ask("tasks/get", taskId=task)

    async def get_when(self, task: str, *statuses: str) -> dict[str, Any]:
        """A task as soon as it is in one of these states."""

        async def reached() -> dict[str, Any] | None:
            told = await self.get(task)
            return told if told["status"] in statuses else None

        found: dict[str, Any] = await until(reached)
        return found


@asynccontextmanager
async def follow(server: Any, **options: Any) -> AsyncIterator[TaskClient]:
    """Connect to a server as a client that follows tasks."""
    async with Client(server, extensions=[FollowsTasks()], **options) as client:
        yield TaskClient(client)


def _plain(answer: Result) -> dict[str, Any]:
    return answer.model_dump(mode="json", by_alias=True, exclude_none=True)
