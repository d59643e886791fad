"""Destinations: off without an address, a collector, an MLflow server, the terminal."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from fake_collector import METRICS, TRACES, FakeCollector
from traced_kernels import OpenTraced
from vr_kernel import Level
from vr_plugin_tracing.health import tracing_checks
from vr_plugin_tracing.settings import TracingSettings
from vr_testing.kernels import isolated_variables

NOBODY = "http://127.0.0.1:9"
SERVE = """
import asyncio, json, sys
from vr_kernel import Kernel, load_config
from vr_server import build_server
async def main():
    async with Kernel.open(load_config()) as kernel:
        assert {p.name: p.state for p in kernel.plugins()}["tracing"] == "loaded"
        await build_server(kernel).list_tools()
        await kernel.call("infra_usage")
        print(json.dumps(sorted(sys.modules)))
asyncio.run(main())
"""
HEAVY = ("opentelemetry.sdk", "opentelemetry.exporter", "opentelemetry.proto", "google.protobuf")
LIGHT = {f"vr_plugin_tracing{each}" for each in ("", ".plugin", ".settings")}


def test_off_it_imports_nothing(tmp_path: Path) -> None:
    """Some of `opentelemetry.trace` is there all the same: the server's own library has it."""
    own = {**isolated_variables(tmp_path), "VR_PLUGINS": "tracing"}
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("OTEL_", "MLFLOW_", "VR_"))}
    command = [sys.executable, "-c", SERVE]
    done = subprocess.run(command, env=kept | own, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    modules = set(json.loads(done.stdout))
    assert {name for name in modules if name.startswith(HEAVY)} == set()
    assert {name for name in modules if name.startswith("vr_plugin_tracing")} == LIGHT


@pytest.mark.parametrize(
    ("variables", "listens"),
    [
        ({}, False),
        ({"GEMINI_TRACING_ENABLED": "true"}, False),
        ({"MLFLOW_TRACKING_URI": NOBODY}, True),
        ({"MLFLOW_TRACKING_URI": NOBODY, "GEMINI_TRACING_ENABLED": ""}, True),
        ({"MLFLOW_TRACKING_URI": NOBODY, "GEMINI_TRACING_ENABLED": "false"}, False),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": NOBODY, "OTEL_SDK_DISABLED": "true"}, False),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": NOBODY, "VR_TRACING__EXPORTER": "none"}, False),
        ({"VR_TRACING__EXPORTER": "console"}, True),
    ],
)
async def test_it_listens_only_where_there_is_an_address(
    traced: OpenTraced, variables: dict[str, str], listens: bool
) -> None:
    async with traced(variables) as kernel:
        heard = kernel._foundation.listeners, kernel._foundation.request_listeners
        assert [bool(each) for each in heard] == [listens] * 2


async def test_an_mlflow_server_gets_spans_under_the_experiment(
    traced: OpenTraced, collector: FakeCollector
) -> None:
    variables = {"MLFLOW_TRACKING_URI": collector.url, "MLFLOW_TRACKING_TOKEN": "a-token"}
    for _ in range(2):
        async with traced({**variables, "GEMINI_TRACING_ENABLED": "true"}) as kernel:
            await kernel.call("paid_ask", question="Why?")
    assert collector.experiments == {"video-research-mcp": "7"}
    assert len(collector.spans) == 4
    sent = [(path, headers["x-mlflow-experiment-id"]) for path, headers, _ in collector.requests]
    assert set(sent) == {(TRACES, "7")}
    assert {headers["Authorization"] for _, headers, _ in collector.requests} == {"Bearer a-token"}


async def test_both_get_everything_and_only_their_own_headers(
    traced: OpenTraced, collector: FakeCollector
) -> None:
    with FakeCollector() as mlflow:
        variables = {
            "OTEL_EXPORTER_OTLP_ENDPOINT": f"{collector.url}/v1/traces",
            "OTEL_EXPORTER_OTLP_HEADERS": "X-Key=for%20one",
            "MLFLOW_TRACKING_URI": mlflow.url,
            "MLFLOW_EXPERIMENT_NAME": "talks & more",
            "OTEL_SERVICE_NAME": "ours",
        }
        async with traced(variables) as kernel:
            await kernel.call("paid_ask", question="Why?")
        assert {it.id for it in mlflow.spans} == {it.id for it in collector.spans}
        assert list(mlflow.experiments) == ["talks & more"]
        assert b"for one" not in mlflow.raw
        assert {headers["X-Key"] for _, headers, _ in collector.requests} == {"for one"}
        assert {path for path, *_ in collector.requests} == {TRACES, METRICS}
        assert {it.resource["service.name"] for it in mlflow.spans} == {"ours"}


async def test_the_terminal_gets_lines_of_json(
    traced: OpenTraced, capfd: pytest.CaptureFixture[str]
) -> None:
    async with traced({}, {"exporter": "console"}) as kernel:
        await kernel.call("paid_ask", question="Why?")
    out, err = capfd.readouterr()
    assert out == ""
    lines = [json.loads(line) for line in err.splitlines()]
    assert {line["attributes"]["vr.plugin"] for line in lines} == {"paid"}
    assert "tools/call paid_ask" in {line["name"] for line in lines}


async def test_no_global_provider_is_set(traced: OpenTraced, collector: FakeCollector) -> None:
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.trace import get_tracer_provider

    async with traced({"OTEL_EXPORTER_OTLP_ENDPOINT": collector.url}) as kernel:
        await kernel.call("paid_ask", question="Why?")
        assert not isinstance(get_tracer_provider(), TracerProvider)


def found(**settings: Any) -> list[tuple[str, Level, str]]:
    services: Any = SimpleNamespace(settings=TracingSettings(**settings))
    checks = [(check.name, check.examine()) for check in tracing_checks(services)]
    return [(name, it.level, it.what) for name, it in checks if not hasattr(it, "__await__")]


def test_the_doctor_says_where_traces_go(collector: FakeCollector) -> None:
    ((name, level, what),) = found()
    assert (name, level) == ("tracing", Level.OK)
    assert "Off" in what
    ((name, level, what),) = found(endpoint=collector.url)
    assert (name, level) == ("tracing: collector", Level.OK)
    assert collector.url.removeprefix("http://") in what
    assert collector.requests == []
    ((name, level, what),) = found(mlflow_uri="http://127.0.0.1:9")
    assert (name, level) == ("tracing: MLflow", Level.WARNING)
    assert "127.0.0.1:9" in what
    ((_, level, what),) = found(endpoint="http://me:hush-0815@example.org")
    assert level is Level.WARNING
    assert "hush-0815" not in what
