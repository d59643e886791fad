from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

# In a project of its own: pytest_plugins = ["vr_testing.fixtures"]. Here other tests run
# beside these, and pytest takes that line from the outermost conftest.py alone.
from vr_testing.fixtures import client, kernel, open_kernel, vr_folder  # noqa: F401

# The example is tested as it lies here; installing it would put its tool into every server.
sys.path.insert(0, str(Path(__file__).parents[1] / "src"))


@pytest.fixture
def vr_plugins() -> Mapping[str, object]:
    from vr_plugin_weather import plugin

    return {"weather": plugin}
