"""Servers as processes: spawn, speak raw JSON-RPC lines, read what they have used.

Figures of another process come from the kernel's clock and `/proc` on Linux, and from `ps`
elsewhere (macOS; resolution 10 ms). Windows is not supported.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

LIFE_LIMIT_S = 300.0
"""A server that hangs is killed after this time."""
PROTOCOL = "2025-06-18"
KEPT = ("PATH", "TMPDIR", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "SSL_CERT_FILE")


@dataclass(frozen=True, slots=True)
class Usage:
    """Usage of a process so far: processor seconds, resident memory now in MB."""

    cpu_s: float
    rss_mb: float


def clean_environment(home: Path, **more: str) -> dict[str, str]:
    """Variables of a process that sees no user settings: its home is `home`.

    FastMCP's banner and its question for updates are off for everyone: the network is noise.
    """
    kept = {name: os.environ[name] for name in KEPT if name in os.environ}
    quiet = {"FASTMCP_SHOW_SERVER_BANNER": "false", "FASTMCP_CHECK_FOR_UPDATES": "off"}
    return {**kept, **quiet, "HOME": str(home), **more}


def usage_of(pid: int) -> Usage:
    """Usage of a running process so far."""
    if sys.platform == "linux":
        # The clock of another process; see clock_getcpuclockid(3): (~pid << 3) | CPUCLOCK_SCHED.
        cpu_s = time.clock_gettime((~pid << 3) | 2)
        return Usage(cpu_s, _status_mb(pid, "VmRSS"))
    command = ["ps", "-o", "time=,rss=", "-p", str(pid)]
    clock, rss = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    minutes, seconds = clock.rsplit(":", 1)
    return Usage(sum(60 * int(m) for m in minutes.split(":")) + float(seconds), int(rss) / 1024)


def peak_of(pid: int) -> float:
    """Most memory that a running process ever held, in MB; on macOS what it holds now."""
    return _status_mb(pid, "VmHWM") if sys.platform == "linux" else usage_of(pid).rss_mb


def own_peak_mb() -> float:
    """Most memory that this process ever held, in MB.

    Not `ru_maxrss` on Linux: there a child starts with what its parent held.
    """
    if sys.platform == "linux":
        return _status_mb(os.getpid(), "VmHWM")
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def cpu_of(command: Sequence[str], env: Mapping[str, str]) -> float:
    """Processor seconds of a program, from its start to its end.

    Raises:
        RuntimeError: when it fails.
    """
    before = _of_children()
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} failed:\n{done.stderr[-2000:]}")
    return _of_children() - before


def _of_children() -> float:
    import resource

    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


class StdioServer:
    """An MCP server over stdio, spoken to in raw lines so that no client's cost is measured."""

    def __init__(self, command: Sequence[str], env: Mapping[str, str], cwd: Path) -> None:
        self._command = command
        self._log = tempfile.TemporaryFile("w+")  # noqa: SIM115 - closed on exit
        self._next_id = 0
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            env=dict(env),
            cwd=cwd,
        )
        self._watchdog = threading.Timer(LIFE_LIMIT_S, self.process.kill)
        self._watchdog.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.close()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self._watchdog.cancel()
        self.process.stdout.close()
        self._log.close()

    def shake_hands(self) -> dict[str, Any]:
        """`initialize`, and the notification that follows; the server's answer."""
        answer = self.request(
            "initialize",
            {
                "protocolVersion": PROTOCOL,
                "capabilities": {},
                "clientInfo": {"name": "benchmark", "version": "1"},
            },
        )
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return answer

    def tools(self) -> list[dict[str, Any]]:
        """All tools that the server lists."""
        found: list[dict[str, Any]] = []
        cursor: dict[str, Any] = {}
        while True:
            page = self.request("tools/list", cursor)
            found += page["tools"]
            if not page.get("nextCursor"):
                return found
            cursor = {"cursor": page["nextCursor"]}

    def call(self, tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Call a tool; the raw result, an error of the tool included."""
        return self.request("tools/call", {"name": tool, "arguments": dict(arguments)})

    def cancel(self, tool: str, arguments: Mapping[str, Any]) -> None:
        """Call a tool and cancel the call at once; no answer is waited for."""
        self._next_id += 1
        params = {"name": tool, "arguments": dict(arguments)}
        self._send(
            {"jsonrpc": "2.0", "id": self._next_id, "method": "tools/call", "params": params}
        )
        gone = {"requestId": self._next_id}
        self._send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": gone})

    def request(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        """The result of a request.

        Raises:
            RuntimeError: when the server ends or answers with a protocol error.
        """
        self._next_id += 1
        self._send(
            {"jsonrpc": "2.0", "id": self._next_id, "method": method, "params": dict(params)}
        )
        assert self.process.stdout
        for line in self.process.stdout:
            answer = json.loads(line)
            if answer.get("id") != self._next_id:
                continue
            if "error" in answer:
                raise RuntimeError(f"{method}: {answer['error']}")
            result: dict[str, Any] = answer["result"]
            return result
        self._log.seek(0)
        said = self._log.read()[-2000:]
        raise RuntimeError(f"{' '.join(self._command)} ended before it answered:\n{said}")

    def usage(self) -> Usage:
        """Usage of the server so far."""
        return usage_of(self.process.pid)

    def _send(self, message: Mapping[str, Any]) -> None:
        assert self.process.stdin
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()


def _status_mb(pid: int, field: str) -> float:
    status = Path(f"/proc/{pid}/status").read_text("utf-8")
    found = re.search(rf"^{field}:\s+(\d+) kB", status, re.MULTILINE)
    assert found, field
    return int(found[1]) / 1024
