"""Nothing but the protocol reaches a server's stdout, and nobody else reads its stdin."""

from __future__ import annotations

import signal
import sys
from pathlib import Path

import pytest
from plugin_zoo import Animal, Zoo
from server_process import ServerProcess, modern_meta
from zoo_animals import GOOD, NEVER_QUIET, NOISY, SETTINGS, THIRSTY

NOISES = ("print", "buffer", "descriptor", "child")
SHOUTS = (*NOISES, "write", "original", "thread")


@pytest.fixture
def zoo(tmp_path: Path) -> Zoo:
    """An empty zoo."""
    return Zoo(tmp_path / "zoo")


def serve(zoo: Zoo, shell: str = "", **variables: str) -> ServerProcess:
    """A server of this zoo, started through a shell's line when one is given."""
    return ServerProcess(zoo.environment(**SETTINGS, **variables), zoo.work, shell=shell)


def assert_pure(server: ServerProcess) -> None:
    """Every line of stdout is a message."""
    assert server.lines
    assert server.stray_lines() == []


BROKEN = Animal("raises", "print('noise: last words')\nraise RuntimeError('no')")
LOGGED = ("noise: last words", "RuntimeError", "ZeroDivisionError", "call failed")


@pytest.mark.parametrize(
    "animal", [NOISY, pytest.param(NEVER_QUIET, marks=pytest.mark.slow)], ids=["once", "always"]
)
def test_noise_logs_and_broken_plugins_go_to_stderr(animal: Animal, zoo: Zoo) -> None:
    """From start to end."""
    with serve(zoo.add(GOOD, animal, BROKEN), VR_LOG_LEVEL="debug") as server:
        server.shake_hands("2025-11-25")
        assert server.call("zoo_shout")["structuredContent"] == {"done": True}
        server.call("zoo_crash")
        server.call("zoo_fail", code="QUOTA")
        server.ask("resources/read", uri="vr://artifacts/none")
        assert server.call("zoo_echo", text="after")["structuredContent"]["text"] == "after"
        code = server.finish()
        assert code == 0
        assert_pure(server)
        log = server.log.read_text("utf-8")
        expected = [*(f"noise: {noise}\n" for noise in SHOUTS), *LOGGED]
        missing = [words for words in expected if words not in log]
        assert not missing, log[:2000]


@pytest.mark.slow
def test_noise_of_the_first_request_goes_to_stderr(zoo: Zoo) -> None:
    """On 2026-07-28 no handshake comes before the first call of a tool."""
    with serve(zoo.add(GOOD)) as server:
        reply = server.ask("tools/call", name="zoo_shout", arguments={}, _meta=modern_meta())
        assert reply["result"]["structuredContent"] == {"done": True}
        server.finish()
        assert_pure(server)


@pytest.mark.slow
def test_a_thread_that_never_stops_finds_no_gap(zoo: Zoo) -> None:
    """It prints while the transport starts, and after it has ended."""
    with serve(zoo.add(NEVER_QUIET)) as server:
        server.shake_hands("2025-11-25")
        assert server.finish() == 0
        assert_pure(server)
        assert len(server.lines) == 1


@pytest.mark.slow
@pytest.mark.parametrize("turn", range(8))
def test_a_thread_that_never_stops_finds_no_gap_in_many_starts(turn: int, zoo: Zoo) -> None:
    test_a_thread_that_never_stops_finds_no_gap(zoo)


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.slow
def test_noise_goes_to_stderr_when_a_signal_ends_it(zoo: Zoo) -> None:
    with serve(zoo.add(GOOD, NEVER_QUIET)) as server:
        server.shake_hands("2025-11-25")
        server.call("zoo_shout")
        server.process.send_signal(signal.SIGTERM)
        server.wait()
        assert_pure(server)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX shell")
def test_it_serves_without_a_stderr(zoo: Zoo) -> None:
    zoo.add(GOOD, NOISY)
    with serve(zoo, shell='exec "$0" "$@" 2>&-') as server:
        server.shake_hands("2025-06-18")
        assert server.call("zoo_shout")["structuredContent"] == {"done": True}
        assert server.call("zoo_crash")["isError"]
        assert server.finish() == 0
        assert_pure(server)


@pytest.mark.slow
def test_a_client_that_leaves_at_once_gets_nothing(zoo: Zoo) -> None:
    with serve(zoo.add(NOISY)) as server:
        code = server.finish()
        assert code == 0
        assert server.lines == []


READING = "import os, sys\ntry:\n    {how}\nexcept EOFError:\n    pass\n"


def reading(name: str, how: str) -> Animal:
    """A plugin that reads stdin at its import."""
    return Animal(name, READING.format(how=how))


THIRSTY_ONES = {
    "line": [THIRSTY, reading("line", "input()")],
    "all": [reading("all", "sys.stdin.buffer.read()")],
    "raw": [reading("raw", "os.read(0, 9)")],
}
"""A child of the process that reads, and each way in which the process itself may."""


@pytest.mark.parametrize(
    "how", ["line", *(pytest.param(how, marks=pytest.mark.slow) for how in ("all", "raw"))]
)
def test_a_plugin_does_not_eat_what_the_client_says(how: str, zoo: Zoo) -> None:
    """At import, when the first request may be waiting already."""
    with serve(zoo.add(GOOD, *THIRSTY_ONES[how])) as server:
        server.shake_hands("2025-06-18")
        assert server.call("zoo_echo", text="heard")["structuredContent"]["text"] == "heard"
        assert server.finish() == 0
        assert_pure(server)
