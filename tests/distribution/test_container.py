"""The image's own steps, taken without a container: built, started, found healthy, stopped."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from builds import copy_tree, make_once, program, run, search_path
from installation import REPOSITORY
from workspace_tree import META

TEXT = (REPOSITORY / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ")
PORT = "8765"


def instructions(name: str) -> list[str]:
    return re.findall(rf"^\s*{name}\s+(.*)$", TEXT, re.MULTILINE)


@pytest.fixture(scope="session")
def image(common: Path) -> Path:
    """The environment that the build stage makes from what .dockerignore lets through."""
    return make_once(common / "image", _run_build_stage) / "installed"


def test_it_runs_as_nobody_special_from_a_pinned_base() -> None:
    bases = instructions("FROM")
    assert all(re.match(r"python:3\.\d+-slim-\w+(@sha256:[0-9a-f]{64})?(\s|$)", b) for b in bases)
    (user,) = instructions("USER")
    assert int(user) > 0
    assert TEXT.rindex("USER") > TEXT.rindex("RUN")
    assert not re.search(r"TOKEN|API_KEY|SECRET|PASSWORD", TEXT)


def test_every_member_of_the_workspace_reaches_the_build() -> None:
    members = META.table["tool"]["uv"]["workspace"]["members"]
    let_through = (REPOSITORY / ".dockerignore").read_text(encoding="utf-8").splitlines()
    assert {f"!{member.partition('/')[0]}" for member in members} <= set(let_through)


@pytest.mark.slow
@pytest.mark.timeout(400)
def test_the_image_serves_and_knows_its_health(
    image: Path, user: dict[str, str], tmp_path: Path
) -> None:
    port = _free_port()
    (command,) = [json.loads(text) for text in instructions("CMD")]
    (check,) = [json.loads(text.partition(" CMD ")[2]) for text in instructions("HEALTHCHECK")]
    environment = {**user, "PATH": f"{image / 'bin'}{os.pathsep}{user['PATH']}"}
    assert _status([part.replace(PORT, port) for part in check], environment) != 0
    server = subprocess.Popen(
        [part.replace(PORT, port) for part in command],
        cwd=tmp_path,
        env={**environment, "VR_HTTP_TOKEN": "a-token-for-this-test-alone"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        assert server.stdout is not None
        assert any("Serving on" in line for line in server.stdout), "it ended before it served"
        assert _status([part.replace(PORT, port) for part in check], environment) == 0
    finally:
        server.terminate()
        server.communicate(timeout=60)


@pytest.mark.slow
@pytest.mark.timeout(400)
def test_the_image_refuses_to_serve_everybody(
    image: Path, user: dict[str, str], tmp_path: Path
) -> None:
    (command,) = [json.loads(text) for text in instructions("CMD")]
    environment = {**user, "PATH": f"{image / 'bin'}{os.pathsep}{user['PATH']}"}
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 3
    assert "VR_HTTP_TOKEN" in done.stderr


def _run_build_stage(folder: Path) -> None:
    copy_tree(folder / "all")
    lines = (REPOSITORY / ".dockerignore").read_text(encoding="utf-8").splitlines()
    assert "*" in lines
    for name in (line[1:] for line in lines if line.startswith("!")):
        (folder / "source").mkdir(exist_ok=True)
        shutil.move(folder / "all" / name, folder / "source" / name)
    for tests in (folder / "source").rglob("tests"):
        shutil.rmtree(tests)
    (command,) = [shlex.split(text) for text in instructions("RUN") if text.startswith("uv ")]
    environment = {k: v for k, v in os.environ.items() if k != "VIRTUAL_ENV"}
    environment |= {
        "PATH": search_path(),
        "UV_PROJECT_ENVIRONMENT": str(folder / "installed"),
        "UV_PYTHON": sys.executable,
    }
    run(command, folder / "source", environment)
    shutil.rmtree(folder / "source")  # the second stage has the environment alone
    assert program(folder / "installed", "vr").is_file()


def _status(command: list[str], environment: dict[str, str]) -> int:
    program = shutil.which(command[0], path=environment["PATH"]) or command[0]
    done = subprocess.run(
        [program, *command[1:]], env=environment, capture_output=True, check=False
    )
    return done.returncode


def _free_port() -> str:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return str(probe.getsockname()[1])
