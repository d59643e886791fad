"""A process that runs one command line of `vr` after another: as real as one each, but quick.

Run as a program it reads arguments, a JSON list a line, and answers with exit code and output.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, BinaryIO


@dataclass(frozen=True)
class Ended:
    """The end of a command: exit code and output."""

    code: int
    stdout: str
    stderr: str

    @property
    def data(self) -> Any:
        """Its output, read as JSON."""
        return json.loads(self.stdout)


class CommandHost:
    """The other end of the process."""

    def __init__(self, environment: Mapping[str, str], folder: Path) -> None:
        self.folder = folder
        self._process = subprocess.Popen(
            [sys.executable, __file__],
            env=dict(environment),
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )

    def run(self, *arguments: str) -> Ended:
        """Run `vr` with these arguments."""
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(json.dumps(arguments) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        assert line, "the process ended"
        return Ended(**json.loads(line))

    def close(self) -> None:
        """End the process."""
        with self._process:
            assert self._process.stdin
            self._process.stdin.close()


def main() -> None:
    """Answer until stdin ends."""
    from vr_cli.root import run

    with os.fdopen(os.dup(1), "w", encoding="utf-8") as answers:
        for line in sys.stdin:
            with TemporaryFile() as out, TemporaryFile() as errors:
                os.dup2(out.fileno(), 1)
                os.dup2(errors.fileno(), 2)
                code = _run(run, json.loads(line))
                sys.stdout.flush()
                sys.stderr.flush()
                ended = {"code": code, "stdout": _read(out), "stderr": _read(errors)}
            answers.write(json.dumps(ended) + "\n")
            answers.flush()


def _run(command: Callable[[list[str]], int], arguments: list[str]) -> int:
    try:
        return int(command(arguments))
    except BaseException:  # noqa: BLE001 - the interpreter would do the same
        traceback.print_exc()
        return 1


def _read(file: BinaryIO) -> str:
    file.seek(0)
    return file.read().decode()


if __name__ == "__main__":
    main()
