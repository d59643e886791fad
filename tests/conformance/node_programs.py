"""Programs for Node that the tests run as clients: where they come from, and how they start."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from uuid import uuid4

from everything_server import system_variables

WANTED = Path(__file__).with_name("package.json")
OLDEST_NODE = 22
"""Major version that the programs need."""
PLACES = {
    "conformance": "@modelcontextprotocol/conformance/dist/index.js",
    "inspector": "@modelcontextprotocol/inspector/clients/launcher/build/index.js",
}
MOST_SECONDS = 100


class NotInstalledError(Exception):
    """The reason why there are no programs; `fault` when that is no property of the machine."""

    def __init__(self, reason: str, *, fault: bool) -> None:
        super().__init__(reason)
        self.fault = fault


class NodePrograms:
    """The installed programs."""

    def __init__(self, folder: Path) -> None:
        self._modules = folder / "node_modules"
        self._node = _node_of(self._modules)

    def run(self, program: str, *arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
        """Run a program in a folder to its end."""
        own = {**system_variables(), "HOME": str(folder), "USERPROFILE": str(folder)}
        return self.run_script(
            self._modules / PLACES[program], *arguments, folder=folder, environment=own
        )

    def run_script(
        self, script: Path, *arguments: str, folder: Path, environment: Mapping[str, str]
    ) -> subprocess.CompletedProcess[str]:
        """Run a script in a folder to its end; `NODE_PATH` says where the modules are."""
        return subprocess.run(
            [self._node, str(script), *arguments],
            cwd=folder,
            env={**environment, "NODE_PATH": str(self._modules)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=MOST_SECONDS,
            check=False,
        )


def install() -> NodePrograms:
    """The programs, from this user's cache folder or else from the npm registry.

    Raises:
        NotInstalledError: without npm, without a registry, without a Node that is new enough.
    """
    version = hashlib.sha256(WANTED.read_bytes()).hexdigest()[:16]
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = base / "video-research-tests" / f"node-{version}"
    if not folder.exists():
        _fill(folder)
    return NodePrograms(folder)


def _fill(folder: Path) -> None:
    """Install beside the folder and rename: other test processes may do the same."""
    npm = shutil.which("npm")
    if npm is None:
        raise NotInstalledError("needs npm", fault=False)
    made = folder.with_name(f"{folder.name}-{uuid4().hex}")
    made.mkdir(parents=True)
    try:
        shutil.copy(WANTED, made)
        _install_into(made, npm)
        made.rename(folder)
    except OSError:
        if not folder.exists():  # else somebody else was faster
            raise
    finally:
        shutil.rmtree(made, ignore_errors=True)


def _install_into(folder: Path, npm: str) -> None:
    options = ("--ignore-scripts", "--no-audit", "--no-fund", "--no-package-lock")
    try:
        done = subprocess.run(
            [npm, "install", "--loglevel=error", *options],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=MOST_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise NotInstalledError("npm did not end", fault=True) from None
    if done.returncode:
        raise NotInstalledError(f"npm install failed: {done.stderr.strip()[-500:]}", fault=True)


def _node_of(modules: Path) -> str:
    """The Node of npm, made for this platform, or the machine's own."""
    for found in modules.glob("node-*/bin/node*"):
        return str(found)
    own = shutil.which("node")
    if own is not None:
        said = subprocess.run([own, "--version"], capture_output=True, text=True, check=True)
        if int(said.stdout.strip().removeprefix("v").partition(".")[0]) >= OLDEST_NODE:
            return own
    raise NotInstalledError(f"needs Node >= {OLDEST_NODE}", fault=False)
