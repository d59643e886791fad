"""Kernels of a temporary folder, and plugins made of parts."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from paid_work import paid_kernel
from vr_kernel import Config, Kernel, hookimpl, load_config
from vr_testing import FakeGemini

MakePlugin = Callable[..., SimpleNamespace]
StartKernel = Callable[..., Any]


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    """The whole environment of a kernel whose folders lie below `tmp_path`."""
    home = tmp_path / "home"
    home.mkdir()
    return {
        "HOME": str(home),
        "VR_STATE_DIR": str(tmp_path / "state"),
        "VR_CACHE_DIR": str(tmp_path / "cache"),
        "VR_CONFIG_DIR": str(tmp_path / "config"),
    }


@pytest.fixture
def working_folder(tmp_path: Path) -> Path:
    """The folder a program was started in: empty, and not the one of the tests."""
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


@pytest.fixture
def config(environ: Mapping[str, str], working_folder: Path) -> Config:
    """Default settings below `tmp_path`; nothing of the machine is read."""
    return load_config(environ=environ, working_folder=working_folder)


@pytest.fixture
def make_plugin() -> MakePlugin:
    """Builds a plugin object of what it offers and its settings model."""

    def make(
        tools: Sequence[Any] = (),
        kinds: Sequence[Any] = (),
        providers: Sequence[Any] = (),
        settings: type | None = None,
        prompts: Sequence[Any] = (),
        resources: Sequence[Any] = (),
    ) -> SimpleNamespace:
        @hookimpl
        def vr_tools() -> list[Any]:
            return list(tools)

        @hookimpl
        def vr_prompts() -> list[Any]:
            return list(prompts)

        @hookimpl
        def vr_resources() -> list[Any]:
            return list(resources)

        @hookimpl
        def vr_record_kinds() -> list[Any]:
            return list(kinds)

        @hookimpl
        def vr_providers() -> list[Any]:
            return list(providers)

        @hookimpl
        def vr_settings() -> type | None:
            return settings

        return SimpleNamespace(
            vr_tools=vr_tools,
            vr_prompts=vr_prompts,
            vr_resources=vr_resources,
            vr_record_kinds=vr_record_kinds,
            vr_providers=vr_providers,
            vr_settings=vr_settings,
        )

    return make


@pytest.fixture
async def start(config: Config) -> AsyncIterator[StartKernel]:
    """Opens kernels, by default of `config` and without plugins, and closes them at the end."""
    async with AsyncExitStack() as stack:

        async def begin(
            plugins: Mapping[str, object] | None = None,
            *,
            config: Config = config,
            roots: Sequence[Path] = (),
        ) -> Kernel:
            return await stack.enter_async_context(
                Kernel.open(config, plugins or {}, roots=list(roots))
            )

        yield begin


@pytest.fixture
def gemini() -> Iterator[FakeGemini]:
    """The service that a test pays."""
    with FakeGemini() as service:
        yield service


@pytest.fixture
async def open_kernel(environ: dict[str, str], gemini: FakeGemini) -> AsyncIterator[Any]:
    """Opens kernels with the paid plugin at the fake service; variables are given by name."""
    async with AsyncExitStack() as stack:

        async def begin(**more: str) -> Kernel:
            variables = {"GEMINI_RETRY_BASE_DELAY": "0.01", **more}
            # No test here waits for a lease to end, and a busy machine may stand still for long.
            given = {"VR_KERNEL__LEASE_S": "20", **variables}
            return await stack.enter_async_context(paid_kernel(environ, gemini, **given))

        yield begin


@pytest.fixture
async def kernel(open_kernel: Any) -> Kernel:
    """A kernel of `open_kernel`."""
    opened: Kernel = await open_kernel()
    return opened
