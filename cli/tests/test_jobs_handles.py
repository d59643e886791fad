"""Long calls over real stdio: handed out as jobs, watched, waited for, cancelled, and shared."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
import pytest_asyncio
from paid_work import asked, paid_zoo, paying, rows
from plugin_zoo import Zoo, vr_command
from vr_kernel import Code, VrError
from vr_server import Era, ToolClient, connect
from vr_testing import FakeGemini, Fault
from waiting import until

pytestmark = pytest.mark.asyncio(loop_scope="module")
HANDLE_AFTER_S = 0.5
LATENCY_S = 0.2
HUNG_S = 10.0
"""Far less than `job_result` waits by itself."""


@pytest.fixture(scope="module")
def service() -> Iterator[FakeGemini]:
    """The service that all servers pay."""
    with FakeGemini() as gemini:
        yield gemini


@pytest.fixture(scope="module")
def zoo(tmp_path_factory: pytest.TempPathFactory) -> Zoo:
    """The paid plugin."""
    return paid_zoo(tmp_path_factory.mktemp("zoo"))


@pytest.fixture
def gemini(service: FakeGemini) -> FakeGemini:
    """The service, as if it were new."""
    service.heal()
    service.forget()
    service.latency = 0.0
    return service


async def visit(zoo: Zoo, gemini: FakeGemini, era: Era) -> AsyncIterator[ToolClient]:
    """Start a server and connect to it."""
    environment = zoo.environment(**paying(gemini, VR_KERNEL__HANDLE_AFTER_S=str(HANDLE_AFTER_S)))
    log = zoo.folder / f"{era}.log"
    async with connect(
        vr_command("serve"), env=environment, cwd=zoo.work, era=era, log_file=log
    ) as client:
        yield client


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def auto(zoo: Zoo, service: FakeGemini) -> AsyncIterator[ToolClient]:
    """A client of the newest era."""
    async for client in visit(zoo, service, "auto"):
        yield client


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def legacy(zoo: Zoo, service: FakeGemini) -> AsyncIterator[ToolClient]:
    """A client of the eras with a handshake, of a second server on the same folders."""
    async for client in visit(zoo, service, "legacy"):
        yield client


@pytest.fixture(params=["auto", "legacy"])
def either(request: pytest.FixtureRequest) -> ToolClient:
    """A client of each era; the servers are shared by the tests of this module."""
    found: ToolClient = request.getfixturevalue(request.param)
    return found


@pytest.fixture(params=["auto", pytest.param("legacy", marks=pytest.mark.slow)])
def guest(request: pytest.FixtureRequest) -> ToolClient:
    """A client of the newest era, and in the slow tests also one of the others."""
    found: ToolClient = request.getfixturevalue(request.param)
    return found


def validate(data: Any, schema: dict[str, Any]) -> None:
    """Assert that it fits."""
    import jsonschema

    jsonschema.validate(data, schema)


async def schemas(guest: ToolClient) -> dict[str, dict[str, Any]]:
    """The output schema of each tool."""
    tools = await guest.client.list_tools()
    return {tool.name: tool.output_schema for tool in tools if tool.output_schema}


async def raw(guest: ToolClient, tool: str, **arguments: Any) -> Any:
    """A call's result as it is on the wire."""
    return await guest.client.call_tool(tool, arguments, raise_on_error=False)


async def fail(guest: ToolClient, tool: str, **arguments: Any) -> VrError:
    """The error that a call ends with."""
    try:
        await guest.call(tool, **arguments)
    except VrError as error:
        return error
    raise AssertionError("the call did not fail")


async def hand_out(guest: ToolClient, gemini: FakeGemini, name: str) -> str:
    """The id of a job whose model calls are held."""
    handle = await guest.call_once("paid_batch", name=name, items=3, at_once=3)
    assert handle["state"] == "running"
    # The first call of a server imports the client library, which may outlast the hand-out.
    await asyncio.to_thread(gemini.wait, lambda: gemini.in_flight == 3)
    return str(handle["job_id"])


