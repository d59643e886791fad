"""A collector that is away, hangs or refuses: work goes on, and the log says so once."""

from __future__ import annotations

import socket
from collections.abc import Callable
from typing import Any

import pytest
from fake_collector import CUT, HANG, METRICS, TRACES, FakeCollector
from traced_kernels import OpenTraced
from vr_testing.kernels import TrialKernel
from waiting import until

SECRET = "hush-0815"
LOST, FAILED, UNSENT = "spans were lost", "traces are not delivered", "traces are not sent"
Said = Callable[[], str]


@pytest.fixture
def said(capfd: pytest.CaptureFixture[str]) -> Said:
    """The log until now; nothing ever reaches standard output."""
    kept = []

    def read() -> str:
        out, err = capfd.readouterr()
        assert out == ""
        kept.append(err)
        return "".join(kept)

    return read


async def work(kernel: TrialKernel, times: int = 1) -> None:
    for _ in range(times):
        assert (await kernel.run("paid_ask", {"question": "Why?"})).error is None


def closed_port() -> str:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return f"http://127.0.0.1:{server.getsockname()[1]}"


async def test_nobody_listens(traced: OpenTraced, said: Said) -> None:
    async with traced({"OTEL_EXPORTER_OTLP_ENDPOINT": closed_port()}) as kernel:
        await work(kernel)
        await until(lambda: FAILED in said())
        await work(kernel, 3)
    assert said().count(FAILED) == 1
    assert "spans=8" in said()


@pytest.mark.parametrize("answer", [401, 302, CUT, HANG])
async def test_a_server_that_is_out_of_order(
    traced: OpenTraced, collector: FakeCollector, said: Said, answer: Any
) -> None:
    collector.answer = answer
    variables = {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.url}
    variables["OTEL_EXPORTER_OTLP_HEADERS"] = f"Authorization=Bearer%20{SECRET}"
    async with traced(variables, {"timeout_s": 60}) as kernel:
        await work(kernel)
        await until(collector.arrived.is_set)
        await work(kernel, 2)
    assert not collector.released.is_set(), "nobody waited for the server"
    log = said()
    assert log.count(FAILED) == (0 if answer == HANG else 1)
    assert log.count(LOST) == 1
    assert SECRET not in log
    paths = {path for path, *_ in collector.requests}
    assert TRACES in paths
    assert paths <= {TRACES, METRICS}, "no redirect is followed"


async def test_an_mlflow_server_that_is_too_old(
    traced: OpenTraced, collector: FakeCollector, said: Said
) -> None:
    collector.answer = 404
    async with traced({"MLFLOW_TRACKING_URI": collector.url}) as kernel:
        await work(kernel, 2)
    log = said()
    assert log.count(FAILED) == log.count("from version 3.6") == 1


async def test_what_waited_arrives_when_the_server_is_well_again(
    traced: OpenTraced, collector: FakeCollector, said: Said
) -> None:
    collector.answer = 503
    async with traced({"OTEL_EXPORTER_OTLP_ENDPOINT": collector.url}) as kernel:
        await work(kernel, 3)
        await until(lambda: FAILED in said())
        collector.requests.clear()
        collector.answer = 200
        await until(lambda: len(collector.spans) >= 6)
    assert len({span.id for span in collector.spans}) == 6
    assert METRICS in {path for path, *_ in collector.requests}
    assert LOST not in said()


async def test_a_full_queue_loses_the_oldest_and_counts_them(
    traced: OpenTraced, collector: FakeCollector, said: Said
) -> None:
    collector.answer = HANG
    variables = {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.url}
    async with traced(variables, {"queue": 4, "timeout_s": 60}) as kernel:
        await work(kernel)
        await until(collector.arrived.is_set)
        await work(kernel, 10)
        log = said()
        assert LOST not in log
    (line,) = [line for line in said().splitlines() if LOST in line]
    assert "spans=22" in line


@pytest.mark.parametrize(
    "wrong",
    [
        {"OTEL_EXPORTER_OTLP_ENDPOINT": "no address"},
        {"OTEL_EXPORTER_OTLP_ENDPOINT": "localhost:4318"},
        {"OTEL_EXPORTER_OTLP_ENDPOINT": f"ftp://{SECRET}.example"},
        {"OTEL_EXPORTER_OTLP_ENDPOINT": f"http://me:{SECRET}@example.org"},
        {"OTEL_EXPORTER_OTLP_ENDPOINT": f"http://{SECRET}.example:99999"},
        {"OTEL_EXPORTER_OTLP_ENDPOINT": f"http://[{SECRET}"},
        {"OTEL_EXPORTER_OTLP_ENDPOINT": f"http://a\u2100b{SECRET}/"},
        {"OTEL_EXPORTER_OTLP_ENDPOINT": f"http://x/ {SECRET}"},
        {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://x", "OTEL_EXPORTER_OTLP_HEADERS": SECRET},
        {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://x", "OTEL_EXPORTER_OTLP_HEADERS": "a=%0D%0Ab"},
        {"MLFLOW_TRACKING_URI": "file:///mlruns"},
        {"MLFLOW_TRACKING_URI": "databricks"},
    ],
)
async def test_an_address_that_cannot_be_used_is_told_once(
    traced: OpenTraced, said: Said, wrong: dict[str, str]
) -> None:
    async with traced(wrong) as kernel:
        await work(kernel, 2)
    log = said()
    assert log.count(UNSENT) == 1
    assert SECRET not in log


async def test_a_server_that_hangs_holds_up_no_other(
    traced: OpenTraced, collector: FakeCollector
) -> None:
    collector.answer = HANG
    with FakeCollector() as well:
        variables = {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.url, "MLFLOW_TRACKING_URI": well.url}
        async with traced(variables, {"timeout_s": 60}) as kernel:
            await work(kernel)
            await until(lambda: len(well.spans) == 2)
