from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

# The example is tested as it lies here; installing it would make it trace every server.
sys.path.insert(0, str(Path(__file__).parents[1] / "src"))


@pytest.fixture
def vr_plugins() -> Mapping[str, object]:
    from vr_plugin_almanac import plugin

    return {"almanac": plugin}
