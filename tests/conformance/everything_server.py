"""A real `vr serve` of the plugin that offers everything, installed as any other."""

from __future__ import annotations

import os
from pathlib import Path

HERE = Path(__file__).parent
MODULES = ("everything_plugin", "everything_questions", "everything_jobs")


class Everything:
    """The plugin as a distribution in a folder, and processes that serve it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.work = folder / "work"
        self.work.mkdir()
        metadata = folder / "vr_plugin_everything-1.0.dist-info"
        metadata.mkdir()
        (metadata / "METADATA").write_text(
            "Metadata-Version: 2.1\nName: vr-plugin-everything\nVersion: 1.0\n", "utf-8"
        )
        (metadata / "entry_points.txt").write_text(
            "[vr.plugins]\neverything = everything_plugin\n", "utf-8"
        )
        for module in MODULES:
            source = (HERE / f"{module}.py").read_text("utf-8")
            (folder / f"{module}.py").write_text(source, "utf-8")

    def variables(self) -> dict[str, str]:
        """Variables that its server needs beside those of the system."""
        own = {f"VR_{name}_DIR": str(self.work / name.lower()) for name in ("CONFIG", "STATE")}
        return {
            **own,
            "VR_CACHE_DIR": str(self.work / "cache"),
            "VR_PLUGINS": "everything",
            "VR_STRICT": "1",
            "PYTHONPATH": str(self.folder),
            "HOME": str(self.work),
            "USERPROFILE": str(self.work),
        }

    def environment(self) -> dict[str, str]:
        """The environment of its server."""
        return {**system_variables(), **self.variables()}


def system_variables() -> dict[str, str]:
    """Variables of this process that every program needs."""
    names = ("PATH", "SYSTEMROOT", "TEMP", "TMP", "LANG", "LC_ALL")
    return {name: os.environ[name] for name in names if name in os.environ}