async def test_a_long_call_is_handed_out_and_fetched(
    either: ToolClient, gemini: FakeGemini, request: pytest.FixtureRequest
) -> None:
    guest, gemini.latency = either, LATENCY_S
    name = f"fetched {request.node.callspec.id}"
    result = await raw(guest, "paid_batch", name=name, items=8, at_once=2)
    handle = result.structured_content
    schema = await schemas(guest)
    validate(handle, schema["paid_batch"])
    assert set(handle) == {"job_id", "state", "progress"}
    assert handle["state"] == "running"
    assert not result.is_error
    assert "job_result" in result.content[1].text

    async def progress() -> float:
        info = await guest.call("job_status", job_id=handle["job_id"])
        validate(info, schema["job_status"])
        assert info["tool"] == "paid_batch"
        assert info["progress"]["total"] in (None, 8)
        done: float = info["progress"]["done"]
        return done

    await until(progress)
    ended = await guest.call("job_result", job_id=handle["job_id"], wait_s=30)
    validate(ended, schema["job_result"])
    validate(ended["result"], schema["paid_batch"])
    assert ended["state"] == "done"
    assert ended["progress"] == {"done": 8, "total": 8, "message": "8 of 8", "left_s": None}
    assert ended["result"]["texts"] == [f"A fake answer to: {name} item {n}" for n in range(8)]
    assert ended["usage"] == ended["result"]["usage"]
    assert ended["usage"]["calls"] == 8
    assert (ended["error"], ended["notes"]) == (None, [])
    assert max(asked(gemini).values()) == 1
    jobs = (await guest.call("job_list", state="done"))["jobs"]
    assert handle["job_id"] in [job["job_id"] for job in jobs]


async def jobs_of(guest: ToolClient) -> list[str]:
    return [job["job_id"] for job in (await guest.call("job_list"))["jobs"]]


async def test_a_call_that_is_quick_is_no_job(guest: ToolClient, gemini: FakeGemini) -> None:
    await guest.call("paid_once", question="quick")
    before = await jobs_of(guest)
    result = await raw(guest, "paid_once", question="quick")
    validate(result.structured_content, (await schemas(guest))["paid_once"])
    assert result.structured_content["cached"]
    assert await jobs_of(guest) == before


async def test_a_failure_is_fetched(
    guest: ToolClient, gemini: FakeGemini, request: pytest.FixtureRequest
) -> None:
    gemini.fail(Fault.status(400), times=None)
    gemini.latency = LATENCY_S * 3
    name = f"fails {request.node.callspec.id}"
    with gemini.hold():
        job_id = await hand_out(guest, gemini, name)
    ended = await guest.call("job_result", job_id=job_id)
    assert ended["state"] == "failed"
    assert ended["result"] is None
    assert (ended["error"]["code"], ended["error"]["call_id"]) == ("INVALID_INPUT", job_id)


@pytest.mark.slow
async def test_waiting_no_time_answers_at_once(
    guest: ToolClient, gemini: FakeGemini, request: pytest.FixtureRequest
) -> None:
    with gemini.hold():
        job_id = await hand_out(guest, gemini, f"waits {request.node.callspec.id}")
        async with asyncio.timeout(HUNG_S):
            now = await guest.call("job_result", job_id=job_id, wait_s=0)
        assert (now["state"], now["result"], now["error"]) == ("running", None, None)
    assert (await guest.call("job_result", job_id=job_id))["state"] == "done"


async def test_cancelling_ends_the_provider_calls(
    guest: ToolClient, gemini: FakeGemini, request: pytest.FixtureRequest
) -> None:
    with gemini.hold():
        job_id = await hand_out(guest, gemini, f"cancelled {request.node.callspec.id}")
        waiting = asyncio.create_task(guest.call("job_result", job_id=job_id))
        assert (await guest.call("job_cancel", job_id=job_id))["state"] == "cancelled"
        await asyncio.to_thread(gemini.wait, lambda: gemini.cancelled == 3)
        ended = await waiting
        assert (ended["state"], ended["result"], ended["error"]) == ("cancelled", None, None)
        assert (await guest.call("job_cancel", job_id=job_id))["state"] == "cancelled"


async def test_a_job_is_cancelled_from_another_server(
    auto: ToolClient, legacy: ToolClient, gemini: FakeGemini
) -> None:
    with gemini.hold():
        job_id = await hand_out(auto, gemini, "cancelled elsewhere")
        assert (await legacy.call("job_cancel", job_id=job_id))["state"] == "running"
        await asyncio.to_thread(gemini.wait, lambda: gemini.cancelled == 3)
        async with asyncio.timeout(HUNG_S):
            ended = await legacy.call("job_result", job_id=job_id)
        assert ended["state"] == "cancelled"


