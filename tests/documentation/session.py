"""Runs the commands of a block, as somebody would who types them into one shell."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from fnmatch import fnmatch
from pathlib import Path

from fences import Block, commands

LIMIT_S = 280
END = "\036"


def run_console(block: Block, folder: Path, environment: Mapping[str, str]) -> None:
    """Run the commands and compare what they print with what the block shows."""
    expected = list(commands(block.text))
    if block.mark == "stays":
        _run_until_shown([command for command, _ in expected], expected[-1][1], folder, environment)
        return
    script = "".join(
        f"{command}\nprintf '{END}%s{END}' $?; printf '{END}' >&2\n" for command, _ in expected
    )
    done = subprocess.run(
        ["sh", "-c", script],
        cwd=folder,
        env=dict(environment),
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    shown, codes = done.stdout.split(END)[::2], done.stdout.split(END)[1::2]
    told = done.stderr.split(END)
    assert len(codes) == len(expected), f"{done.stdout}\n{done.stderr}"
    fails = block.mark == "fails"
    for index, (command, text) in enumerate(expected):
        output = f"$ {command}\n{shown[index]}\n{told[index]}"
        assert (codes[index] != "0") == fails, output
        assert _fits(told[index] if fails else shown[index], text), output


def _run_until_shown(
    lines: list[str], text: str, folder: Path, environment: Mapping[str, str]
) -> None:
    with subprocess.Popen(
        ["sh", "-c", "\n".join([*lines[:-1], f"exec {lines[-1]}"])],
        cwd=folder,
        env=dict(environment),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        seen = ""
        try:
            for line in process.stdout or ():
                seen += line
                if _fits(seen, text):
                    break
        finally:
            process.terminate()
        assert _fits(seen, text), seen


def _fits(output: str, text: str) -> bool:
    """Check if an output is as shown; a page that shows none promises none."""
    if not text.strip():
        return True
    pattern = "\n".join(
        "*" if line == "..." else line.replace("...", "*").rstrip()
        for line in text.strip().replace("[", "[[]").replace("?", "[?]").splitlines()
    )
    return fnmatch(output.strip(), pattern)
