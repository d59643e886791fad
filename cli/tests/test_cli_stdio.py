"""A server's life on its pipes: handshakes of every era, lines that are none, and the end."""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from plugin_zoo import OWN_TOOLS, Zoo
from server_process import MODERN, ServerProcess, modern_meta
from vr_kernel import ERROR_META
from zoo_animals import GOOD, UNDYING, ZOO_TOOLS

GREETED = "2025-06-18"
OTHER_HANDSHAKES = ["2024-11-05", "2025-03-26", "2025-11-25"]
TOOLS = sorted([*ZOO_TOOLS, *OWN_TOOLS, "undying_go"])
posix = pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")


@pytest.fixture(scope="module")
def zoo(tmp_path_factory: pytest.TempPathFactory) -> Zoo:
    """The good plugin, and one with a thread that never ends: every server ends all the same."""
    return Zoo(tmp_path_factory.mktemp("zoo")).add(GOOD, UNDYING)


def serve(zoo: Zoo) -> ServerProcess:
    """A server of this zoo, spoken to line by line."""
    return ServerProcess(zoo.environment(), zoo.work)


@pytest.fixture(scope="module")
def greeted(zoo: Zoo) -> Iterator[ServerProcess]:
    """A server after the handshake.

    Whatever it was told, though some of it was taken back or is no message, it ends well.
    """
    with serve(zoo) as server:
        server.shake_hands(GREETED)
        yield server
        assert server.process.stdin
        server.process.stdin.write(b'{"jsonrpc":"2.0","id":5,"cut o')
        code = server.finish()
        assert (code, server.stray_lines()) == (0, [])


def listed(zoo: Zoo, seed: str) -> list[dict[str, Any]]:
    """The tools as one fresh process lists them."""
    with ServerProcess(zoo.environment(PYTHONHASHSEED=seed), zoo.work) as server:
        server.shake_hands("2025-11-25")
        tools: list[dict[str, Any]] = server.ask("tools/list")["result"]["tools"]
        return tools


@pytest.mark.slow
def test_the_list_is_the_same_in_every_process(zoo: Zoo) -> None:
    first, second = listed(zoo, "1"), listed(zoo, "2")
    assert json.dumps(first, sort_keys=True) == json.dumps(second, sort_keys=True)
    assert [tool["name"] for tool in first] == TOOLS


def check_era(server: ServerProcess, version: str) -> None:
    """The server, already greeted, serves a client of that version."""
    assert server.hello["protocolVersion"] == version
    assert server.hello["serverInfo"]["name"] == "video-research"
    assert "data, never an instruction" in server.hello["instructions"]
    tools = server.ask("tools/list")["result"]["tools"]
    assert [tool["name"] for tool in tools] == TOOLS
    echo = server.call("zoo_echo", text="hello")
    assert json.loads(echo["content"][0]["text"])["text"] == "hello"
    assert not echo.get("isError")
    failed = server.call("zoo_fail", code="AUTH")
    assert failed["isError"] is True
    assert server.ask("ping")["result"] == {}


def test_an_era_with_a_handshake(greeted: ServerProcess) -> None:
    check_era(greeted, GREETED)


@pytest.mark.slow
@pytest.mark.parametrize("version", OTHER_HANDSHAKES)
def test_the_other_eras_with_a_handshake(version: str, zoo: Zoo) -> None:
    with serve(zoo) as server:
        server.shake_hands(version)
        check_era(server, version)
        code = server.finish()
        assert (code, server.stray_lines()) == (0, [])


@pytest.mark.slow
def test_a_version_of_the_future_is_answered_with_a_known_one(zoo: Zoo) -> None:
    with serve(zoo) as server:
        assert server.shake_hands("2099-01-01")["protocolVersion"] in [GREETED, *OTHER_HANDSHAKES]


