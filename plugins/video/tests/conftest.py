"""Fixtures for the video plugin's tests."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def sample_media() -> Path:
    """The folder of recorded and synthetic samples that are too large for the repository."""
    folder = Path(os.environ.get("VR_TEST_DATA", "")) / "media"
    if not os.environ.get("VR_TEST_DATA") or not folder.is_dir():
        pytest.skip("set VR_TEST_DATA to the folder with the sample media")
    return folder
