"""The tracer: each call is a span, in the trace of its client, below what it was made in."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

TRACE, PARENT = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
SENT = {"traceparent": f"00-{TRACE}-{PARENT}-01"}


def spans(folder: Path) -> dict[str, dict[str, Any]]:
    text = (folder / "state" / "almanac" / "spans.jsonl").read_text("utf-8")
    return {span["name"]: span for span in map(json.loads, text.splitlines())}


async def test_a_call_within_a_turn_is_below_it(kernel, vr_folder):
    before = time.time()
    async with kernel.turn("almanac", "ask", "one", trace_context=SENT):
        await kernel.call("infra_plugins")
    await kernel.aclose()
    found = spans(vr_folder)
    turn, call = found["ask"], found["infra_plugins"]
    assert (turn["trace_id"], turn["parent_id"]) == (TRACE, PARENT)
    assert (call["trace_id"], call["parent_id"]) == (TRACE, turn["span_id"])
    assert before <= turn["start"] <= call["start"] <= call["end"] <= turn["end"] <= time.time()


async def test_one_without_a_client_begins_a_trace(kernel, vr_folder):
    async def fail() -> None:
        async with kernel.turn("almanac", "ask", "one"):
            await kernel.call("infra_plugins")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await fail()
    await kernel.aclose()
    found = spans(vr_folder)
    assert found["ask"]["parent_id"] is None
    assert found["ask"]["trace_id"] == found["infra_plugins"]["trace_id"]
    assert (found["ask"]["status"], found["infra_plugins"]["status"]) == ("INTERNAL", "ok")


async def test_the_file_is_closed_with_the_kernel(kernel, vr_folder):
    from vr_plugin_almanac.tracer import Tracer

    tracer = kernel.services.providers.get(Tracer)
    await kernel.aclose()
    tracer.write({"name": "late"})
    assert "late" not in spans(vr_folder)
