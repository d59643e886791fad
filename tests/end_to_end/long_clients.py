"""Clients as they are in use, each with a clock: what does not answer in time has failed."""

from __future__ import annotations

import json
import os
import queue
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from server_process import HttpServerProcess, ServerProcess

MODERN = "2026-07-28"
TASKS = "io.modelcontextprotocol/tasks"
TOKEN = "a-token-for-the-bakery"
START_S = 120.0
_META = "io.modelcontextprotocol/"


class TimedOutError(Exception):
    """No sign of life for as long as the client waits."""


class RefusedError(Exception):
    """An error of the protocol."""


@dataclass(frozen=True)
class Kind:
    """Abilities of a client: its protocol, progress, and following tasks."""

    version: str
    progress: bool = False
    tasks: bool = False


class Wire(Protocol):
    """A server of its own, and how to talk to it."""

    inbox: queue.Queue[dict[str, Any]]

    def post(self, message: Mapping[str, Any], kind: Kind) -> None:
        """Send a message."""
        ...

    def kill(self) -> None:
        """End the server as a crash does."""
        ...


class StdioWire:
    """A server that the client started."""

    def __init__(self, environment: Mapping[str, str], folder: Path) -> None:
        self.inbox: queue.Queue[dict[str, Any]] = queue.Queue()
        self._server = ServerProcess(environment, folder)
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def post(self, message: Mapping[str, Any], kind: Kind) -> None:
        """Write a line."""
        del kind
        self._server.send(message)

    def kill(self) -> None:
        """End the server by SIGKILL."""
        with self._server as server:
            server.process.kill()
            self._reader.join()

    def _read(self) -> None:
        assert self._server.process.stdout
        for line in self._server.process.stdout:
            self.inbox.put(json.loads(line))


class HttpWire:
    """One client's way to a server that listens."""

    def __init__(self, server: HttpServerProcess) -> None:
        self.inbox: queue.Queue[dict[str, Any]] = queue.Queue()
        self._server = server
        self._session: dict[str, str] = {}
        self._threads: list[threading.Thread] = []

    def post(
        self,
        message: Mapping[str, Any],
        kind: Kind,
        token: str = TOKEN,
        headers: Mapping[str, str] = {},
    ) -> None:
        """Send a request, whose answer is read beside."""
        sent = {
            "Accept": "application/json, text/event-stream",
            "Authorization": f"Bearer {token}",
            **self._session,
            **(_routing(message) if kind.version == MODERN else {}),
            **headers,
        }
        thread = threading.Thread(target=self._exchange, args=(dict(message), sent))
        self._threads.append(thread)
        thread.start()
        if "id" not in message:
            thread.join()

    def kill(self) -> None:
        """End the server for all its clients."""
        self._server.kill()
        for thread in self._threads:
            thread.join()

    def _exchange(self, message: dict[str, Any], headers: dict[str, str]) -> None:
        import httpx2

        options: dict[str, Any] = {"json": message, "headers": headers, "timeout": None}
        with (
            suppress(httpx2.TransportError),  # of a server that was killed
            httpx2.stream("POST", self._server.url, **options) as answer,
        ):
            if session := answer.headers.get("mcp-session-id"):
                self._session = {"Mcp-Session-Id": session}
            for line in answer.iter_lines():
                body = line.removeprefix("data:").strip()
                if body.startswith("{"):
                    self.inbox.put(json.loads(body))


def _routing(message: Mapping[str, Any]) -> dict[str, str]:
    params = message["params"]
    name = params.get("name") or params.get("taskId")
    routed = {"MCP-Protocol-Version": MODERN, "Mcp-Method": message["method"]}
    return {**routed, "Mcp-Name": name} if name else routed


@dataclass
class LongClient:
    """One client. It gives a request up `timeout_s` after the last sign of life.

    `progress` has the numbers it was told, by request; `longest_s` is its longest wait.
    """

    wire: Wire
    kind: Kind
    timeout_s: float
    progress: dict[int, list[float]] = field(default_factory=dict)
    longest_s: float = 0.0
    _id: int = 0

    def meet(self) -> None:
        """Wait until the server is there, and shake hands where that is due."""
        if self.kind.version == MODERN:
            self.request("server/discover", within_s=START_S)
        else:
            client = {"name": "test", "version": "1"}
            hello = {"protocolVersion": self.kind.version, "clientInfo": client}
            met = self.request("initialize", within_s=START_S, **hello, capabilities={})
            assert met["protocolVersion"] == self.kind.version
            ready = {"jsonrpc": "2.0", "method": "notifications/initialized", "params": {}}
            self.wire.post(ready, self.kind)
        self.request("tools/list", within_s=START_S)
        self.longest_s = 0.0

    def request(
        self, method: str, *, within_s: float | None = None, **params: Any
    ) -> dict[str, Any]:
        """The result of a request.

        Raises:
            TimedOutError: no answer in time, and no progress where the client takes it.
            RefusedError: an error of the protocol.
        """
        self._id += 1
        message = {"jsonrpc": "2.0", "id": self._id, "method": method}
        self.wire.post({**message, "params": {**params, "_meta": self._meta()}}, self.kind)
        patience, told = within_s or self.timeout_s, self.progress.setdefault(self._id, [])
        since = time.monotonic()
        while True:
            try:
                heard = self.wire.inbox.get(timeout=max(0.0, since + patience - time.monotonic()))
            except queue.Empty:
                raise TimedOutError(f"{method}: nothing for {patience} s") from None
            if heard.get("id") == self._id and "method" not in heard:
                self._waited(since)
                return _result(heard)
            is_progress = heard.get("method") == "notifications/progress"
            if is_progress and heard["params"]["progressToken"] == self._id:
                assert self.kind.progress, "nobody asked for progress"
                self._waited(since)
                since = time.monotonic()
                told.append(heard["params"]["progress"])

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The result of a tool, read as text by those who know nothing else; or a task."""
        answer = self.request("tools/call", name=tool, arguments=arguments)
        if answer.get("resultType") == "task":
            return answer
        said: dict[str, Any] = json.loads(answer["content"][0]["text"])
        assert self.kind.version < "2025-06-18" or answer["structuredContent"] == said
        return said

    def _waited(self, since: float) -> None:
        self.longest_s = max(self.longest_s, time.monotonic() - since)

    def _meta(self) -> dict[str, Any]:
        meta: dict[str, Any] = {"progressToken": self._id} if self.kind.progress else {}
        if self.kind.version != MODERN:
            return meta
        return {
            **meta,
            f"{_META}protocolVersion": MODERN,
            f"{_META}clientInfo": {"name": "test", "version": "1"},
            f"{_META}clientCapabilities": {"extensions": {TASKS: {}}} if self.kind.tasks else {},
        }


def _result(answer: dict[str, Any]) -> dict[str, Any]:
    if "error" in answer:
        raise RefusedError(answer["error"]["code"], answer["error"]["message"])
    result: dict[str, Any] = answer["result"]
    return result


def install(plugin: Path, folder: Path) -> dict[str, str]:
    """Variables of a process that finds a plugin of one module, and no other."""
    name = plugin.stem.removesuffix("_plugin")
    info = folder / f"vr_plugin_{name}-1.0.dist-info"
    info.mkdir(parents=True)
    (folder / plugin.name).write_bytes(plugin.read_bytes())
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: vr-plugin-{name}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[vr.plugins]\n{name} = {plugin.stem}\n")
    path = os.pathsep.join(filter(None, [str(folder), os.environ.get("PYTHONPATH")]))
    return {"PYTHONPATH": path, "VR_PLUGINS": name}
