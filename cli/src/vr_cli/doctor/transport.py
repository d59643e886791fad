"""Checks the server as a client sees it: a real process, a real handshake, the tokens it costs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import IO, Any

from vr_kernel import Access, Check, Config, Diagnosis, Identity, VrError

DEADLINE_S = 20.0
GRACE_S = 3.0
PROTOCOL = "2025-06-18"
"""A protocol version with a handshake, which old and new servers speak."""
BYTES_PER_TOKEN = 4
"""A rule of thumb for English and JSON; the exact count depends on the model."""
MANY_TOKENS = 10_000
SHOWN = 120
ERROR = "Error: "
"""The beginning of each error that the command line prints."""
STRAY = "Find what prints when Python starts: .pth files, sitecustomize.py or a wrapper of vr."
_INITIALIZE, _LIST = 1, 2


class Handshake:
    """`vr serve` in a process of its own, to which it speaks as a client would.

    The process starts at once, in parallel with the other checks. Its state and cache are a
    temporary folder, so that it resumes no job and leaves no file.

    Args:
        flags: options of `vr` before the command, such as `--set kernel.strict=true`.
        environ: the environment of this run.
    """

    def __init__(self, flags: Sequence[str], environ: Mapping[str, str]) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="vr-doctor-", ignore_cleanup_errors=True)
        self._log: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed by `close`
        own = {f"VR_{name}_DIR": str(Path(self._folder.name, name)) for name in ("STATE", "CACHE")}
        command = [
            sys.executable,
            "-P",
            "-m",
            "vr_cli",
            *flags,
        ]  # -P: nothing from this folder
        self._process = subprocess.Popen(
            [*command, "--set", "kernel.resume_jobs=false", "serve"],
            env={**environ, **own},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
        )
        self._done = threading.Event()
        self._answers: dict[int, Any] = {}
        self._stray: list[bytes] = []
        self._failure = ""
        threading.Thread(target=self._talk, name="vr-doctor-client", daemon=True).start()

    def checks(self) -> list[Check]:
        """The two checks of this conversation: server and tools."""
        return [
            Check("server", self.server, DEADLINE_S),
            Check("tools list", self.tools, DEADLINE_S),
        ]

    def server(self) -> Diagnosis:
        """Check that the server answers, and writes nothing but JSON-RPC to stdout."""
        self._done.wait()
        fix = "Run `vr serve` by hand: its stderr says more. `vr plugin list` names bad plugins."
        if self._stray:
            shown = self._stray[0].decode("utf-8", "replace").strip()[:SHOWN]
            return Diagnosis.fault(
                f"Output that is not the protocol reaches standard output: {shown!r}.", STRAY
            )
        if _LIST not in self._answers:
            return Diagnosis.fault(f"`vr serve` does not answer: {self._failure}", fix)
        info = self._answers.get(_INITIALIZE, {}).get("serverInfo", {})
        return Diagnosis.ok(f"{info.get('name', 'It')} answers over stdio.")

    def tools(self) -> Diagnosis:
        """Count the tokens that the list of tools takes up in a client's context."""
        self._done.wait()
        listed = self._answers.get(_LIST, {}).get("tools")
        if not listed:
            return Diagnosis.warning(
                "There is no list of tools to count.", "Mend the server first."
            )
        sizes = {tool["name"]: _tokens(tool) for tool in listed}
        total, largest = sum(sizes.values()), max(sizes, key=lambda name: sizes[name])
        text = f"{len(listed)} tools, about {total:,} tokens; the largest is {largest}."
        if total <= MANY_TOKENS:
            return Diagnosis.ok(text)
        return Diagnosis.warning(text, "Turn off plugins you do not need: disabled in [kernel].")

    def close(self) -> None:
        """End the process, if it still runs, and remove its folder."""
        self._process.kill()
        self._process.wait()
        self._log.close()
        with suppress(OSError):
            self._folder.cleanup()

    def _talk(self) -> None:
        try:
            self._converse()
        except (OSError, ValueError) as error:
            self._failure = self._failure or str(error)
        finally:
            self._done.set()

    def _converse(self) -> None:
        assert self._process.stdin
        with suppress(OSError):  # the server ended early; its stderr says why
            self._ask(_INITIALIZE, "initialize", protocolVersion=PROTOCOL, capabilities={},
                      clientInfo={"name": "vr doctor", "version": "1"})  # fmt: skip
            self._send({"method": "notifications/initialized"})
            self._ask(_LIST, "tools/list")
            self._process.stdin.close()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(GRACE_S)
            for line in self._process.stdout or ():
                self._take(line)
        if _LIST not in self._answers:
            self._failure = self._last_words()

    def _ask(self, number: int, method: str, **params: Any) -> None:
        self._send({"id": number, "method": method, "params": params})
        for line in self._process.stdout or ():
            self._take(line)
            if number in self._answers:
                return

    def _send(self, message: Mapping[str, Any]) -> None:
        assert self._process.stdin
        self._process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self._process.stdin.flush()

    def _take(self, line: bytes) -> None:
        try:
            message = json.loads(line)
        except ValueError:
            message = None
        if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
            self._stray.append(line)
        elif "result" in message:
            self._answers[message.get("id", 0)] = message["result"]
        elif "error" in message:
            self._failure = str(message["error"].get("message", ""))

    def _last_words(self) -> str:
        self._log.seek(0)
        lines = self._log.read().decode("utf-8", "replace").split(os.linesep)
        said = [line for line in lines if line.strip()]
        errors = [line.removeprefix(ERROR) for line in said if line.startswith(ERROR)]
        return self._failure or (errors or said or ["it said nothing"])[-1]


def http_checks(read: Config | VrError) -> list[Check]:
    """The check of the settings for HTTP, since no other check starts that transport."""
    return [Check("http", partial(http_access, read))] if isinstance(read, Config) else []


def http_access(config: Config) -> Diagnosis:
    """Check that `vr serve --http` accepts the tokens, and name who may call it."""
    try:
        owner = Identity("you", config.store.workspace, is_owner=True)
        principals = Access(config.serve, owner).principals()
    except VrError as error:
        return Diagnosis.fault(f"`vr serve --http` does not start: {error.message}", error.hint)
    if not principals:
        return Diagnosis.ok("Over HTTP only this machine may connect: there is no token.")
    names = ", ".join(principals)
    return Diagnosis.ok(f"Over HTTP these may connect, with their tokens: {names}.")


def _tokens(tool: Mapping[str, Any]) -> int:
    shown = {name: tool.get(name) for name in ("name", "description", "inputSchema")}
    return len(json.dumps(shown, separators=(",", ":")).encode()) // BYTES_PER_TOKEN
