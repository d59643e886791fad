"""Environments of their own for ours, the floor and the peer, kept in the user's cache.

All are installed in the same way, not editable and with bytecode compiled, so that like is
compared with like. The floor gets the very versions of the libraries that ours got.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from platformdirs import user_cache_path

from benchmarks.domains import write_plugins
from benchmarks.processes import clean_environment

ROOT = Path(__file__).parents[1]
HERE = Path(__file__).parent
STAMP = "benchmark.json"
PEER = "video-research-mcp==0.7.1"
FLOOR = "fastmcp>=4.1.2,<5"
SHARED = ("fastmcp", "mcp", "pydantic")
ENGINES = {
    "chroma": ["chromadb==1.5.9"],
    "lance": ["lancedb==0.40.0"],
    "bm25s": ["bm25s==0.3.16", "PyStemmer==3.1.0"],
}
"""What other stores and rankings are measured with."""
OWN = ("video-research", "vr-")


@dataclass(frozen=True)
class Environment:
    """An installed virtual environment and the server that it holds."""

    name: str
    folder: Path

    @property
    def python(self) -> Path:
        """Its interpreter."""
        return self.folder / "bin" / "python"

    def program(self, name: str) -> str:
        """A program that it holds."""
        return str(self.folder / "bin" / name)

    @property
    def server(self) -> list[str]:
        """The command that serves over stdio."""
        return {
            "ours": [self.program("vr"), "serve"],
            "floor": [str(self.python), str(HERE / "servers" / "one_tool.py")],
            "peer": [self.program("video-research-mcp")],
        }[self.name]

    @cached_property
    def frozen(self) -> list[str]:
        """Name and version of everything that is installed."""
        return _uv(["pip", "freeze", "--python", str(self.python)]).splitlines()

    @property
    def versions(self) -> dict[str, str]:
        """The versions of what all have in common."""
        pairs = (line.partition("==")[::2] for line in self.frozen)
        return {name: version for name, version in pairs if name in SHARED}


class Environments:
    """The environments of one run; each is built at first use and reused by the next run."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder or user_cache_path("video-research-bench", appauthor=False)

    @cached_property
    def ours(self) -> Environment:
        """This work tree: all that it is made of but the tests' own part, with all extras."""
        folders = _member_folders()
        wanted = [f"{ROOT}[all]", *map(str, folders)]
        made = self._ready("ours", [*wanted, *_reinstalled(folders)], _tree_state(folders))
        _require_all_loaded(made, clean_environment(self.home("check")))
        return made

    @cached_property
    def floor(self) -> Environment:
        """FastMCP alone."""
        shared = [line for line in self.ours.frozen if "==" in line and not line.startswith(OWN)]
        constraints = self.folder / "floor-constraints.txt"
        constraints.write_text("\n".join(shared), "utf-8")
        state = hashlib.sha256(constraints.read_bytes()).hexdigest()
        return self._ready("floor", [FLOOR, "--constraint", str(constraints)], state)

    @cached_property
    def peer(self) -> Environment:
        """The peer, with the newest libraries that it admits."""
        return self._ready("peer", [PEER], "")

    def engine(self, name: str) -> Environment:
        """Another store or ranking, alone."""
        return self._ready(name, ENGINES[name], "")

    @cached_property
    def probe(self) -> Path:
        """A folder for PYTHONPATH that adds a plugin with one trivial tool to ours."""
        folder = self.folder / "probe"
        source = HERE / "probe"
        state = _tree_state([source])
        if not _is_stamped(folder, state):
            alone = ["--no-deps", "--reinstall", "--target", str(folder)]
            _install(self.ours.python, [*alone, str(source)])
            _stamp(folder, state)
        return folder

    @cached_property
    def domains(self) -> Path:
        """A folder for PYTHONPATH that adds eight plugins with 75 tools to ours."""
        folder, projects = self.folder / "domains", self.folder / "domain-projects"
        state = (HERE / "domains.py").read_text("utf-8")
        if not _is_stamped(folder, state):
            alone = ["--no-deps", "--reinstall", "--target", str(folder)]
            _install(self.ours.python, [*alone, *map(str, write_plugins(projects))])
            _stamp(folder, state)
        env = clean_environment(self.home("check"), PYTHONPATH=str(folder))
        _require_all_loaded(self.ours, env)
        return folder

    @property
    def built_versions(self) -> dict[str, dict[str, str]]:
        """Versions of the shared libraries in each environment that this run has used."""
        used = [e for e in self.__dict__.values() if isinstance(e, Environment)]
        return {environment.name: environment.versions for environment in used}

    def home(self, name: str) -> Path:
        """An empty-at-first home folder for processes of that name."""
        folder = self.folder / "homes" / name
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def _ready(self, name: str, arguments: Sequence[str], state: str) -> Environment:
        environment = Environment(name, self.folder / name)
        wanted = json.dumps([sys.version, list(arguments), state])
        if not _is_stamped(environment.folder, wanted):
            print(f"Installing {name} into {environment.folder}", file=sys.stderr)
            if not environment.python.exists() or name != "ours":
                _uv(["venv", "--clear", "--python", sys.executable, str(environment.folder)])
            _install(environment.python, ["--no-sources", *arguments])
            _stamp(environment.folder, wanted)
        return environment


