"""Runs `vr` in a fork of a process that has imported it: as fresh as a process, but at once.

Run as a program it reads requests, an object a line, and answers each with an exit code.
"""

from __future__ import annotations

import atexit
import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Timer
from typing import Any

from command_host import Ended
from plugin_zoo import vr_command

HUNG_S = 60.0
FILES = ("stdin", "stdout", "stderr")


def run_vr(environment: Mapping[str, str], folder: Path, *arguments: str, stdin: str = "") -> Ended:
    """Run `vr` with exactly these variables; where no process can fork, as a new one."""
    if not hasattr(os, "fork"):
        done = subprocess.run(
            vr_command(*arguments), env=dict(environment), cwd=folder, input=stdin,
            capture_output=True, text=True, encoding="utf-8", check=False, timeout=HUNG_S,
        )  # fmt: skip
        return Ended(done.returncode, done.stdout, done.stderr)
    with TemporaryDirectory() as streams:
        files = {name: Path(streams, name) for name in FILES}
        files["stdin"].write_text(stdin, "utf-8")
        request = {
            "arguments": arguments,
            "environment": dict(environment),
            "folder": str(folder),
            "files": [str(file) for file in files.values()],
        }
        code = _ask(_parent(), request)
        return Ended(code, files["stdout"].read_text("utf-8"), files["stderr"].read_text("utf-8"))


class FreshVr:
    """Runs each command line in a process of its own, in the same folder and environment."""

    def __init__(self, environment: Mapping[str, str], folder: Path) -> None:
        self.environment = dict(environment)
        self.folder = folder

    def run(self, *arguments: str) -> Ended:
        """Run `vr` with these arguments."""
        return run_vr(self.environment, self.folder, *arguments)


def _ask(parent: subprocess.Popen[str], request: Mapping[str, Any]) -> int:
    assert parent.stdin
    assert parent.stdout
    parent.stdin.write(json.dumps(request) + "\n")
    parent.stdin.flush()
    return int(parent.stdout.readline())


@cache
def _parent() -> subprocess.Popen[str]:
    pipe = subprocess.PIPE
    parent = subprocess.Popen([sys.executable, __file__], stdin=pipe, stdout=pipe, text=True)
    atexit.register(_end, parent)
    return parent


def _end(parent: subprocess.Popen[str]) -> None:
    with parent:
        assert parent.stdin
        parent.stdin.close()


def main() -> None:
    """Answer until stdin ends; a child returns, and runs the command."""
    import vr_cli.plugin_commands
    import vr_cli.root  # noqa: F401 - for the children

    with os.fdopen(os.dup(0), encoding="utf-8") as requests:
        answers = os.dup(1)
        for line in requests:
            request = json.loads(line)
            child = os.fork()
            if not child:
                break
            os.write(answers, f"{_code_of(child)}\n".encode())
        else:
            return
    _become(request)
    from vr_cli import main as run

    run()


def _code_of(child: int) -> int:
    killer = Timer(HUNG_S, os.kill, (child, signal.SIGKILL))
    killer.start()
    _, status = os.waitpid(child, 0)
    killer.cancel()
    killer.join()  # no thread may live when the next child is made
    return os.waitstatus_to_exitcode(status)


def _become(request: Mapping[str, Any]) -> None:
    """Have the variables, folder, streams and arguments of the command."""
    os.environ.clear()
    os.environ.update(request["environment"])
    os.chdir(request["folder"])
    sys.path[1:1] = request["environment"].get("PYTHONPATH", "").split(os.pathsep)
    sys.argv = ["vr", *request["arguments"]]
    flags = (os.O_RDONLY, os.O_WRONLY | os.O_CREAT, os.O_WRONLY | os.O_CREAT)
    for number, (file, flag) in enumerate(zip(request["files"], flags, strict=True)):
        opened = os.open(file, flag, 0o600)
        os.dup2(opened, number)
        os.close(opened)


if __name__ == "__main__":
    main()
