"""Installations that several tests of this folder start from."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path

import pytest
from lost_journal import OTHERS, fill, opened, record


@pytest.fixture(scope="session")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An installation with a copy of its journal, and in it another one."""
    folder = tmp_path_factory.mktemp("filled")

    async def make() -> None:
        await fill(folder)
        async with opened(folder / "other") as kernel:
            await record(kernel, *(f"other {number}" for number in range(OTHERS)))

    asyncio.run(make())
    return folder


@pytest.fixture
def folder(filled: Path, tmp_path: Path) -> Path:
    """A copy of it for each test."""
    return Path(shutil.copytree(filled, tmp_path / "one"))
