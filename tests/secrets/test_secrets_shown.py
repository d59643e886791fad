"""Real processes with secrets in every place: not one of them is shown, logged or kept."""

from __future__ import annotations

import http.client
import json
import re
import subprocess
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest
from canaries import ADDRESSES, CANARIES, VR, Machine, found_in
from server_process import HttpServerProcess, ServerProcess
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


def test_a_server_on_its_pipes(machine: Machine) -> None:
    asked = [
        *[(method, {}) for method in ("tools/list", "resources/list", "prompts/list")],
        *[_call(name, {}) for name in (*LEAKY, "infra_plugins", "infra_configure", "infra_usage")],
        *[_call(name, {}) for name in ("infra_cache", "job_list", "knowledge_stats", "nothing")],
        *[_call("leaky_fetch", {"url": address}) for address in ADDRESSES],
        *[_call("video_analyze", {"url": address}) for address in ADDRESSES],
        _call("leaky_ask", {"text": "a job", "url": ADDRESSES[0]}),
        _call("leaky_speak", {"unknown": CANARIES["address key"]}),
        _call("video_scenes", {"max_scenes": CANARIES["address key"]}),
    ]
    with ServerProcess(machine.environment(), machine.work) as server:
        server.shake_hands("2025-06-18")
        for method, params in asked:
            server.ask(method, **params)
        server.finish()
    assert found_in(b"".join(server.lines)) == []
    log = server.log.read_bytes()
    assert b"leaky_raise" in log
    assert not machine.leaks(), _around(log)


def test_a_server_over_http(machine: Machine) -> None:
    with HttpServerProcess(machine.environment(), machine.work) as server:
        seen = [_get(server, "/health", "")]
        for token in ("wrong token", "VR_HTTP_TOKEN", "VR_HTTP_TOKENS anna"):
            for method, params in (("tools/list", {}), *(_call(name, {}) for name in LEAKY)):
                body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
                seen.append(_get(server, "/mcp", CANARIES[token], body))
        seen.append(_get(server, f"/mcp?token={CANARIES['address token']}", ""))
        server.terminate()
    log = "".join(server.lines).encode()
    assert found_in(b"\n".join(seen)) == []
    assert found_in(log) == [], _around(log)
    assert not machine.leaks()


def _call(name: str, arguments: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    return "tools/call", {"name": name, "arguments": arguments}


def _get(
    server: HttpServerProcess, path: str, token: str, body: dict[str, Any] | None = None
) -> bytes:
    connection = http.client.HTTPConnection(urlsplit(server.url).netloc, timeout=60)
    headers = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
    if token:
        headers["Authorization"] = f"Bearer {token}"
    connection.request("POST" if body else "GET", path, json.dumps(body) if body else None, headers)
    answer = connection.getresponse()
    seen = str(answer.getheaders()).encode() + answer.read()
    connection.close()
    return re.sub(rb"\s+", b" ", seen)
