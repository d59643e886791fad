"""The tutorials, executed as they stand: every file written, every command run."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from fnmatch import fnmatch
from pathlib import Path
from typing import NamedTuple

import pytest
from installation import REPOSITORY, Sandbox

FENCE = re.compile(r"^```(\w+)([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
TITLE = re.compile(r'title="([^"]+)"')


class Block(NamedTuple):
    """A fenced block: its language, what stands behind it, its text."""

    language: str
    options: str
    text: str


@pytest.mark.parametrize(
    "page", sorted((REPOSITORY / "docs" / "tutorial").glob("*.md")), ids=lambda p: p.stem
)
def test_a_tutorial_works_as_written(
    page: Path,
    tmp_path: Path,
    talk: Path,
    speech_model: Path,
    sandbox: Sandbox,
    fresh_environment: Callable[..., dict[str, str]],
) -> None:
    work = tmp_path / "work"
    work.mkdir()
    shutil.copy(talk, work)
    base = fresh_environment(VR_VIDEO__SPEECH_MODEL=str(speech_model))
    environment = sandbox.environment(base)
    ran = 0
    for block in blocks(page):
        if title := TITLE.search(block.options):
            target = work / title[1]
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(block.text, "utf-8")
        if block.language == "console" and "no-run" not in block.options:
            for command, expected in commands(block.text):
                run(command, expected, "fails" in block.options, work, environment)
                ran += 1
    assert ran


def blocks(page: Path) -> Iterator[Block]:
    for match in FENCE.finditer(page.read_text("utf-8")):
        yield Block(*match.groups())


def commands(text: str) -> Iterator[tuple[str, str]]:
    """Each command with the output that the page shows for it, `...` standing for anything."""
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, _, output = part.partition("\n")
        yield command, output


def run(
    command: str, expected: str, fails: bool, folder: Path, environment: dict[str, str]
) -> None:
    done = subprocess.run(
        command,
        shell=True,
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
    )
    assert (done.returncode != 0) == fails, f"{command}\n{done.stdout}\n{done.stderr}"
    shown = done.stderr if fails else done.stdout
    pattern = "\n".join(
        "*" if line == "..." else line.replace("...", "*").rstrip()
        for line in expected.strip().splitlines()
    )
    assert fnmatch(shown.strip(), f"{_literal(pattern)}"), f"{command}\n{shown}"


def _literal(pattern: str) -> str:
    return pattern.replace("[", "[[]").replace("?", "[?]")
