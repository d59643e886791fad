"""The installation of the system under test, and a way to install more beside it."""

from __future__ import annotations

import os
import sys
import sysconfig
import venv
from pathlib import Path

REPOSITORY = Path(__file__).parents[1]
SERVE = [sys.executable, "-m", "vr_cli", "serve"]


class Sandbox:
    """A virtual environment of its own on top of the one that runs the tests.

    `pip` in it installs without network: what a plugin depends on is already there.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        venv.create(folder, symlinks=True)
        library = Path(sysconfig.get_path("purelib", vars={"base": str(folder)}))
        below = sysconfig.get_path("purelib")
        (library / "below.pth").write_text(
            f"import site; site.addsitedir({below!r})\n", encoding="utf-8"
        )
        self._script("vr", 'exec "$PYTHON" -m vr_cli "$@"')
        self._script("pip", 'exec "$PYTHON" -m pip "$@"')

    def environment(self, base: dict[str, str]) -> dict[str, str]:
        """The environment of a shell in which it is active."""
        path = os.pathsep.join([str(self.folder / "bin"), base["PATH"]])
        offline = {"PIP_NO_DEPS": "1", "PIP_NO_BUILD_ISOLATION": "0", "PIP_NO_INDEX": "1"}
        return {**base, **offline, "PATH": path, "PYTHON": str(self.folder / "bin" / "python")}

    def _script(self, name: str, line: str) -> None:
        script = self.folder / "bin" / name
        script.write_text(f"#!/bin/sh\n{line}\n", encoding="utf-8")
        script.chmod(0o755)
