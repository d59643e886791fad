"""A zoo of plugins, good and bad: fake distributions that real processes find on PYTHONPATH."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

PREFIX = "zoo_plugin_"
MARKS = "ZOO_MARKS"
OWN_TOOLS = [
    "infra_cache", "infra_configure", "infra_estimate", "infra_models", "infra_plugins",
    "infra_usage",
    "job_cancel", "job_list", "job_result", "job_status",
]  # fmt: skip
"""The kernel's own."""
IMPORTED = f"""\
import os, pathlib
pathlib.Path(os.environ["{MARKS}"], __name__.removeprefix("{PREFIX}")).touch()
"""


@dataclass(frozen=True)
class Animal:
    """A plugin: the source of its one module, and what its distribution says of it."""

    name: str
    source: str
    distribution: str = ""
    version: str = "1.0"
    requires: tuple[str, ...] = ()
    target: str = ""

    @property
    def home(self) -> str:
        """Name of the distribution, by default the one that the plugin's name belongs to."""
        return self.distribution or f"vr-plugin-{self.name}"

    @property
    def module(self) -> str:
        """Name of the module, unique for the distribution."""
        return PREFIX + self.home.removeprefix("vr-plugin-").replace("-", "_")


class Zoo:
    """A folder of distributions, and the environment of a process that finds them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.packages = folder / "packages"
        self.marks = folder / "marks"
        self.work = folder / "work"
        for made in (self.packages, self.marks, self.work):
            made.mkdir(parents=True)
        self.names: list[str] = []

    def add(self, *animals: Animal) -> Zoo:
        """Install distributions."""
        for animal in animals:
            self.names.append(animal.name)
            module = self.packages / f"{animal.module}.py"
            module.write_text(IMPORTED + animal.source, "utf-8")
            target = animal.target or animal.module
            self._install(
                animal.home,
                {
                    "METADATA": _metadata(animal.home, animal.version, animal.requires),
                    "entry_points.txt": f"[vr.plugins]\n{animal.name} = {target}\n",
                },
            )
        return self

    def add_damaged(self, distribution: str, files: Mapping[str, str | bytes]) -> None:
        """Install a distribution with exactly these files of metadata."""
        self._install(distribution, files)

    def environment(self, **variables: str) -> dict[str, str]:
        """A whole environment: folders of its own, and no plugin from outside the zoo."""
        kept = ("PATH", "SYSTEMROOT", "TEMP", "TMP", "LANG", "LC_ALL")
        return {
            **{name: os.environ[name] for name in kept if name in os.environ},
            "HOME": str(self.folder),
            "USERPROFILE": str(self.folder),
            "PYTHONPATH": str(self.packages),
            MARKS: str(self.marks),
            "VR_CONFIG_DIR": str(self.folder / "config"),
            "VR_STATE_DIR": str(self.folder / "state"),
            "VR_CACHE_DIR": str(self.folder / "cache"),
            "VR_PLUGINS": ",".join(self.names) or "none",
            **variables,
        }

    def imported(self) -> set[str]:
        """Modules, by the end of their name, that any process imported since `forget`."""
        return {path.name for path in self.marks.iterdir()}

    def forget(self) -> None:
        """Forget what was imported."""
        for path in self.marks.iterdir():
            path.unlink()

    def _install(self, distribution: str, files: Mapping[str, str | bytes]) -> None:
        name = distribution.replace("-", "_")
        folder = self.packages / f"{name}-1.0.dist-info"
        folder.mkdir()
        for file, content in files.items():
            data = content if isinstance(content, bytes) else content.encode()
            (folder / file).write_bytes(data)


def vr_command(*arguments: str) -> list[str]:
    """The command line of `vr` with these arguments."""
    return [sys.executable, "-m", "vr_cli", *arguments]


def _metadata(name: str, version: str, requires: Iterable[str]) -> str:
    lines = ["Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}"]
    lines.append(f"Summary: Brings {name}.")
    return "\n".join([*lines, *(f"Requires-Dist: {text}" for text in requires), ""])
