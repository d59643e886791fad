"""A real `vr serve` of the plugin that offers everything, installed as any other."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread

HERE = Path(__file__).parent
MODULES = ("everything_plugin", "everything_questions", "everything_jobs")
VR = [sys.executable, "-m", "vr_cli"]


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

    @contextmanager
    def serve_http(self) -> Iterator[str]:
        """The address of a server over HTTP, for the time of the block."""
        process = subprocess.Popen(
            [*VR, "serve", "--http", "0"],
            env={**system_variables(), **self.variables()},
            cwd=self.work,
            stdin=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert process.stderr
        log: list[str] = []
        for line in process.stderr:
            log.append(line)
            if line.startswith("Serving on "):
                break
        # A log that nobody reads would stop the server once the pipe is full.
        reader = Thread(target=log.extend, args=(process.stderr,))
        reader.start()
        try:
            assert log[-1].startswith("Serving on "), "".join(log)
            yield log[-1].split()[-1]
        finally:
            process.kill()
            process.wait()
            reader.join()
            process.stderr.close()


def system_variables() -> dict[str, str]:
    """Variables of this process that every program needs."""
    names = ("PATH", "SYSTEMROOT", "TEMP", "TMP", "LANG", "LC_ALL")
    return {name: os.environ[name] for name in names if name in os.environ}
