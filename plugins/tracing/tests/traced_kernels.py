"""Kernels whose calls are traced, and the collector that hears of them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import vr_plugin_tracing.plugin
from fake_collector import FakeCollector
from paid_plugin import vr_record_kinds, vr_tools
from paid_work import paying
from vr_testing import FakeGemini, open_kernel
from vr_testing.kernels import TrialKernel

PAID = SimpleNamespace(vr_tools=vr_tools, vr_record_kinds=vr_record_kinds)
OpenTraced = Callable[..., AbstractAsyncContextManager[TrialKernel]]


@pytest.fixture
def collector() -> Iterator[FakeCollector]:
    """A collector that works."""
    with FakeCollector() as server:
        yield server


@pytest.fixture
def gemini() -> Iterator[FakeGemini]:
    """The models that are asked."""
    with FakeGemini() as service:
        yield service


@pytest.fixture
def traced(gemini: FakeGemini, tmp_path: Path) -> OpenTraced:
    """Opens a kernel with the paid tools and the tracing plugin."""

    @asynccontextmanager
    async def opened(
        variables: Mapping[str, str], settings: Mapping[str, Any] | None = None
    ) -> AsyncIterator[TrialKernel]:
        own = {f"plugins.tracing.{name}": value for name, value in (settings or {}).items()}
        async with open_kernel(
            {"paid": PAID, "tracing": vr_plugin_tracing.plugin},
            settings={"plugins.tracing.interval_s": 0.05, **own},
            variables={**paying(gemini), **variables},
            folder=tmp_path,
        ) as kernel:
            yield kernel

    return opened
