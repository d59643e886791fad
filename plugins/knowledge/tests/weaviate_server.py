"""A real Weaviate server for tests: built, found, started on loopback, stopped.

`python weaviate_server.py` builds it, without anything but Go and Python.
"""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from dataclasses import dataclass, field
from pathlib import Path

VERSION = "v1.39.0"
MODULE = f"github.com/weaviate/weaviate/cmd/weaviate-server@{VERSION}"
HOME = Path.home() / ".cache" / "video-research-tests" / f"weaviate-{VERSION}"
NAME = "weaviate-server.exe" if os.name == "nt" else "weaviate-server"
OLDEST_GO = (1, 26)
BUILD_S = 2400.0
READY_S = 60.0
KEY = "server-test-key"


class NoServerError(Exception):
    """There is no Weaviate server to test with; the message says why."""


def find_binary() -> Path:
    """The program of the server: named by `VR_WEAVIATE_SERVER`, or in the cache folder.

    Raises:
        NoServerError: when there is none.
    """
    named = os.environ.get("VR_WEAVIATE_SERVER")
    binary = Path(named) if named else HOME / NAME
    if binary.is_file():
        return binary
    raise NoServerError(f"no Weaviate server at {binary}; `python {Path(__file__).name}` builds it")


def build() -> Path:
    """Build the server into the cache folder with Go, once: 10 to 15 minutes on two processors.

    Raises:
        NoServerError: without a Go that is new enough, or when it cannot be built.
    """
    if (HOME / NAME).is_file():
        return HOME / NAME
    go = shutil.which("go")
    if go is None:
        raise NoServerError("there is no Go here")
    told = subprocess.run([go, "env", "GOVERSION"], capture_output=True, text=True, check=True)
    version = re.match(r"go(\d+)\.(\d+)", told.stdout)
    if version is None or (int(version[1]), int(version[2])) < OLDEST_GO:
        raise NoServerError(f"{told.stdout.strip()} is too old")
    HOME.mkdir(parents=True, exist_ok=True)
    try:
        subprocess.run(
            [go, "install", "-p", "2", MODULE],
            env={**os.environ, "GOBIN": str(HOME)},
            timeout=BUILD_S,
            check=True,
        )
    except subprocess.SubprocessError as error:
        raise NoServerError(f"Go did not build it: {error}") from error
    return HOME / NAME


@dataclass
class WeaviateServer:
    """One server with a folder and ports of its own."""

    folder: Path
    key: str = ""
    ports: list[int] = field(default_factory=list)
    process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """The address of its REST service."""
        return f"http://127.0.0.1:{self.ports[0]}"

    @property
    def grpc_port(self) -> int:
        """The address of its gRPC service."""
        return self.ports[1]

    def start(self) -> None:
        """Start it, with what an earlier process of the same folder kept, and wait for it."""
        binary = find_binary()
        self.ports = self.ports or _free_ports(6)
        self.folder.mkdir(parents=True, exist_ok=True)
        with (self.folder / "log.txt").open("ab") as log:
            self.process = subprocess.Popen(
                [binary, "--host", "127.0.0.1", "--port", str(self.ports[0]), "--scheme", "http"],
                env=self._environ(),
                cwd=self.folder,
                stdout=log,
                stderr=log,
            )
        self._wait()

    def stop(self) -> None:
        """Kill the process; its data stay."""
        if self.process is not None:
            self.process.kill()
            self.process.wait(30)
            self.process = None

    def close_shard(self, collection: str, shard: str = "default") -> None:
        """Make a shard read-only, as the server does by itself when its disk is nearly full."""
        request = urllib.request.Request(
            f"{self.url}/v1/schema/{collection}/shards/{shard}",
            b'{"status": "READONLY"}',
            {"Content-Type": "application/json"},
            method="PUT",
        )
        with urllib.request.urlopen(request, timeout=10):
            pass

    def _environ(self) -> dict[str, str]:
        _, grpc, gossip, data, raft, raft_rpc = self.ports
        own = {
            "PERSISTENCE_DATA_PATH": str(self.folder / "data"),
            "DEFAULT_VECTORIZER_MODULE": "none",
            "CLUSTER_HOSTNAME": "node1",
            "CLUSTER_ADVERTISE_ADDR": "127.0.0.1",
            "GRPC_PORT": str(grpc),
            "CLUSTER_GOSSIP_BIND_PORT": str(gossip),
            "CLUSTER_DATA_BIND_PORT": str(data),
            "RAFT_PORT": str(raft),
            "RAFT_INTERNAL_RPC_PORT": str(raft_rpc),
            "RAFT_BOOTSTRAP_EXPECT": "1",
            "DISABLE_TELEMETRY": "true",
            "GO_PROFILING_DISABLE": "true",
            "LOG_LEVEL": "warning",
            "PATH": os.environ.get("PATH", ""),
            "HOME": str(self.folder),
        }
        if self.key:
            allowed = {"ENABLED": "true", "ALLOWED_KEYS": self.key, "USERS": "tests"}
            own |= {f"AUTHENTICATION_APIKEY_{name}": value for name, value in allowed.items()}
        else:
            own["AUTHENTICATION_ANONYMOUS_ACCESS_ENABLED"] = "true"
        return own

    def _wait(self) -> None:
        limit = time.monotonic() + READY_S
        while time.monotonic() < limit:
            assert self.process is not None
            if self.process.poll() is not None:
                break
            try:
                with urllib.request.urlopen(f"{self.url}/v1/.well-known/ready", timeout=1):
                    return
            except (urllib.error.URLError, OSError):
                time.sleep(0.1)
        self.stop()
        raise AssertionError((self.folder / "log.txt").read_text("utf-8", "replace")[-3000:])


def _free_ports(count: int) -> list[int]:
    # The gossip port plus one is taken by the server, too: leave room between them.
    sockets = [socket.socket() for _ in range(count)]
    try:
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]
    finally:
        for each in sockets:
            each.close()


if __name__ == "__main__":
    try:
        sys.stdout.write(f"{build()}\n")
    except NoServerError as reason:
        sys.exit(f"No Weaviate server, so the tests that need one skip: {reason}")
