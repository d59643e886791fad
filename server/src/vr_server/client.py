"""A client of the server over real stdio, for the demo, for tests and for scripts."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Literal

from fastmcp import Client, FastMCP
from fastmcp.client.transports import StdioTransport
from fastmcp.exceptions import McpError
from mcp_types import BlobResourceContents, TextResourceContents
from vr_kernel import ERROR_META, Code, VrError
from vr_kernel.running import JobHandle

HANDLE = JobHandle.model_fields.keys()
"""Fields of the answer to a call that goes on as a job; it has no others."""
JOB_WAIT_S = 30
"""Seconds that one request for a job's result waits before the next."""
OnProgress = Callable[[float, float | None, str | None], Awaitable[None]]
Era = Literal["auto", "legacy"]


class ToolClient:
    """An open connection to a server."""

    def __init__(self, client: Client[Any]) -> None:
        self.client = client

    async def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Call a tool and return its structured result, also when the call goes on as a job.

        When the caller stops waiting, the job goes on: `job_list` finds it again.

        Raises:
            VrError: the error that the tool ended with; CANCELLED when its job was cancelled.
        """
        answer = await self.call_once(tool, **arguments)
        return await self._ended(answer["job_id"]) if answer.keys() == HANDLE else answer

    async def call_once(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Call a tool and return the first answer: its structured result, or a job's handle.

        Raises:
            VrError: the error that the server answered with.
        """
        result = await self.client.call_tool(tool, arguments, raise_on_error=False)
        if result.is_error:
            said = " ".join(getattr(block, "text", "") for block in result.content)
            raise _as_error((result.meta or {}).get(ERROR_META), said)
        return result.structured_content or {}

    async def _ended(self, job_id: str) -> dict[str, Any]:
        """Wait for the result of a job; an interrupted one is resumed meanwhile."""
        while True:
            job = await self.call_once("job_result", job_id=job_id, wait_s=JOB_WAIT_S)
            if job["state"] == "done":
                result: dict[str, Any] = job["result"]
                return result
            if job["state"] == "failed":
                raise _as_error(job["error"], "")
            if job["state"] == "cancelled":
                hint = "Call the tool again."
                raise VrError(f"Job {job_id} was cancelled.", Code.CANCELLED, hint=hint)

    async def tool_names(self) -> list[str]:
        """List the names of the tools that the server offers, in its order."""
        return [tool.name for tool in await self.client.list_tools()]

    async def tools(self) -> dict[str, dict[str, Any]]:
        """Return the description, `inputSchema` and so on of each tool, by its name."""
        offered = await self.client.list_tools()
        return {
            tool.name: tool.model_dump(mode="json", by_alias=True, exclude_none=True)
            for tool in offered
        }

    async def read(self, uri: str) -> bytes:
        """Read the content of a resource, such as an artifact.

        Raises:
            VrError: the error that the server answered with.
        """
        import base64

        try:
            content = (await self.client.read_resource(uri))[0]
        except McpError as failed:
            raise _as_error(failed.error.data, failed.error.message) from None
        if isinstance(content, BlobResourceContents):
            return base64.b64decode(content.blob)
        assert isinstance(content, TextResourceContents)
        return content.text.encode()


@asynccontextmanager
async def connect(
    command: Sequence[str],
    *,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    on_progress: OnProgress | None = None,
    era: Era = "auto",
    log_file: Path | None = None,
) -> AsyncIterator[ToolClient]:
    """Start a server process and connect to it over stdio.

    Args:
        command: program and arguments.
        env: the whole environment of the server; a minimal safe one when left out.
        cwd: the working folder of the server.
        on_progress: called with done, total and message while a tool works.
        era: `auto` speaks the newest protocol, `legacy` the one with a handshake.
        log_file: gets the server's stderr; by default this process's stderr.
    """
    transport = StdioTransport(
        command=command[0],
        args=list(command[1:]),
        env=dict(env) if env is not None else None,
        cwd=str(cwd) if cwd else None,
        keep_alive=False,
        log_file=log_file,
    )
    async with Client(transport, progress_handler=on_progress, mode=era) as client:
        yield ToolClient(client)


@asynccontextmanager
async def connect_to(
    server: FastMCP[Any], *, on_progress: OnProgress | None = None, era: Era = "auto"
) -> AsyncIterator[ToolClient]:
    """Connect to a server in this process, through memory; the protocol is the real one."""
    async with Client(server, progress_handler=on_progress, mode=era) as client:
        yield ToolClient(client)


def _as_error(error: Any, said: str) -> VrError:
    """Turn an error on the wire into a `VrError`; other servers give only a text."""
    if not isinstance(error, dict) or "code" not in error:
        return VrError(said or "The server answered with an error.")
    return VrError(
        error["message"],
        Code(error["code"]),
        category=error["category"],
        hint=error["hint"],
        retryable=error["retryable"],
        retry_after=error["retry_after_seconds"],
    )