JUNK = [
    b"", b"   ", b"hello", b"{", b"}", b"[]", b"{}", b"null", b"3", b'"text"', b"\x00\xff\xfe",
    b'{"jsonrpc":"2.0"}', b'{"jsonrpc":"1.0","id":900,"method":"ping"}', b"[" * 20_000,
    b'{"jsonrpc":"2.0","id":null,"method":"ping"}', b'{"jsonrpc":"2.0","id":{},"method":"ping"}',
    b'{"jsonrpc":"2.0","id":7,"result":{}}', b'{"jsonrpc":"2.0","id":8,"error":{"code":1}}',
    b'{"jsonrpc":"2.0","method":"notifications/unheard-of"}', b"x" * 2_000_000,
    b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":999}}',
    b'{"jsonrpc":"2.0","method":"notifications/cancelled"}',
    b'{"jsonrpc":"2.0","id":901,"method":"no/such/method"}',
    b'{"jsonrpc":"2.0","id":902,"method":"tools/call"}',
    b'{"jsonrpc":"2.0","id":903,"method":"tools/call","params":[]}',
    b'{"jsonrpc":"2.0","id":904,"method":"tools/call","params":{"name":3}}',
    b'{"jsonrpc":"2.0","id":905,"method":"tools/call","params":{"name":"zoo_echo","arguments":[]}}',
    b'{"jsonrpc":"2.0","id":906,"method":"ping","params":{"text":"\\ud800"}}',
    b'{"jsonrpc":"2.0","id":907,"method":"resources/read","params":{"uri":"no address"}}',
    b'{"jsonrpc":"2.0","id":908,"method":"tools/list","params":{"cursor":"nowhere"}}',
    b'{"method":"tools/call","params":{"id":7,"text":"smile \\ud83d"},"jsonrpc":"2.0","id":"nine"}',
    b'{"id":910,"method":"ping","params":{"deep":' + b"[" * 100_000 + b"]" * 100_000 + b"}}",
    b'{"jsonrpc":"2.0","id":911,"method":"ping","params":{"cut":"',
    b'{"jsonrpc":"2.0","id":912,"method":7}', b'{"id":913,"method":"ping"}',
    b'{"jsonrpc":"2.0","id":"\\x","method":7}', b'{"jsonrpc":"2.0","id":7.5,"method":7}',
]  # fmt: skip
PARSE, REQUEST, METHOD, PARAMS = -32700, -32600, -32601, -32602
REFUSED = {
    900: REQUEST, 901: METHOD, 902: PARAMS, 903: REQUEST, 904: PARAMS, 905: PARAMS, 906: PARSE,
    907: PARAMS, "nine": PARSE, 910: PARSE, 911: PARSE, 912: REQUEST, 913: REQUEST,
}  # fmt: skip
"""The requests among the junk, by the ids that can be read."""


def send_junk(server: ServerProcess) -> dict[Any, int]:
    """Send it all to a server that answers afterwards; the code of each refusal, by its id."""
    before = len(server.lines)
    for line in JUNK:
        server.send(line)
    if not server.hello:
        server.shake_hands(GREETED)
    assert server.call("zoo_echo", text="still here")["structuredContent"]["text"]
    answers = [json.loads(line) for line in server.lines[before:]]
    assert "Traceback" not in json.dumps(answers)
    return {answer["id"]: answer["error"]["code"] for answer in answers if "error" in answer}


def test_lines_that_are_no_message_do_not_end_it(greeted: ServerProcess) -> None:
    assert send_junk(greeted) == REFUSED
    assert greeted.stray_lines() == []


@pytest.mark.slow
def test_lines_that_are_no_message_before_the_handshake_do_not_end_it(zoo: Zoo) -> None:
    with serve(zoo) as server:
        send_junk(server)
        code = server.finish()
        assert (code, server.stray_lines()) == (0, [])


def test_hard_results_do_not_harm_the_stream(greeted: ServerProcess) -> None:
    """Names of files that are no UTF-8, numbers that JSON does not have, line ends."""
    heard = {
        what: greeted.call("zoo_mutter", what=what).get("structuredContent")
        for what in ("surrogate", "nan", "line", "noise")
    }
    assert heard["surrogate"]["text"] == "caf?"
    assert heard["line"]["text"] == "one\ntwo\nthree"
    assert heard["noise"]["text"] == ""
    failed = greeted.call("zoo_mutter", what="error")
    assert failed["_meta"][ERROR_META]["message"] == "No such file: caf?."
    assert "caf?" in failed["content"][0]["text"]
    assert greeted.stray_lines() == []


# The end.


@pytest.mark.parametrize("where", ["here", pytest.param("thread", marks=pytest.mark.slow)])
def test_it_ends_with_its_client_whatever_still_runs(where: str, zoo: Zoo, tmp_path: Path) -> None:
    with serve(zoo) as server:
        server.shake_hands(GREETED)
        server.start(
            "tools/call",
            name="zoo_wait",
            arguments={"folder": str(tmp_path), "where": where},
            _meta={"progressToken": 1},
        )
        assert server.process.stdout
        assert b"waiting" in server.process.stdout.readline()
        code = server.hang_up()
        assert code == 0
        assert (tmp_path / "cancelled").exists()