def _member_folders() -> list[Path]:
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    members = (name for name in project["tool"]["uv"]["workspace"]["members"] if name != "testing")
    found = (path for name in members for path in ROOT.glob(f"{name}/pyproject.toml"))
    return sorted(path.parent for path in found)


def _require_all_loaded(ours: Environment, env: Mapping[str, str]) -> None:
    """A figure without all of the plugins would flatter."""
    command = [ours.program("vr"), "plugin", "list", "--json"]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    plugins = json.loads(done.stdout or '{"plugins": []}')["plugins"]
    missing = [f"{p['name']}: {p['reason']}" for p in plugins if p["state"] != "loaded"]
    if missing or not plugins:
        raise RuntimeError("Not all plugins load: " + ("; ".join(missing) or done.stderr[-2000:]))


def _reinstalled(folders: Sequence[Path]) -> list[str]:
    """Arguments without which uv takes a folder for unchanged when its pyproject.toml is."""
    import tomllib

    files = [folder / "pyproject.toml" for folder in (ROOT, *folders)]
    names = [tomllib.loads(file.read_text("utf-8"))["project"]["name"] for file in files]
    return [f"--reinstall-package={name}" for name in names]


def _tree_state(folders: Sequence[Path]) -> str:
    files = [ROOT / "pyproject.toml", *(ROOT / "src").rglob("*")]
    for folder in folders:
        files += [folder / "pyproject.toml", *folder.rglob("src/**/*"), *folder.glob("*.py")]
    digest = hashlib.sha256()
    for file in sorted(file for file in files if file.is_file() and file.suffix != ".pyc"):
        seen = file.stat()
        digest.update(f"{file}:{seen.st_size}:{seen.st_mtime_ns}\n".encode())
    return digest.hexdigest()


def _is_stamped(folder: Path, state: str) -> bool:
    stamp = folder / STAMP
    return stamp.is_file() and stamp.read_text("utf-8") == state


def _stamp(folder: Path, state: str) -> None:
    (folder / STAMP).write_text(state, "utf-8")


def _install(python: Path, arguments: Sequence[str]) -> None:
    _uv(["pip", "install", "--python", str(python), "--compile-bytecode", *arguments])


def _uv(arguments: Sequence[str]) -> str:
    hidden = ("VIRTUAL_ENV", "UV_PROJECT_ENVIRONMENT")
    env = {name: value for name, value in os.environ.items() if name not in hidden}
    done = subprocess.run(
        [sys.executable, "-m", "uv", *arguments],
        env=env,
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"uv {' '.join(arguments)} failed:\n{done.stderr[-4000:]}")
    return done.stdout
