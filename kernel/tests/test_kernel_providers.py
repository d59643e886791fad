"""A plugin's own classes: one instance a kernel, imported when they are first asked for."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import pytest
from vr_kernel import Provider, hookimpl
from vr_kernel.testing import open_kernel

ENGINE = """
class Engine:
    def __init__(self, services):
        self.plugin = services.plugin
"""


def plugin(*targets: str) -> object:
    """A plugin that provides classes of its own."""

    @hookimpl
    def vr_providers() -> list[Provider[Any]]:
        return [Provider.own(target) for target in targets]

    return SimpleNamespace(vr_providers=vr_providers)


@pytest.fixture
def engine(tmp_path, monkeypatch):
    """A module that is not imported yet."""
    (tmp_path / "sky_engine.py").write_text(ENGINE)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield "sky_engine"
    sys.modules.pop("sky_engine", None)


async def test_a_class_of_its_own_is_imported_and_made_once(engine):
    async with open_kernel({"sky": plugin(f"{engine}:Engine", "nowhere.at_all:Thing")}) as kernel:
        assert engine not in sys.modules
        from sky_engine import Engine

        one = kernel.providers.get(Engine)
        assert isinstance(one, Engine)
        assert one.plugin == "sky"
        assert kernel.providers.get(Engine) is one


async def test_each_kernel_has_an_instance_of_its_own(engine):
    async with (
        open_kernel({"sky": plugin(f"{engine}:Engine")}) as kernel,
        open_kernel({"sky": plugin(f"{engine}:Engine")}) as other,
    ):
        from sky_engine import Engine

        assert kernel.providers.get(Engine) is not other.providers.get(Engine)
