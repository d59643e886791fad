"""A real `vr serve` on its pipes or over HTTP, spoken to as a client in any language would."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from threading import Thread, Timer
from typing import Any, Self

from plugin_zoo import vr_command

MODERN = "2026-07-28"
HUNG_S = 20.0
"""Ten times as long as the end of a server may take; one that answers what is open waits longer."""
_META = "io.modelcontextprotocol/"


class EndedError(AssertionError):
    """The server ended without an answer."""


class ServerProcess:
    """A server on its pipes. Every line of its stdout is kept; none may be lost or wrong."""

    def __init__(self, environment: Mapping[str, str], folder: Path, *, shell: str = "") -> None:
        self.log = folder / f"server-{time.time_ns()}.log"
        self.lines: list[bytes] = []
        self.hello: dict[str, Any] = {}
        self._id = 0
        start = ["sh", "-c", shell] if shell else []
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [*start, *vr_command("serve")],
                env=dict(environment),
                cwd=folder,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe and not pipe.closed:
                pipe.close()

    def send(self, message: Mapping[str, Any] | bytes) -> None:
        """Write one line."""
        line = message if isinstance(message, bytes) else json.dumps(message).encode()
        assert self.process.stdin
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def notify(self, method: str, **params: Any) -> None:
        """Send a notification."""
        self.send({"jsonrpc": "2.0", "method": method, "params": params})

    def start(self, method: str, **params: Any) -> int:
        """Send a request and return its id."""
        self._id += 1
        self.send({"jsonrpc": "2.0", "id": self._id, "method": method, "params": params})
        return self._id

    def answer(self, request: int | str) -> dict[str, Any]:
        """The response to a request; what comes before it is kept in `lines`."""
        assert self.process.stdout
        while (line := self.process.stdout.readline()).endswith(b"\n"):
            self.lines.append(line)
            message: dict[str, Any] = json.loads(line)
            if message.get("id") == request and "method" not in message:
                return message
        raise EndedError(f"the server ended without an answer:\n{self.log.read_text()}")

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        """Send a request and wait for its response."""
        return self.answer(self.start(method, **params))

    def shake_hands(self, version: str) -> dict[str, Any]:
        """The handshake of the eras before 2026-07-28; its result is kept in `hello`."""
        client = {"name": "test", "version": "1"}
        reply = self.ask("initialize", protocolVersion=version, capabilities={}, clientInfo=client)
        self.notify("notifications/initialized")
        self.hello = reply["result"]
        return self.hello

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Call a tool after a handshake, and return its result."""
        result: dict[str, Any] = self.ask("tools/call", name=tool, arguments=arguments)["result"]
        return result

    def finish(self) -> int:
        """Close stdin and read to the end; the exit code."""
        assert self.process.stdin
        self.process.stdin.close()
        return self.wait()

    def hang_up(self) -> int:
        """Be gone, as a client that was killed; the exit code."""
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.close()
        self.process.stdout.close()
        return self.process.wait(HUNG_S)

    def wait(self) -> int:
        """Read to the end; the exit code, which is that of SIGKILL for a server that hangs."""
        assert self.process.stdout
        killer = Timer(HUNG_S, self.process.kill)
        killer.start()
        try:
            self.lines += self.process.stdout.readlines()
            return self.process.wait(HUNG_S)
        finally:
            killer.cancel()

    def stray_lines(self) -> list[bytes]:
        """Lines of stdout that are no JSON-RPC message."""
        return [line for line in self.lines if not _is_message(line)]


class HttpServerProcess:
    """A server that listens on a free port; all that it writes is in `lines` once it ended."""

    def __init__(self, environment: Mapping[str, str], folder: Path) -> None:
        self.process = subprocess.Popen(
            [*vr_command("serve"), "--http", "0"],
            env=dict(environment),
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        assert self.process.stdout
        self.lines: list[str] = []
        self.url = ""
        for line in self.process.stdout:
            self.lines.append(line)
            if line.startswith("Serving on "):
                self.url = line.split()[-1]
                break
        # A log that nobody reads would stop the server once the pipe is full.
        self._reader = Thread(target=self.lines.extend, args=(self.process.stdout,))
        self._reader.start()

    def __enter__(self) -> Self:
        if not self.url:
            self.kill()
            raise EndedError("".join(self.lines))
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def terminate(self) -> int:
        """Ask it to end; its exit code."""
        self.process.terminate()
        code = self.process.wait(HUNG_S)
        self._reader.join()
        return code

    def kill(self) -> None:
        """Kill it, if it has not ended, and read the rest of what it wrote."""
        self.process.kill()
        self.process.wait()
        self._reader.join()
        assert self.process.stdout
        self.process.stdout.close()


def modern_meta(**more: Any) -> dict[str, Any]:
    """The `_meta` of every request of 2026-07-28."""
    return {
        f"{_META}protocolVersion": MODERN,
        f"{_META}clientInfo": {"name": "test", "version": "1"},
        f"{_META}clientCapabilities": {},
        **more,
    }


def _is_message(line: bytes) -> bool:
    try:
        message = json.loads(line, parse_constant=_refuse)
    except ValueError:
        return False
    return isinstance(message, dict) and message.get("jsonrpc") == "2.0"


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON")
