"""The lines of a client on stdin, and of its server on stdout: what was asked, what is answered."""

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
# An answer as the transport writes it: on a line of its own, and with its id before all else.
_ANSWER = re.compile(
    rf'^{{"jsonrpc":"2.0","id":({_STRING}|-?\d+),"(?:result|error)"'.encode(), re.MULTILINE
)


class Dialogue:
    """What a client asked on stdin and has not been answered on stdout."""

    def __init__(self) -> None:
        self._unanswered: set[str | int] = set()

    @property
    def over(self) -> bool:
        """Nothing is left to be answered."""
        return not self._unanswered

    def hear(self, line: bytes) -> bytes | None:
        """Take a line of the client.

        Returns:
            None for a message, which is the application's to answer. For any other line, which
            the transport would drop, the answer, so that nobody waits for one in vain: empty when
            there is nobody to answer, as for no request, or one without an id that can be read.
        """
        text = line.decode("utf-8", "replace")
        try:
            message = jsonrpc_message_adapter.validate_json(text, by_name=False)
        except ValidationError as error:
            return _refusal(text, error)
        self._note(message)
        return None

    def say(self, data: bytes) -> None:
        """Take what was written to the client, in whole lines."""
        for answer in _ANSWER.finditer(data):
            self._unanswered.discard(json.loads(answer[1]))

    def _note(self, message: JSONRPCMessage) -> None:
        if isinstance(message, JSONRPCRequest):
            self._unanswered.add(message.id)
        # Who takes a request back gets no answer.
        if isinstance(message, JSONRPCNotification) and message.method == CANCELLED:
            self._unanswered.discard((message.params or {}).get("requestId", ""))


def _refusal(text: str, error: ValidationError) -> bytes:
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
    """The keys of the outermost object, of `id` with its value if it is one that ids have.

    The text need not be JSON: it may be cut, or nested deeper than parsers go.
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
