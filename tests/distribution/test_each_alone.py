"""Each distribution, installed into an empty environment, works and passes its own tests there."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from builds import Wheel, build_wheels, constrain, install, make_once, program, run
from workspace_tree import (
    CLI,
    EXAMPLES,
    KERNEL,
    PAGES,
    PLUGINS,
    ROOT,
    SERVER,
    TESTING,
    Distribution,
)

KIT = {KERNEL: "vr-testing", TESTING: "vr-testing[server]"}
"""The kit for tests, which brings no server to those who need none."""
FRONTS = {"fastmcp", "mcp", "starlette", "uvicorn", "click", "rich", "vr-server", "vr-cli"}
RUNNER = str(Path(__file__).with_name("first_of_each.py"))
INSTALLED = """
import json, vr_kernel
from importlib.metadata import distributions
print(json.dumps([each.name for each in distributions()]))
"""


@pytest.fixture(scope="session")
def own_wheels(common: Path) -> Path:
    """A file that names the wheels of all distributions of this repository."""
    folder = make_once(common / "wheels", build_wheels)
    return constrain(folder / "wheels.txt", [Wheel(path) for path in folder.glob("*.whl")])


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    "distribution", [KERNEL, SERVER, CLI, TESTING, PAGES, *PLUGINS, *EXAMPLES], ids=str
)
def test_its_tests_pass_with_what_it_requires(
    distribution: Distribution, own_wheels: Path, tmp_path: Path
) -> None:
    extras = ",".join(distribution.project.get("optional-dependencies", {}))
    kit = KIT.get(distribution, "vr-testing[server]")
    wanted = dict.fromkeys([f"{distribution.name}[{extras}]" if extras else distribution.name, kit])
    environment = tmp_path / "alone"
    install(environment, *wanted, versions=own_wheels, group=f"{ROOT / 'pyproject.toml'}:test")
    tests = str(distribution.folder / "tests")
    python = str(program(environment, "python"))
    run([python, "-P", RUNNER, "-q", "-m", "not slow", "-p", "no:cacheprovider", tests], ROOT)


def test_the_kernel_brings_no_server_and_no_terminal(common: Path, tmp_path: Path) -> None:
    """A sample of what the slow test does for all; the example calls a tool with this alone."""
    wheels = make_once(common / "kernel", lambda folder: build_wheels(folder, KERNEL.folder))
    (wheel,) = wheels.glob("*.whl")
    install(tmp_path / "alone", f"vr-kernel @ {wheel.as_uri()}")
    python = str(program(tmp_path / "alone", "python"))
    held = set(json.loads(run([python, "-c", INSTALLED], tmp_path)))
    assert "vr-kernel" in held
    assert not held & FRONTS
    said = run([python, str(ROOT / "examples" / "call_a_tool.py")], tmp_path)
    assert json.loads(said) == {"text": "to be or not to be", "words": 6}
