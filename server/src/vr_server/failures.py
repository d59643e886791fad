"""Errors on the wire: results of tools, and errors of the protocol for prompts and resources.

They are never structured content: clients check it against the tool's output schema, and throw.
"""

from __future__ import annotations

import logging
from typing import Any
from uuid import uuid4

from fastmcp.exceptions import (
    DisabledError,
    FastMCPError,
    McpError,
    NotFoundError,
    ValidationError,
)
from fastmcp.prompts import PromptResult
from fastmcp.resources import ResourceResult
from fastmcp.server.middleware import CallNext, Middleware, MiddlewareContext
from fastmcp.tools.base import ToolResult
from mcp_types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    CallToolRequestParams,
    GetPromptRequestParams,
    ReadResourceRequestParams,
)
from vr_kernel import ERROR_META, Code, Kernel, VrError, did_you_mean
from vr_kernel.text import bounded

from vr_server.blocks import encodable, plain, text_block
from vr_server.identity import principal

SERVER_FAULTS = (Code.INTERNAL, Code.UNAVAILABLE)
"""Codes of errors that other arguments would not have avoided."""
ABSENT = (NotFoundError, DisabledError)
NAME_CHARS = 200
"""Characters of a name or an address that a message or the log repeats."""
LASTING = ("STATE_UNAVAILABLE", "STATE_DAMAGED", "STATE_NEWER", "STORE_UNAVAILABLE")
"""Categories of errors that last until the owner of the server does something."""


class RefusedError(FastMCPError):
    """A typed error that passes through FastMCP, which logs all other errors as faults."""

    def __init__(self, error: VrError) -> None:
        super().__init__(error.message, log_level=logging.DEBUG)
        self.error = error


class Failures(Middleware):
    """Gives one form to every error, of a tool, of the kernel or of FastMCP."""

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel
        self._unusable: dict[str, str] = {}

    async def on_call_tool(
        self,
        context: MiddlewareContext[CallToolRequestParams],
        call_next: CallNext[CallToolRequestParams, ToolResult],
    ) -> ToolResult:
        """Pass the call on; an error becomes a result that says so."""
        name = context.message.name
        try:
            result = await call_next(context)
        except ABSENT:
            return error_result(self._told(self._kernel.unknown_tool(name), name))
        except FastMCPError as failed:
            return error_result(self._told(_typed(failed), name))
        if isinstance(result, ToolResult):  # not a detached call
            self._log_unusable(name, result)
        return result

    async def on_get_prompt(
        self,
        context: MiddlewareContext[GetPromptRequestParams],
        call_next: CallNext[GetPromptRequestParams, PromptResult],
    ) -> PromptResult:
        """Pass the request on; an error becomes one of the protocol."""
        name = context.message.name
        try:
            return await call_next(context)
        except ABSENT:
            near = did_you_mean(name, self._kernel.prompts)
            hint = f"{near}All are named by prompts/list."
            error = VrError(f"No prompt {name!r}.", Code.NOT_FOUND, hint=hint)
        except FastMCPError as failed:
            error = _typed(failed)
        raise protocol_error(self._told(error, name))

    async def on_read_resource(
        self,
        context: MiddlewareContext[ReadResourceRequestParams],
        call_next: CallNext[ReadResourceRequestParams, ResourceResult],
    ) -> ResourceResult:
        """Pass the request on; an error becomes one of the protocol, with the address."""
        uri = str(context.message.uri)
        try:
            return await call_next(context)
        except ABSENT:
            hint = "Addresses are named by resources/list and resources/templates/list."
            error = VrError(f"No resource {uri[:NAME_CHARS]!r}.", Code.NOT_FOUND, hint=hint)
        except FastMCPError as failed:
            error = _typed(failed)
        raise protocol_error(self._told(error, uri) | {"uri": bounded(uri)})

    def _log_unusable(self, tool: str, result: ToolResult) -> None:
        """Log once, until that tool succeeds, that stored state cannot be used."""
        error = (result.meta or {}).get(ERROR_META) if result.is_error else None
        if error is None:
            self._unusable.pop(tool, None)
        elif error.get("category") in LASTING:
            said = str(error["message"])
            if said not in self._unusable.values():
                hint = "`vr doctor` names what is wrong, and what to do."
                self._kernel.log.warning("calls fail", tool=tool, reason=said, hint=hint)
            self._unusable[tool] = said

    def _told(self, error: VrError, asked: str) -> dict[str, Any]:
        """Make the error that the client gets, with an id that is also in the log."""
        told = self._kernel.error_for(principal(), error).as_dict(uuid4().hex)
        told |= {name: self._kernel.log.clean(told[name]) for name in ("message", "hint")}
        self._kernel.log.info("request failed", asked=asked[:NAME_CHARS], call_id=told["call_id"])
        return told


def error_result(error: dict[str, Any]) -> ToolResult:
    """Turn an error into the result of a tool: as text, then as JSON, which `_meta` repeats.

    Args:
        error: has the fields of `VrError.as_dict`.
    """
    body, sound = encodable(error)
    return ToolResult(
        [text_block(_words(error)), text_block(body)], meta={ERROR_META: sound}, is_error=True
    )


def protocol_error(error: dict[str, Any]) -> McpError:
    """Turn an error into one of the protocol; `error` has the fields of `VrError.as_dict`."""
    code = INVALID_PARAMS if error["code"] not in SERVER_FAULTS else INTERNAL_ERROR
    return McpError(code, plain(_words(error)), encodable(error)[1])


def _words(error: dict[str, Any]) -> str:
    return f"{error['message'].rstrip('.')}. {error['hint']}".rstrip()


def _typed(failed: FastMCPError) -> VrError:
    """Return the `VrError` behind a failure; FastMCP's own failures keep their text."""
    cause = failed.error if isinstance(failed, RefusedError) else failed.__cause__
    if isinstance(cause, VrError):
        return cause
    if isinstance(failed, ValidationError):
        return VrError(str(failed), Code.INVALID_INPUT)
    return VrError(str(failed), Code.INTERNAL, hint="The server's log has the details.")
