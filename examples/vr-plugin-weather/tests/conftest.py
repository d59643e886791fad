from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from vr_kernel import Kernel, load_config

# The example is tested as it lies here; installing it would put its tool into every server.
sys.path.insert(0, str(Path(__file__).parents[1] / "src"))


@pytest.fixture
async def kernel(tmp_path: Path) -> AsyncIterator[Kernel]:
    from vr_plugin_weather import plugin

    folders = {f"VR_{name}_DIR": str(tmp_path / name) for name in ("CONFIG", "STATE", "CACHE")}
    async with Kernel.open(load_config(folders), {"weather": plugin}) as opened:
        yield opened
