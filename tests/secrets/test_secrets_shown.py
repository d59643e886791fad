"""Real processes with secrets in every place: not one of them is shown, logged or kept."""

from __future__ import annotations

import http.client
import json
import re
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from canaries import ADDRESSES, CANARIES, VR, Machine, found_in
from vr_testing import FakeGemini, Fault

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]
LEAKY = ("leaky_raise", "leaky_refuse", "leaky_speak")
UNKNOWN = {
    name
    for name in CANARIES
    if name.split()[0] in ("address", "wrong", "folder", "project", "user", "config.toml")
}
"""Secrets that the program does not use, and cannot tell from other words."""
NOT_RUN = {"serve", "demo"}
"""Commands that do not end by themselves, or take minutes."""


@pytest.fixture(scope="module")
def gemini() -> Iterator[FakeGemini]:
    with FakeGemini() as gemini:
        yield gemini


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory, gemini: FakeGemini) -> Iterator[Machine]:
    machine = Machine(tmp_path_factory.mktemp("machine").resolve() / "all", gemini.url)
    yield machine
    assert machine.leaks() == []


Vr = Callable[..., bytes]


@pytest.fixture
def vr(machine: Machine) -> Vr:
    """Runs a command and gives what it printed; secrets in it fail the test."""

    def run(*words: str, **variables: str) -> bytes:
        done = subprocess.run(
            [*VR, *words],
            env=machine.environment(**variables),
            cwd=machine.work,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=120,
            check=False,
        )
        printed = done.stdout + done.stderr
        leaked = found_in(printed)
        assert not leaked, f"vr {' '.join(words)} shows {leaked}:\n{_around(printed)}"
        return printed

    return run


def _around(printed: bytes) -> str:
    text = printed.decode(errors="replace")
    return "\n".join(line[:600] for line in text.splitlines() if "cNrY" in line)[:4000]


def _commands(vr: Vr, *words: str) -> Iterator[tuple[str, ...]]:
    """Every command below these words, as the help tells them."""
    told = vr(*words, "--help").decode().partition("\nCommands:\n")[2]
    for name in re.findall(r"^  ([a-z][\w-]*)", told, re.MULTILINE):
        if name not in NOT_RUN:
            yield from _commands(vr, *words, name)
    if not told:
        yield words


def test_every_command(vr: Vr) -> None:
    vr("plugin", "list")  # the help knows the commands of plugins from the last load
    commands = list(_commands(vr))
    assert {("config", "show"), ("doctor",), ("job", "list"), ("leaky", "raise")} <= {*commands}
    for command in commands:
        vr(*command)


@pytest.mark.parametrize(
    "words",
    [
        ("--version",), ("--help",), ("config", "show", "--json"), ("config", "show", "--origin"),
        ("doctor", "--json"), ("plugin", "list", "--json"), ("infra", "plugins", "--json"),
        ("infra", "configure"), ("infra", "cache"), ("infra", "usage"), ("job", "list"), ("cost",),
        ("video", "analyze", "--engine", "local", "missing.mp4"), ("call", "no_such_tool"),
        ("--set", "plugins.leaky.api_ky=x", "config", "show"),
    ],
    ids=" ".join,
)  # fmt: skip
def test_what_commands_show(vr: Vr, words: tuple[str, ...]) -> None:
    assert vr(*words)


@pytest.mark.parametrize("form", ["console", "json"])
@pytest.mark.parametrize("tool", LEAKY)
def test_a_plugin_that_quotes_its_secrets(vr: Vr, tool: str, form: str) -> None:
    printed = vr("call", tool, VR_KERNEL__LOG_FORMAT=form)
    assert b"[secret]" in printed


@pytest.mark.parametrize("address", ADDRESSES)
def test_secrets_in_addresses(vr: Vr, address: str) -> None:
    for tool in ("leaky_fetch", "video_analyze", "video_transcript"):
        assert vr("call", tool, f"url={address}")


def test_a_service_that_repeats_keys(vr: Vr, gemini: FakeGemini) -> None:
    for status in (400, 401, 403, 429, 500):
        known = [value for name, value in CANARIES.items() if name not in UNKNOWN]
        words = f"{' '.join(known)} at https://x/?key={CANARIES['address key']}"
        gemini.heal()
        gemini.fail(Fault.status(status, words), times=None)
        assert b"[" in vr("call", "leaky_ask", f"text=status {status}")
    gemini.heal()


