"""A plugin's own classes: one instance a kernel, imported when they are first asked for."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Protocol

import pytest
from pydantic import BaseModel
from vr_kernel import READ_ONLY, Call, Provider, Services, VrError, hookimpl, tool
from vr_kernel.call import produced_by
from vr_kernel.providers import ProviderRegistry
from vr_testing import open_kernel

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
    for name in ("sky_engine", "sea_engine"):
        sys.modules.pop(name, None)


async def test_a_class_of_its_own_is_imported_and_made_once(engine):
    async with open_kernel({"sky": plugin(f"{engine}:Engine", "nowhere.at_all:Thing")}) as kernel:
        assert engine not in sys.modules
        from sky_engine import Engine

        one = kernel.services.providers.get(Engine)
        assert isinstance(one, Engine)
        assert one.plugin == "sky"
        assert kernel.services.providers.get(Engine) is one


async def test_classes_of_one_name_are_those_of_their_plugins(engine, tmp_path):
    (tmp_path / "sea_engine.py").write_text(ENGINE)
    plugins = {"sky": plugin(f"{engine}:Engine"), "sea": plugin("sea_engine:Engine")}
    async with open_kernel(plugins) as kernel:
        import sea_engine
        import sky_engine

        providers = kernel.services.providers
        assert providers.get(sky_engine.Engine).plugin == "sky"
        assert providers.get(sea_engine.Engine).plugin == "sea"
        assert providers.names(sea_engine.Engine) == ["own"]


async def test_each_kernel_has_an_instance_of_its_own(engine):
    async with (
        open_kernel({"sky": plugin(f"{engine}:Engine")}) as kernel,
        open_kernel({"sky": plugin(f"{engine}:Engine")}) as other,
    ):
        from sky_engine import Engine

        assert kernel.services.providers.get(Engine) is not other.services.providers.get(Engine)


class Told(BaseModel):
    """For whom a provider was made, and whether it keeps and pays for the call."""

    plugin: str
    principal: str
    keeps_here: bool
    pays_here: bool
    same: bool


class Notary:
    """Something that is provided."""

    def __init__(self, services: Services) -> None:
        self.services = services


def notary(*, of_call: bool) -> object:
    """A plugin that provides one."""

    @hookimpl
    def vr_providers() -> list[Provider[Any]]:
        return [Provider(Notary, "notary", Notary, of_call=of_call)]

    return SimpleNamespace(vr_providers=vr_providers)


def asking() -> object:
    """A plugin that uses what another provides."""
    seen: list[Notary] = []

    @tool(effects=READ_ONLY)
    async def sky_ask(call: Call) -> Told:
        """Ask."""
        found = call.services.providers.get(Notary)
        seen.append(found)
        services = found.services
        return Told(
            plugin=services.plugin,
            principal=services.identity.principal,
            keeps_here=services.cache is call.services.cache,
            pays_here=services.models.recorder.meter is produced_by(call).meter,
            same=found is seen[0],
        )

    @hookimpl
    def vr_tools() -> list[Any]:
        return [sky_ask]

    return SimpleNamespace(vr_tools=vr_tools)


@pytest.mark.parametrize("of_call", [True, False])
async def test_what_is_made_for_a_call_spends_and_keeps_for_who_calls(of_call):
    plugins = {"notary": notary(of_call=of_call), "sky": asking()}
    async with open_kernel(plugins) as kernel:
        told = [(await kernel.run("sky_ask", {}, principal="anna")).data for _ in range(2)]
        first = {"plugin": "notary", "same": True}
        whose = {"principal": "anna" if of_call else kernel.identity.principal}
        here = {"keeps_here": of_call, "pays_here": of_call}
        assert told == [{**first, **whose, **here}, {**first, **whose, **here, "same": not of_call}]
        assert kernel.services.providers.get(Notary) is kernel.services.providers.get(Notary)


class Painter(Protocol):
    """A kind of provider that no plugin here offers."""


class Sculptor(Protocol):
    """Another one."""


def test_without_a_provider_the_hint_is_that_of_an_installed_distribution(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    offers = tmp_path / "studio-1.0.dist-info" / "entry_points.txt"
    offers.parent.mkdir()
    offers.write_text("[vr.providers]\nPainter = vr_plugin_art\nSculptor = studio [stone]\n")
    (offers.parent / "METADATA").write_text("Name: studio\nVersion: 1.0\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(VrError) as caught:
        ProviderRegistry(lambda _kind: "").get(Painter)
    assert caught.value.hint == "Install one: pip install vr-plugin-art"
    with pytest.raises(VrError) as caught:
        ProviderRegistry(lambda _kind: "").get(Sculptor)
    assert caught.value.hint == 'Install one: pip install "studio[stone]"'


def test_without_any_offer_the_hint_says_so_in_general() -> None:
    with pytest.raises(VrError) as caught:
        ProviderRegistry(lambda _kind: "").get(Path)
    assert caught.value.hint == "Install a plugin that provides one."
