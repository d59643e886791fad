"""Fixtures: the distributions built and installed, once for all test processes."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from builds import Build, Wheel, build, install, make_once, requirements, run


@pytest.fixture(scope="session")
def common(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of this run that all its test processes share."""
    if sys.platform == "win32":
        pytest.skip("releases are built on POSIX systems")
    own = tmp_path_factory.getbasetemp()
    return (own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / "distribution"


@pytest.fixture(scope="session")
def built(common: Path) -> Build:
    return Build(make_once(common / "build", build))


@pytest.fixture(scope="session")
def wheels(request: pytest.FixtureRequest) -> list[Wheel]:
    """The wheels of a release, built here, or before, in the folder that VR_WHEELS names."""
    folder = os.environ.get("VR_WHEELS")
    if folder:
        found = sorted(Path(folder).resolve().glob("*.whl"))
        assert found, f"VR_WHEELS={folder} holds no wheel"
        return [Wheel(path) for path in found]
    built: Build = request.getfixturevalue("built")
    examples = {
        path.parent.name.replace("-", "_") for path in built.tree.glob("examples/*/pyproject.toml")
    }
    return [wheel for wheel in built.wheels if wheel.name not in examples]


@pytest.fixture(scope="session")
def installed(common: Path, wheels: list[Wheel]) -> Path:
    """A virtual environment with all wheels, all extras, and nothing of the tree."""
    return make_once(common / "installed", lambda folder: install(folder, *requirements(wheels)))


@pytest.fixture
def user(
    fresh_environment: Callable[..., dict[str, str]], wheels: list[Wheel], tmp_path: Path
) -> dict[str, str]:
    """The environment of a new user for whom the wheels are published, with warm caches."""
    return fresh_environment(
        UV_CACHE_DIR=run(["uv", "cache", "dir"], tmp_path).strip(),
        UV_FIND_LINKS=str(wheels[0].path.parent),
        UV_PYTHON=sys.executable,
        UV_PYTHON_DOWNLOADS="never",
    )