def test_settings_that_do_not_fit(vr: Vr) -> None:
    bad = f"bad{CANARIES['leaky strict_key']}"
    for words in (("plugin", "list"), ("config", "show"), ("doctor",), ("call", "leaky_speak")):
        vr(*words, VR_LEAKY__STRICT_KEY=bad)
        vr(*words, VR_LEAKY__STRICT_KEY=bad, VR_STRICT="1")
        vr(*words, VR_LEAKY__UNKNOWN=CANARIES["leaky password"])
        vr(*words, VR_KERNEL__LEASE_S=CANARIES["leaky password"])


def test_a_server_on_its_pipes(machine: Machine, gemini: FakeGemini) -> None:
    asked = [
        {"method": "initialize", "params": _HELLO},
        {"method": "notifications/initialized"},
        {"method": "tools/list", "params": {}},
        {"method": "resources/list", "params": {}},
        {"method": "prompts/list", "params": {}},
        *[_call(name, {}) for name in (*LEAKY, "infra_plugins", "infra_configure", "infra_usage")],
        *[_call(name, {}) for name in ("infra_cache", "job_list", "knowledge_stats", "nothing")],
        *[_call("leaky_fetch", {"url": address}) for address in ADDRESSES],
        *[_call("video_analyze", {"url": address}) for address in ADDRESSES],
        _call("leaky_ask", {"text": "a job", "url": ADDRESSES[0]}),
        _call("leaky_speak", {"unknown": CANARIES["address key"]}),
        _call("video_scenes", {"max_scenes": CANARIES["address key"]}),
    ]
    log = machine.folder / "server.log"
    answers = _converse(machine, asked, log)
    assert len(answers) == sum("id" in message for message in asked)
    assert found_in(b"\n".join(answers)) == []
    assert b"leaky_raise" in log.read_bytes()
    assert not machine.leaks(), _around(log.read_bytes())


def test_a_server_over_http(machine: Machine) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    log = machine.folder / "http.log"
    with log.open("wb") as out:
        process = subprocess.Popen(
            [*VR, "serve", "--http", str(port)],
            env=machine.environment(),
            cwd=machine.work,
            stdout=out,
            stderr=out,
        )
    try:
        _wait(port)
        seen = [_get(port, "/health", "")]
        for token in ("wrong token", "VR_HTTP_TOKEN", "VR_HTTP_TOKENS anna"):
            for message in ({"method": "tools/list"}, *map(_call, LEAKY, [{}] * len(LEAKY))):
                body = {"jsonrpc": "2.0", "id": 1, **message}
                seen.append(_get(port, "/mcp", CANARIES[token], body))
        seen.append(_get(port, f"/mcp?token={CANARIES['address token']}", ""))
    finally:
        process.terminate()
        process.wait(30)
    assert found_in(b"\n".join(seen)) == []
    assert not machine.leaks(), _around(log.read_bytes())


_HELLO = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "canaries", "version": "1"},
}


def _call(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    return {"method": "tools/call", "params": {"name": name, "arguments": arguments}}


def _converse(machine: Machine, asked: list[dict[str, Any]], log: Path) -> list[bytes]:
    """Ask one after the other; every line that the server wrote."""
    lines: list[bytes] = []
    with log.open("wb") as errors:
        process = subprocess.Popen(
            [*VR, "serve"],
            env=machine.environment(),
            cwd=machine.work,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
        )
    assert process.stdin
    assert process.stdout
    for number, message in enumerate(asked):
        if not message["method"].startswith("notifications/"):
            message["id"] = number
        line = json.dumps({"jsonrpc": "2.0", **message}).encode()
        process.stdin.write(line + b"\n")
        process.stdin.flush()
        while "id" in message and (answer := process.stdout.readline()):
            lines.append(answer)
            if json.loads(answer).get("id") == number:
                break
    process.stdin.close()
    lines.append(process.stdout.read())
    process.stdout.close()
    process.wait(30)
    return [line for line in lines if b'"id"' in line]


def _get(port: int, path: str, token: str, body: dict[str, Any] | None = None) -> bytes:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    headers = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
    if token:
        headers["Authorization"] = f"Bearer {token}"
    connection.request("POST" if body else "GET", path, json.dumps(body) if body else None, headers)
    answer = connection.getresponse()
    seen = str(answer.getheaders()).encode() + answer.read()
    connection.close()
    return re.sub(rb"\s+", b" ", seen)


def _wait(port: int) -> None:
    until = time.monotonic() + 60
    while time.monotonic() < until:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            time.sleep(0.05)
        else:
            return
    raise TimeoutError("the server does not listen")
