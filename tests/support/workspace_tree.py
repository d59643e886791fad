"""The repository as its architecture tests see it: distributions, modules, text files."""

from __future__ import annotations

import ast
import os
import tomllib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
GENERATED = {
    ".git", ".venv", ".cache", "__pycache__", "dist", "build", "site", "results", "node_modules",
    ".pytest_cache", ".mypy_cache", ".ruff_cache", ".import_linter_cache", ".hypothesis", "uv.lock",
}  # fmt: skip


@dataclass(frozen=True)
class Module:
    """One Python file of a distribution's package."""

    path: Path

    @cached_property
    def text(self) -> str:
        return self.path.read_text(encoding="utf-8")

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text, filename=str(self.path))

    @property
    def lines(self) -> int:
        return len(self.text.splitlines())

    def at(self, node: ast.AST) -> str:
        """The place of a node, as an editor can open it."""
        return f"{self.path.relative_to(ROOT).as_posix()}:{getattr(node, 'lineno', 1)}"

    @cached_property
    def functions(self) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
        """Every function and method, nested ones included."""
        return [
            node
            for node in ast.walk(self.tree)
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        ]


@dataclass(frozen=True)
class Distribution:
    """A folder with a pyproject.toml of its own."""

    folder: Path

    @cached_property
    def project(self) -> dict[str, Any]:
        return self.table["project"]

    @cached_property
    def table(self) -> dict[str, Any]:
        return tomllib.loads((self.folder / "pyproject.toml").read_text(encoding="utf-8"))

    @property
    def name(self) -> str:
        return self.project["name"]

    @property
    def package(self) -> Path:
        return self.folder / "src" / self.name.replace("-", "_")

    @cached_property
    def modules(self) -> tuple[Module, ...]:
        return tuple(Module(path) for path in sorted(self.package.rglob("*.py")))

    def __str__(self) -> str:
        return self.name


def folders(parent: str) -> list[Path]:
    """Sub-folders of a folder of the repository that hold a distribution."""
    return sorted(path.parent for path in (ROOT / parent).glob("*/pyproject.toml"))


KERNEL, SERVER, CLI, TESTING, PAGES = (
    Distribution(ROOT / name) for name in ("kernel", "server", "cli", "testing", "pages")
)
META = Distribution(ROOT)
PLUGINS = [Distribution(folder) for folder in folders("plugins")]
EXAMPLES = [Distribution(folder) for folder in folders("examples")]
RELEASED = [KERNEL, SERVER, CLI, TESTING, PAGES, META, *PLUGINS]
DISTRIBUTIONS = [*RELEASED, *EXAMPLES]
BUILT_ON_THE_FACE = [SERVER, CLI, PAGES, META, *PLUGINS, *EXAMPLES]
"""Written with public names of the kernel alone."""


@cache
def text_files() -> tuple[tuple[str, str], ...]:
    """Path and text of every file that is written by hand; read once."""
    return tuple(_texts())


def _texts() -> Iterator[tuple[str, str]]:
    for folder, inner, names in os.walk(ROOT):
        inner[:] = sorted(set(inner) - GENERATED)  # .venv alone has more files than all the rest
        for path in (Path(folder, name) for name in sorted(set(names) - GENERATED)):
            with suppress(UnicodeDecodeError, FileNotFoundError):
                yield path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")