async def test_jobs_that_there_are_not(guest: ToolClient, gemini: FakeGemini) -> None:
    for tool in ("job_status", "job_result", "job_cancel"):
        unknown = await fail(guest, tool, job_id="0" * 32)
        assert (unknown.code, unknown.category) == (Code.NOT_FOUND, "JOB_UNKNOWN")
        assert "job_list" in unknown.hint
        for malformed in (
            "",
            "x",
            "0" * 31,
            "A" * 32,
            "../../x",
            "0" * 32 + "\n",
            "job/" + "0" * 32,
        ):
            error = await fail(guest, tool, job_id=malformed)
            assert error.code is Code.INVALID_INPUT
            assert not error.retryable
        assert (await fail(guest, tool, job_id="0" * 5000)).code is Code.INVALID_INPUT
    assert (await fail(guest, "job_result", job_id="0" * 32, wait_s=-1)).code is Code.INVALID_INPUT
    assert (await fail(guest, "job_list", state="gone")).code is Code.INVALID_INPUT


@pytest.mark.slow
async def test_fifty_equal_calls_to_two_servers_are_one_model_call(
    auto: ToolClient, legacy: ToolClient, gemini: FakeGemini, zoo: Zoo
) -> None:
    gemini.latency = LATENCY_S / 2
    before = len(rows(zoo.folder / "state", "journal.db", "SELECT key FROM record"))

    answers = await asyncio.gather(
        *((auto, legacy)[number % 2].call("paid_once", question="both") for number in range(50))
    )
    assert asked(gemini) == {"both": 1}
    assert {answer["text"] for answer in answers} == {"A fake answer to: both"}
    assert sum(answer["usage"] is not None for answer in answers) == 1
    assert sum(not answer["cached"] for answer in answers) == 1
    assert len(rows(zoo.folder / "state", "journal.db", "SELECT key FROM record")) == before + 1


async def test_those_who_wait_for_equal_work_are_handed_out_too(
    auto: ToolClient, legacy: ToolClient, gemini: FakeGemini
) -> None:
    with gemini.hold():
        handles = await asyncio.gather(
            *(
                (auto, legacy)[number % 2].call_once("paid_once", question="slow")
                for number in range(6)
            )
        )
        assert {handle["state"] for handle in handles} == {"running"}
    ended = [await auto.call("job_result", job_id=handle["job_id"]) for handle in handles]
    assert {it["state"] for it in ended} == {"done"}
    assert asked(gemini) == {"slow": 1}
    assert sum(it["usage"] is not None for it in ended) == 1


async def running(guest: ToolClient) -> list[Any]:
    found: list[Any] = (await guest.call("job_list", state="running"))["jobs"]
    return found


@pytest.mark.slow
async def test_our_client_waits_for_what_goes_on_as_a_job(
    guest: ToolClient, gemini: FakeGemini, request: pytest.FixtureRequest
) -> None:
    name = f"followed {request.node.callspec.id}"
    with gemini.hold():
        waiting = asyncio.create_task(guest.call("paid_batch", name=name, items=2, at_once=2))
        await until(lambda: running(guest))
    result = await waiting
    assert result["texts"] == [f"A fake answer to: {name} item {n}" for n in range(2)]
    assert max(asked(gemini).values()) == 1


async def test_our_client_raises_what_a_job_ended_with(
    guest: ToolClient, gemini: FakeGemini, request: pytest.FixtureRequest
) -> None:
    gemini.fail(Fault.status(400), times=None)
    name = f"refused {request.node.callspec.id}"
    with gemini.hold():
        refused = asyncio.create_task(fail(guest, "paid_batch", name=name, items=2, at_once=2))
        await until(lambda: running(guest))
        cancelled = asyncio.create_task(fail(guest, "paid_batch", name=f"{name}, ended", items=1))
        await until(lambda: gemini.in_flight == 3)
        both = await until(lambda: _two(guest))
        ended = next(job["job_id"] for job in both)
        await guest.call("job_cancel", job_id=ended)
        assert (await cancelled).code is Code.CANCELLED
    assert (await refused).code is Code.INVALID_INPUT


async def _two(guest: ToolClient) -> list[Any]:
    jobs = await running(guest)
    return jobs if len(jobs) == 2 else []
