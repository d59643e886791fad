"""Fixtures for pytest with pytest-asyncio; pytest finds them wherever vr-testing is installed."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import pytest_asyncio

if TYPE_CHECKING:
    from vr_server import ToolClient

    from vr_testing.kernels import TrialKernel

OpenKernel = Callable[..., Awaitable["TrialKernel"]]
FOREIGN = ("VR_", "GEMINI_", "GOOGLE_")
"""Prefixes of environment variables that a test does not inherit."""


@pytest.fixture
def vr_plugins() -> Mapping[str, object]:
    """The plugins of the kernel, by name: override this one in your `conftest.py`."""
    return {}


@pytest.fixture
def vr_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The home folder of the test: neither a kernel nor the code below it sees the user's."""
    from vr_testing.kernels import isolated_variables

    for name in os.environ:
        if name.startswith(FOREIGN):
            monkeypatch.delenv(name)
    for name, value in isolated_variables(tmp_path).items():
        monkeypatch.setenv(name, value)
    return tmp_path


@pytest_asyncio.fixture
async def open_kernel(
    vr_plugins: Mapping[str, object], vr_folder: Path
) -> AsyncIterator[OpenKernel]:
    """Opens kernels and closes them at the end of the test; all share `vr_folder`.

    It takes the arguments of `vr_testing.open_kernel`; `plugins` defaults to `vr_plugins`: `kernel
    = await open_kernel(settings={"plugins.weather.horizon": -6})`.
    """
    from vr_testing import kernels

    async with AsyncExitStack() as stack:

        async def begin(plugins: Mapping[str, object] | None = None, **options: Any) -> TrialKernel:
            chosen = vr_plugins if plugins is None else plugins
            options.setdefault("folder", vr_folder)
            return await stack.enter_async_context(kernels.open_kernel(chosen, **options))

        yield begin


@pytest_asyncio.fixture
async def kernel(open_kernel: OpenKernel) -> TrialKernel:
    """A kernel of `vr_plugins` with default settings."""
    return await open_kernel()


@pytest_asyncio.fixture
async def client(kernel: TrialKernel) -> AsyncIterator[ToolClient]:
    """An MCP client of that kernel; it needs the extra `vr-testing[server]`."""
    async with kernel.connect() as connected:
        yield connected
