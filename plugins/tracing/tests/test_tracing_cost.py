"""The cost of tracing in a call's own thread: processor time, with it and without it."""

from __future__ import annotations

import time

import pytest
from fake_collector import FakeCollector
from traced_kernels import OpenTraced
from vr_testing.kernels import TrialKernel

CALLS, ROUNDS, MOST_S = 300, 3, 0.001


async def processor_time(kernel: TrialKernel) -> float:
    """Seconds of a call, of the best of some rounds."""
    rounds = []
    for _ in range(ROUNDS):
        begun = time.thread_time()
        for _ in range(CALLS):
            await kernel.run("infra_usage", {})
        rounds.append((time.thread_time() - begun) / CALLS)
    return min(rounds)


@pytest.mark.slow
async def test_a_call_pays_less_than_a_millisecond(
    traced: OpenTraced, collector: FakeCollector
) -> None:
    async with traced({}) as kernel:
        without = await processor_time(kernel)
    variables = {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.url}
    async with traced(variables, {"metrics_interval_s": 0.5}) as kernel:
        traced_s = await processor_time(kernel)
    assert len(collector.spans) == CALLS * ROUNDS
    assert traced_s - without <= MOST_S
