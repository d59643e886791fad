"""The unanswered requests of a client over stdio, and lines that are no requests."""

from __future__ import annotations

import json
import re
from typing import Any

from mcp_types import (
    INVALID_REQUEST,
    PARSE_ERROR,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    jsonrpc_message_adapter,
)
from pydantic import ValidationError

CANCELLED = "notifications/cancelled"
_PART = re.compile(r'[\[{}\]]|"(?:[^"\\]|\\.)*+"?', re.DOTALL)
_STRING = r'"(?:[^"\\]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*+"'
_VALUE = re.compile(rf"\s*:\s*({_STRING}|-?\d{{1,18}}(?=\s*[,}}]))?")
# The form in which the transport writes answers: one per line, with the id first.
_ANSWER = re.compile(
    rf'^{{"jsonrpc":"2.0","id":({_STRING}|-?\d+),"(?:result|error)"'.encode(), re.MULTILINE
)


class OpenRequests:
    """The unanswered requests of a client; falsy when there are none."""

    def __init__(self) -> None:
        self._ids: set[str | int] = set()

    def __bool__(self) -> bool:
        return bool(self._ids)

    def read(self, line: bytes) -> bytes | None:
        """Read a line from the client.

        Returns:
            None for a message, which the transport passes on. The transport would drop any other
            line, so it is answered here: with an error, or with nothing if it is no request, or has
            no readable id.
        """
        text = line.decode("utf-8", "replace")
        try:
            message = jsonrpc_message_adapter.validate_json(text, by_name=False)
        except ValidationError as error:
            return _error_answer(text, error)
        self._note(message)
        return None

    def written(self, data: bytes) -> None:
        """Mark the requests that these complete lines answer as answered."""
        for answer in _ANSWER.finditer(data):
            self._ids.discard(json.loads(answer[1]))

    def _note(self, message: JSONRPCMessage) -> None:
        if isinstance(message, JSONRPCRequest):
            self._ids.add(message.id)
        # A cancelled request gets no answer.
        if isinstance(message, JSONRPCNotification) and message.method == CANCELLED:
            self._ids.discard((message.params or {}).get("requestId", ""))


def _error_answer(text: str, error: ValidationError) -> bytes:
    said = error.errors(include_url=False, include_input=False, include_context=False)
    known = _outermost(text)
    if "id" not in known or "method" not in known or known.keys() & {"result", "error"}:
        return b""
    wrong = said[0]
    unread = wrong["type"] == "json_invalid"
    where = "" if unread else "".join(f"{part}: " for part in wrong["loc"][1:])
    answer = {
        "jsonrpc": "2.0",
        "id": known["id"],
        "error": {
            "code": PARSE_ERROR if unread else INVALID_REQUEST,
            "message": f"This is no request: {where}{wrong['msg']}.",
        },
    }
    return json.dumps(answer).encode() + b"\n"


def _outermost(text: str) -> dict[str, Any]:
    """Read the keys of the outermost object, and the value of `id` if it can be one.

    The text need not be JSON: it may be cut off, or nested deeper than parsers go.
    """
    known: dict[str, Any] = {}
    depth = 0
    for part in _PART.finditer(text) if text.lstrip().startswith("{") else ():
        if part[0] in "[{":
            depth += 1
        elif part[0] in "]}":
            depth -= 1
        elif depth == 1 and (value := _VALUE.match(text, part.end())):
            key = part[0].strip('"')
            if key != "id":
                known[key] = None
            elif value[1]:
                known[key] = json.loads(value[1], strict=False)
    return known
