"""A server in a process of its own: a client's trace goes on, no end waits for a collector."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from fake_collector import HANG, FakeCollector
from server_process import ServerProcess, modern_meta
from vr_testing.kernels import isolated_variables

pytestmark = pytest.mark.slow
TRACE, CLIENT = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"


def environment(folder: Path, **variables: str) -> dict[str, str]:
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("OTEL_", "MLFLOW_", "VR_"))}
    return {**kept, **isolated_variables(folder), **variables}


def test_the_trace_of_a_client_over_pipes_goes_on(tmp_path: Path, collector: FakeCollector) -> None:
    variables = environment(tmp_path, OTEL_EXPORTER_OTLP_ENDPOINT=collector.url)
    meta = modern_meta(traceparent=f"00-{TRACE}-{CLIENT}-01")
    with ServerProcess(variables, tmp_path) as server:
        called = server.ask("tools/call", name="infra_usage", arguments={}, _meta=meta)
        assert not called["result"].get("isError")
        assert server.finish() == 0
        assert server.stray_lines() == []
        assert server.log.read_bytes() == b""
    (span,) = collector.spans
    assert (span.name, span.trace, span.parent) == ("tools/call infra_usage", TRACE, CLIENT)


def test_the_end_of_a_server_waits_for_no_collector(
    tmp_path: Path, collector: FakeCollector
) -> None:
    collector.answer = HANG
    variables = environment(tmp_path, OTEL_EXPORTER_OTLP_ENDPOINT=collector.url)
    with ServerProcess({**variables, "VR_TRACING__TIMEOUT_S": "60"}, tmp_path) as server:
        server.ask("tools/call", name="infra_usage", arguments={}, _meta=modern_meta())
        assert server.finish() == 0
        assert not collector.released.is_set()
        assert server.log.read_text().count("spans were lost") == 1
