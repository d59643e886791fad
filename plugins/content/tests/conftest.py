"""Fixtures of the content plugin's tests."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from contentkit import Desk, open_desk


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    """A kernel with the plugin, in a folder of its own."""
    async with open_desk(tmp_path) as opened:
        yield opened