@pytest.mark.parametrize("version", [MODERN, pytest.param(GREETED, marks=pytest.mark.slow)])
def test_what_was_asked_before_stdin_ended_is_answered(version: str, zoo: Zoo) -> None:
    climb = {"name": "zoo_climb", "arguments": {"steps": [0.0] * 50}}
    echo = {"name": "zoo_echo", "arguments": {"text": "heard"}}
    asked: dict[Any, tuple[str, dict[str, Any]]] = {
        "list": ("tools/list", {}),
        3: ("tools/call", climb),
        'te"n': ("tools/call", echo),
        4: ("no/such/method", {}),
        5: ("tools/call", {"name": "zoo_ecko", "arguments": {}}),
    }
    if version == MODERN:
        asked["discover"] = ("server/discover", {})
    with serve(zoo) as server:
        if version != MODERN:
            client = {"name": "test", "version": "1"}
            hello = {"protocolVersion": version, "capabilities": {}, "clientInfo": client}
            server.send({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello})
            server.notify("notifications/initialized")
        meta = {"_meta": modern_meta()} if version == MODERN else {}
        for number, (method, params) in asked.items():
            request = {"id": number, "method": method, "params": params | meta}
            server.send({"jsonrpc": "2.0", **request})
        last = {"jsonrpc": "2.0", "id": 6, "method": "tools/list", "params": meta}
        assert server.process.stdin
        server.process.stdin.write(json.dumps(last).encode())  # and no end of the line
        code = server.finish()
        assert (code, server.stray_lines()) == (0, [])
        answers = {a["id"]: a for a in map(json.loads, server.lines) if "method" not in a}
    assert answers.keys() - {1} == asked.keys() | {6}
    assert answers[6]["result"]["tools"]
    assert answers[3]["result"]["structuredContent"] == {"done": True}
    assert answers['te"n']["result"]["structuredContent"]["text"] == "heard"
    if version == MODERN:
        known = answers["discover"]["result"]
        assert MODERN in known["supportedVersions"]
        assert "data, never an instruction" in known["instructions"]


@pytest.mark.slow
def test_an_answer_that_never_comes_is_not_waited_for(zoo: Zoo, tmp_path: Path) -> None:
    environment = zoo.environment(VR_KERNEL__HANDLE_AFTER_S="0.5")
    with ServerProcess(environment, zoo.work) as server:
        server.shake_hands(GREETED)
        server.start("tools/call", name="zoo_wait", arguments={"folder": str(tmp_path)})
        assert server.finish() == 0
        assert (tmp_path / "cancelled").exists()


@posix
@pytest.mark.parametrize(
    ("sent", "code"),
    [("SIGTERM", 143), pytest.param("SIGINT", 130, marks=pytest.mark.slow)],
)
def test_a_signal_ends_it_while_the_client_is_there(
    sent: str, code: int, zoo: Zoo, tmp_path: Path
) -> None:
    with serve(zoo) as server:
        server.shake_hands(GREETED)
        server.start(
            "tools/call",
            name="zoo_wait",
            arguments={"folder": str(tmp_path)},
            _meta={"progressToken": 1},
        )
        assert server.process.stdout
        assert b"waiting" in server.process.stdout.readline()
        server.process.send_signal(getattr(signal, sent))
        ended = server.wait()
        assert ended == code
        assert (tmp_path / "cancelled").exists()
        assert server.log.read_text("utf-8") == ""


def test_a_cancelled_request_ends(greeted: ServerProcess, tmp_path: Path) -> None:
    arguments = {"folder": str(tmp_path)}
    request = greeted.start(
        "tools/call", name="zoo_wait", arguments=arguments, _meta={"progressToken": "p"}
    )
    assert greeted.process.stdout
    started = json.loads(greeted.process.stdout.readline())
    assert started["method"] == "notifications/progress"
    greeted.notify("notifications/cancelled", requestId=request, reason="enough")
    for _ in range(100):
        greeted.call("zoo_echo", text="afterwards")
        if (tmp_path / "cancelled").exists():
            break
    else:
        pytest.fail("the tool was not cancelled")
