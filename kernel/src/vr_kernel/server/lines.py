"""What a client writes on stdin that is no message: a request among it is answered all the same."""

from __future__ import annotations

import json
import re
from typing import Any

from mcp_types import INVALID_REQUEST, PARSE_ERROR, jsonrpc_message_adapter
from pydantic import ValidationError

_PART = re.compile(r'[\[{}\]]|"(?:[^"\\]|\\.)*+"?', re.DOTALL)
_STRING = r'"(?:[^"\\]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*+"'
_VALUE = re.compile(rf"\s*:\s*({_STRING}|-?\d{{1,18}}(?=\s*[,}}]))?")


def refusal_of(line: bytes) -> bytes | None:
    """The answer to a line that the transport would drop, so that nobody waits for one in vain.

    Returns:
        None for a message, which is the application's to answer; nothing when there is nobody to
        answer: no request, or none with an id that can be read.
    """
    text = line.decode("utf-8", "replace")
    try:
        jsonrpc_message_adapter.validate_json(text, by_name=False)
    except ValidationError as error:
        said = error.errors(include_url=False, include_input=False, include_context=False)
    else:
        return None
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
