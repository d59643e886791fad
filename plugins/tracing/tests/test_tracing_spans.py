"""Spans over the wire: the tree of a call and its requests, by the conventions, without content."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest
from fake_collector import FakeCollector, ReceivedSpan
from fastmcp import Client
from traced_kernels import OpenTraced
from vr_kernel import VrError
from vr_server import build_server
from vr_testing import FakeGemini, Fault
from waiting import until

TRACE, CLIENT = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
SENT = {"traceparent": f"00-{TRACE}-{CLIENT}-01", "tracestate": "vendor=1"}
QUESTION, KEY, HEADER = "Why-is-the-sky-of-this-question-blue?", "secret-key-1234567", "hush-4711"


def named(collector: FakeCollector) -> dict[str, ReceivedSpan]:
    return {span.name: span for span in collector.spans}


@pytest.fixture
def address(collector: FakeCollector) -> dict[str, str]:
    return {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.url}


async def test_a_call_and_its_requests_are_a_tree(
    traced: OpenTraced, collector: FakeCollector, gemini: FakeGemini, address: dict[str, str]
) -> None:
    before = time.time()
    gemini.fail(Fault.status(503), times=1)
    async with traced(address) as kernel:
        done = await kernel.run("paid_ask", {"question": QUESTION}, principal="ann")
    first, second, call = sorted(collector.spans, key=lambda span: (span.end, span.begin))
    assert {first.trace, second.trace} == {call.trace}
    assert [first.parent, second.parent, call.parent] == [call.id, call.id, ""]
    assert (call.name, call.kind) == ("tools/call paid_ask", "SERVER")
    assert (first.name, first.kind) == (second.name, second.kind)
    model = second.attributes["gen_ai.request.model"]
    assert (second.name, second.kind) == (f"generate_content {model}", "CLIENT")
    assert before <= call.begin <= first.begin < first.end <= second.begin < second.end
    assert second.end <= call.end + 0.01 < time.time() + 0.02
    assert [it.failed for it in (first, second, call)] == [True, False, False]
    assert first.attributes["error.type"] == "UNAVAILABLE"
    usage = done.result.usage
    assert usage is not None
    spent = {"gen_ai.usage.input_tokens": usage.input_tokens}
    spent |= {"gen_ai.usage.output_tokens": usage.output_tokens + usage.thinking_tokens}
    assert second.attributes.items() >= spent.items()
    totals = {name.replace("gen_ai.", "vr."): count for name, count in spent.items()}
    assert call.attributes.items() >= totals.items()
    assert (
        second.attributes.items()
        >= {
            "gen_ai.operation.name": "generate_content",
            "gen_ai.provider.name": "gcp.gemini",
            "vr.call.id": done.call_id,
            "vr.role": "default",
            "vr.purpose": "generate",
            "vr.plugin": "paid",
            "vr.attempt": 2,
        }.items()
    )
    assert (
        call.attributes.items()
        >= {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": "paid_ask",
            "mcp.method.name": "tools/call",
            "vr.call.id": done.call_id,
            "vr.records": 1,
            "vr.run": 1,
            "vr.cached": False,
        }.items()
    )
    assert call.resource["service.name"] == "video-research"


async def test_the_trace_of_the_client_goes_on(
    traced: OpenTraced, collector: FakeCollector, address: dict[str, str]
) -> None:
    async with traced(address) as kernel, Client(build_server(kernel)) as client:
        await client.call_tool("paid_ask", {"question": QUESTION}, meta=SENT)
    spans = named(collector)
    call = spans.pop("tools/call paid_ask")
    (request,) = spans.values()
    assert (call.trace, call.parent, call.state) == (TRACE, CLIENT, "vendor=1")
    assert (request.trace, request.parent) == (TRACE, call.id)


@pytest.mark.parametrize(
    ("state", "kept"),
    [
        ("a=1, tenant@b=x y", "a=1,tenant@b=x y"),
        *[(it, "") for it in ("bad", "a=1,a=2", "=,=;;", "A=1", "a =1", "a=1=2", "a=")],
        (",".join(f"a{number}=1" for number in range(33)), ""),
    ],
)
async def test_a_malformed_state_is_left_out_without_a_word(
    traced: OpenTraced,
    collector: FakeCollector,
    address: dict[str, str],
    caplog: pytest.LogCaptureFixture,
    state: str,
    kept: str,
) -> None:
    async with traced(address) as kernel:
        context = {**SENT, "tracestate": state}
        await kernel.run("infra_usage", {}, trace_context=context)
    (span,) = collector.spans
    assert (span.trace, span.state) == (TRACE, kept)
    assert caplog.records == []


async def test_what_the_client_does_not_sample_is_not_sent_but_counted(
    traced: OpenTraced, collector: FakeCollector, address: dict[str, str]
) -> None:
    async with traced(address) as kernel:
        context = {"traceparent": SENT["traceparent"][:-2] + "00"}
        await kernel.run("paid_ask", {"question": QUESTION}, trace_context=context)
    assert collector.spans == []
    assert sum(value for _, value in collector.metrics["vr.calls"]) == 1


async def test_a_share_keeps_or_drops_whole_traces(
    traced: OpenTraced, collector: FakeCollector, address: dict[str, str]
) -> None:
    async with traced(address, {"sample": 0.5}) as kernel:
        for number in range(40):
            await kernel.run("paid_ask", {"question": f"{number}?"})
    by_trace: dict[str, set[str]] = {}
    for span in collector.spans:
        by_trace.setdefault(span.trace, set()).add(span.name)
    assert 5 < len(by_trace) < 35
    assert {len(names) for names in by_trace.values()} == {2}


async def test_turns_and_calls_within_them_are_below_each_other(
    traced: OpenTraced, collector: FakeCollector, address: dict[str, str]
) -> None:
    async with traced(address) as kernel, kernel.turn("paid", "chat", "one", trace_context=SENT):
        with pytest.raises(VrError):
            await kernel.call("paid_ask", question=7)
    turn, call = named(collector)["invoke_workflow chat"], named(collector)["execute_tool paid_ask"]
    assert (turn.trace, turn.parent, turn.kind) == (TRACE, CLIENT, "INTERNAL")
    assert (call.trace, call.parent, call.kind) == (TRACE, turn.id, "INTERNAL")
    assert turn.attributes["gen_ai.workflow.name"] == "chat"
    assert (call.failed, call.attributes["error.type"]) == (True, "INVALID_INPUT")
    assert "mcp.method.name" not in call.attributes


async def test_a_resumed_job_says_so_and_is_linked_to_what_began_it(
    traced: OpenTraced, collector: FakeCollector, gemini: FakeGemini, address: dict[str, str]
) -> None:
    batch: dict[str, Any] = {"name": "job", "items": 2, "at_once": 1}
    asked = "generateContent"
    gemini.fail(Fault.hang(), when=lambda _: len(gemini.requests_of(asked)) > 1, times=None)
    settings = address
    async with traced(settings) as kernel, kernel.turn("paid", "chat", "one", trace_context=SENT):
        begun = kernel.start("paid_batch", batch)
        await until(lambda: gemini.in_flight and len(gemini.requests_of(asked)) > 1)
    gemini.heal()
    async with traced(settings) as kernel:
        await kernel.call("job_result", job_id=begun.id, wait_s=20)
    (job,) = [it for it in collector.spans if it.name.endswith("paid_batch")]
    turn = named(collector)["invoke_workflow chat"]
    assert (job.trace, job.parent) == (TRACE, turn.id)
    assert job.attributes["vr.run"] == 2
    assert job.links == [(turn.id, {"vr.link": "resumed"})]


async def test_a_call_that_is_cancelled_is_an_error(
    traced: OpenTraced, collector: FakeCollector, gemini: FakeGemini, address: dict[str, str]
) -> None:
    gemini.fail(Fault.hang(), times=None)
    async with traced(address) as kernel:
        task = asyncio.create_task(kernel.run("paid_ask", {"question": QUESTION}))
        await until(lambda: gemini.in_flight)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert len(collector.spans) == 2
    assert {it.attributes["error.type"] for it in collector.spans} == {"CANCELLED"}


async def test_no_secret_no_person_and_nothing_that_was_said_is_sent(
    traced: OpenTraced, collector: FakeCollector, gemini: FakeGemini, address: dict[str, str]
) -> None:
    variables = {**address, "GEMINI_API_KEY": KEY}
    variables["OTEL_EXPORTER_OTLP_HEADERS"] = f"X-Api-Key={HEADER}"
    context = {**SENT, "baggage": "user=secret-baggage"}
    async with traced(variables) as kernel:
        done = await kernel.run(
            "paid_ask", {"question": QUESTION}, principal="annabel", trace_context=context
        )
        with pytest.raises(VrError):
            await kernel.call("paid_ask", question=[QUESTION])
    assert len(collector.spans) == 3
    bodies = b"".join(body for _, _, body in collector.requests)
    for word in (KEY, QUESTION, done.result.text, "annabel", HEADER, "secret-baggage"):
        assert word.encode() not in bodies
    assert {headers["X-Api-Key"] for _, headers, _ in collector.requests} == {HEADER}


@pytest.mark.parametrize("shown", ["plain", "hash"])
async def test_people_are_shown_when_asked(
    traced: OpenTraced, collector: FakeCollector, address: dict[str, str], shown: str
) -> None:
    async with traced(address, {"names": shown}) as kernel:
        await kernel.run("paid_ask", {"question": QUESTION}, principal="annabel")
    said = {"plain": ("enduser.id", "vr.workspace"), "hash": ("enduser.pseudo.id",)}
    for span in collector.spans:
        assert set(said[shown]) <= set(span.attributes)
    assert (b"annabel" in collector.raw) == (shown == "plain")


async def test_metrics_of_calls_tokens_and_errors(
    traced: OpenTraced, collector: FakeCollector, address: dict[str, str]
) -> None:
    async with traced(address) as kernel:
        done = await kernel.run("paid_ask", {"question": QUESTION})
        await kernel.run("paid_ask", {"question": 7})
    metrics, usage = collector.metrics, done.result.usage
    assert usage is not None
    assert usage.cost_usd is not None
    ((paid, dollars),) = metrics["vr.cost"]
    assert (paid["gen_ai.tool.name"], dollars) == ("paid_ask", pytest.approx(usage.cost_usd))
    (asked,) = [it for it in collector.spans if it.name.startswith("generate_content")]
    assert asked.attributes["vr.cost_usd"] == pytest.approx(usage.cost_usd)
    tokens = {point["gen_ai.token.type"]: it for point, it in metrics["gen_ai.client.token.usage"]}
    assert tokens == {
        "input": usage.input_tokens,
        "output": usage.output_tokens + usage.thinking_tokens,
    }
    assert sum(value for _, value in metrics["vr.calls"]) == 2
    ((failed, errors),) = metrics["vr.errors"]
    assert (failed["error.type"], errors) == ("INVALID_INPUT", 1)
    durations = metrics["mcp.server.operation.duration"]
    assert {point["gen_ai.tool.name"] for point, _ in durations} == {"paid_ask"}
    ((request, seconds),) = metrics["gen_ai.client.operation.duration"]
    assert request["gen_ai.provider.name"] == "gcp.gemini"
    assert seconds > 0
    assert {point["vr.job.state"]: it for point, it in metrics["vr.jobs"]} == {
        "running": 0,
        "interrupted": 0,
    }
