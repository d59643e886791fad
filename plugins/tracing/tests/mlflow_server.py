"""A real MLflow server for tests, in an environment of its own in the user's cache."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any, Self

WANTED = "mlflow>=3.6,<4"
VERSION = f"{sys.version_info.major}.{sys.version_info.minor}"
HOME = Path.home() / ".cache" / "video-research-tests" / f"mlflow-3-python-{VERSION}"
READY_S = 120.0


class NoServerError(Exception):
    """There is no MLflow to test with; the message says why."""


def install() -> Path:
    """Install the server, once; returns its program.

    Raises:
        NoServerError: when it cannot be installed.
    """
    program = HOME / "bin" / "mlflow"
    if not program.exists():
        for command in (
            ["venv", "--quiet", "--clear", "--python", sys.executable, str(HOME)],
            ["pip", "install", "--quiet", "--python", str(HOME / "bin" / "python"), WANTED],
        ):
            told = subprocess.run(
                [sys.executable, "-m", "uv", *command], capture_output=True, text=True, check=False
            )
            if told.returncode:
                raise NoServerError(told.stderr.strip()[-300:])
    return program


class MlflowProcess:
    """A server on loopback with a database and a folder of its own."""

    def __init__(self, folder: Path) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{port}"
        place = ["--host", "127.0.0.1", "--port", str(port), "--workers", "1"]
        store = ["--backend-store-uri", f"sqlite:///{folder}/mlflow.db"]
        self.log = folder / "mlflow.log"
        with self.log.open("wb") as log:
            self._process = subprocess.Popen(
                [install(), "server", *place, *store, "--default-artifact-root", folder / "files"],
                stdout=log,
                stderr=log,
                cwd=folder,
                start_new_session=True,
            )

    def __enter__(self) -> Self:
        end = time.monotonic() + READY_S
        while time.monotonic() < end and self._process.poll() is None:
            try:
                urllib.request.urlopen(f"{self.url}/health", timeout=2).close()
            except OSError:
                time.sleep(0.2)
            else:
                return self
        self.__exit__()
        raise AssertionError(self.log.read_text("utf-8")[-3000:])

    def __exit__(self, *_: object) -> None:
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def experiment(self, name: str) -> str | None:
        """The id of an experiment; None when there is no such."""
        try:
            path = f"/api/2.0/mlflow/experiments/get-by-name?experiment_name={name}"
            return str(self._ask(path)["experiment"]["experiment_id"])
        except urllib.error.HTTPError:
            return None

    def traces(self, experiment: str) -> list[dict[str, Any]]:
        """The traces of an experiment, with their spans."""
        place = {"type": "MLFLOW_EXPERIMENT", "mlflow_experiment": {"experiment_id": experiment}}
        found = self._ask("/api/3.0/mlflow/traces/search", {"locations": [place]})
        ids = [trace["trace_id"] for trace in found.get("traces", [])]
        return [self._ask(f"/api/3.0/mlflow/traces/get?trace_id={it}")["trace"] for it in ids]

    def _ask(self, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        data = None if body is None else json.dumps(body).encode()
        kind = {"Content-Type": "application/json"}
        request = urllib.request.Request(self.url + path, data, kind)
        with urllib.request.urlopen(request, timeout=60) as answer:
            read: dict[str, Any] = json.load(answer)
        return read
