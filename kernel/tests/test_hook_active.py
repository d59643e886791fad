"""`vr_active`: a plugin that is turned off opens nothing and hears nothing."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from types import SimpleNamespace

import pytest
from vr_kernel import CallFinished, Config, Kernel, RequestFinished, Section, hookimpl, load_config


class EarSettings(Section):
    """Settings of the plugin that listens."""

    on: bool = False


class Ear:
    """A plugin that keeps what it is told, if its settings say so."""

    def __init__(self) -> None:
        self.told: list[str] = []

    @hookimpl
    def vr_settings(self) -> type[Section]:
        return EarSettings

    @hookimpl
    def vr_active(self, settings: EarSettings) -> bool:
        return settings.on

    @hookimpl
    @asynccontextmanager
    async def vr_lifespan(self) -> AsyncIterator[None]:
        self.told.append("begin")
        yield
        self.told.append("end")

    @hookimpl
    def vr_call_finished(self, event: CallFinished) -> None:
        self.told.append(event.tool)

    @hookimpl
    def vr_request_finished(self, event: RequestFinished) -> None:
        self.told.append(event.model)


@pytest.mark.parametrize(("on", "told"), [("true", ["begin", "infra_cache", "end"]), ("false", [])])
async def test_settings_decide(environ: dict[str, str], on: str, told: list[str]) -> None:
    ear = Ear()
    config = load_config({**environ, "VR_EAR__ON": on})
    async with Kernel.open(config, {"ear": ear}) as kernel:
        await kernel.call("infra_cache")
        listens = kernel._foundation.listeners, kernel._foundation.request_listeners
        assert [bool(each) for each in listens] == [bool(told)] * 2
    assert ear.told == told


async def test_another_answer_is_a_fault(config: Config) -> None:
    wrong = SimpleNamespace(vr_active=hookimpl(lambda settings: "no"))
    async with Kernel.open(config, {"ear": wrong}) as kernel:
        (_, status) = kernel.plugins()
        assert status.state == "broken"
        assert "vr_active returned str, not a bool" in status.reason
