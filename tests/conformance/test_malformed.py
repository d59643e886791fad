"""A real server refuses whatever is no message of the protocol, and stays."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest
from everything_server import Everything
from server_process import ServerProcess

if TYPE_CHECKING:
    from httpx2 import Client, Response

pytestmark = pytest.mark.slow

HANDSHAKE, MODERN = "2025-11-25", "2026-07-28"
PARSE, REQUEST, METHOD, PARAMS, HEADER = -32700, -32600, -32601, -32602, -32020
META = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientCapabilities": {},
}
DEEP = "[" * 100_000 + "]" * 100_000


def request(method: str, number: Any = 1, **params: Any) -> dict[str, Any]:
    """A request of either era: "ERA" becomes what every request of it carries."""
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": {"_meta": "ERA", **params}}


def call(argument: str) -> str:
    """A call of a tool with some JSON as its argument."""
    made = request("tools/call", name="test_elicitation", arguments={"message": "here"})
    return json.dumps(made).replace('"here"', argument)


CASES: dict[str, tuple[str | bytes, set[int]]] = {
    "cut": ('{"jsonrpc":"2.0","id":1,', {PARSE}),
    "nothing": ("", {PARSE}),
    "bytes": (b"\xff\xfe\x00", {PARSE}),
    "utf-16": (json.dumps(request("tools/list")).encode("utf-16"), {PARSE, PARAMS}),
    "number": ("3", {REQUEST, PARAMS}),
    "null": ("null", {REQUEST, PARAMS}),
    "batch": (json.dumps([request("tools/list"), request("tools/list", 2)]), {REQUEST, PARAMS}),
    "empty batch": ("[]", {REQUEST, PARAMS}),
    "no version": ('{"id":1,"method":"tools/list"}', {REQUEST, PARAMS}),
    "method is a number": ('{"jsonrpc":"2.0","id":1,"method":7}', {REQUEST, PARAMS}),
    "parameters are a list": (
        '{"jsonrpc":"2.0","id":1,"method":"tools/list","params":[]}',
        {REQUEST, PARAMS},
    ),
    "unknown method": (json.dumps(request("no/such")), {METHOD}),
    "name is a number": (json.dumps(request("tools/call", name=3)), {PARAMS, HEADER}),
    "arguments are a list": (
        json.dumps(request("tools/call", name="test_simple_text", arguments=[])),
        {PARAMS},
    ),
    "no address": (json.dumps(request("resources/read", uri="no address")), {PARAMS}),
    "deep": (DEEP, {PARSE}),
    "deep argument": (call(DEEP), {PARSE}),
    "5,000 digits": (call("9" * 5_000), {PARSE}),
    "log level": (json.dumps(request("logging/setLevel", level="loud")), {METHOD, PARAMS}),
    "progress is a list": (json.dumps(request("tools/list", _meta=[])), {REQUEST, PARAMS}),
}


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    from httpx2 import Client

    headers = {
        "Accept": "application/json, text/event-stream",
        "Content-Type": "application/json",
    }
    with Client(headers=headers, timeout=30) as client:
        yield client


@pytest.fixture(scope="module")
def session(client: Client, address: str) -> dict[str, str]:
    """The headers of a session after a handshake."""
    hello = request(
        "initialize",
        _meta={},
        protocolVersion=HANDSHAKE,
        capabilities={},
        clientInfo={"name": "test", "version": "1"},
    )
    answer = client.post(address, json=hello)
    known = {"Mcp-Session-Id": answer.headers["Mcp-Session-Id"], "MCP-Protocol-Version": HANDSHAKE}
    ready = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    client.post(address, json=ready, headers=known)
    return known


def answered(answer: Response) -> dict[str, Any]:
    """The one message of a response, whether it is a stream or not."""
    lines = [line[6:] for line in answer.text.splitlines() if line.startswith("data: {")]
    message: dict[str, Any] = json.loads(lines[-1] if lines else answer.text)
    return message


def modern_headers(body: str | bytes) -> dict[str, str]:
    """The headers that repeat what a request says."""
    try:
        said = json.loads(body)
        named = said["params"].get("name", said["params"].get("uri", ""))
        return {
            "MCP-Protocol-Version": MODERN,
            "Mcp-Method": str(said["method"]),
            "Mcp-Name": str(named),
        }
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return {"MCP-Protocol-Version": MODERN, "Mcp-Method": "tools/list"}


@pytest.mark.parametrize("era", [HANDSHAKE, MODERN])
@pytest.mark.parametrize("case", CASES)
def test_what_is_no_message_is_refused(
    case: str, era: str, client: Client, session: dict[str, str], address: str
) -> None:
    body, codes = CASES[case]
    if isinstance(body, str):
        body = body.replace('"ERA"', json.dumps(META) if era == MODERN else "{}")
    headers = session if era == HANDSHAKE else modern_headers(body)
    answer = client.post(address, content=body, headers=headers)
    assert answered(answer)["error"]["code"] in codes
    assert "Traceback" not in answer.text

    well = json.dumps(request("server/discover", _meta=META))
    assert client.post(address, content=well, headers=modern_headers(well)).status_code == 200


def test_a_large_body_is_refused(client: Client, address: str) -> None:
    answer = client.post(address, content=call(f'"{"x" * 5_000_000}"'))
    assert (answer.status_code, answer.json()["error"]["code"]) == (413, "TOO_LARGE")


@pytest.mark.parametrize("era", [HANDSHAKE, MODERN])
def test_equal_ids_are_both_answered(
    era: str, client: Client, session: dict[str, str], address: str
) -> None:
    """At the same time where every request stands alone; in a session one after the other."""

    def ask(tool: str) -> dict[str, Any]:
        meta = META if era == MODERN else {}
        body = json.dumps(request("tools/call", _meta=meta, name=tool, arguments={}))
        headers = modern_headers(body) if era == MODERN else session
        return answered(client.post(address, content=body, headers=headers))

    with ThreadPoolExecutor(2 if era == MODERN else 1) as pool:
        slow, fast = pool.map(ask, ["test_tool_with_progress", "test_simple_text"])
    assert (slow["id"], fast["id"]) == (1, 1)
    assert slow["result"]["structuredContent"]["text"] == "Done."
    assert "simple text" in fast["result"]["structuredContent"]["text"]


def test_lines_that_are_no_message_do_not_end_the_stream(everything: Everything) -> None:
    """A request is answered, whatever is wrong with it; so is what comes next."""
    junk = {case: body for case, (body, _) in CASES.items() if isinstance(body, str)}
    asked = {case: body for case, body in junk.items() if '"method"' in body and body[0] == "{"}
    junk |= {case: re.sub('"id": ?1', f'"id":"{case}"', body) for case, body in asked.items()}
    who = {"name": "test", "version": "1"}
    hello = request(
        "initialize", "hello", _meta={}, protocolVersion=HANDSHAKE, capabilities={}, clientInfo=who
    )
    twice = request("tools/call", 7, _meta={}, name="test_simple_text", arguments={})
    last = request("tools/call", "last", _meta={}, name="test_tool_with_progress", arguments={})
    with ServerProcess(everything.environment(), everything.work) as server:
        for message in (hello, *junk.values(), twice, twice, last):
            line = message if isinstance(message, str) else json.dumps(message)
            server.send(line.replace('"ERA"', "{}").encode())
        server.answer("last")
        answers: list[dict[str, Any]] = [json.loads(line) for line in server.lines]
        assert server.finish() == 0
    assert answers[-1]["result"]["structuredContent"]["text"] == "Done."
    assert [answer["id"] for answer in answers].count(7) == 2
    assert all("result" in answer for answer in answers if answer["id"] in ("hello", 7))
    refused = {answer["id"]: answer["error"]["code"] for answer in answers if "error" in answer}
    assert refused.keys() == asked.keys()
    assert all(code in CASES[case][1] for case, code in refused.items())
