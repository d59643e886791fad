"""Long calls of clients that follow tasks: created, asked for, answered, cancelled, outlived."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from fastmcp import Client
from mcp import MCPError
from mcp_types import ElicitResult
from paid_work import call_as
from pydantic import BaseModel
from task_client import EXTENSION, TaskClient, follow
from virtual_time import run_virtually
from vr_kernel import (
    ERROR_META,
    READ_ONLY,
    Call,
    Code,
    Config,
    Kernel,
    Question,
    VrError,
    load_config,
    tool,
)
from vr_server import build_server
from vr_server.tasks.questions import ANSWER_WITHIN_S, TaskQuestions
from waiting import until

INVALID_PARAMS, METHOD_NOT_FOUND, INTERNAL_ERROR, NOT_DECLARED = -32602, -32601, -32603, -32021
NOBODYS = "0" * 32


class Told(BaseModel):
    """A finding of a tool."""

    told: str
    more: str | None = None


class Sure(BaseModel):
    """An answer."""

    sure: bool


@dataclass
class Work:
    """A signal that the tools of a test wait for, and a list of what they did."""

    go: asyncio.Event = field(default_factory=asyncio.Event)
    under_way: asyncio.Event = field(default_factory=asyncio.Event)
    did: list[str] = field(default_factory=list)

    def plugin(self, make_plugin: Callable[..., SimpleNamespace]) -> SimpleNamespace:
        """The tools."""

        @tool(effects=READ_ONLY, long=True)
        async def zoo_walk(call: Call, animal: str = "lion") -> Told:
            """Walk an animal when it is time."""
            call.note("It was warm.")
            await call.step("leash", self.leash)
            call.progress(3, 10)
            self.under_way.set()
            try:
                await self.go.wait()
            except asyncio.CancelledError:
                self.did.append("stopped")
                raise
            return Told(told=animal)

        @tool(effects=READ_ONLY, long=True)
        async def zoo_lose(call: Call) -> Told:
            """Lose an animal."""
            call.progress(1, message="it runs")
            await self.go.wait()
            raise VrError("It is gone.", Code.NOT_FOUND, hint="Look for it.")

        @tool(effects=READ_ONLY, long=True)
        async def zoo_free(call: Call) -> Told:
            """Ask, and ask again, when it is too late to be called again."""
            await call.step("leash", self.leash)
            one = await call.ask("Free it?", Sure, default=Sure(sure=False))
            two = await call.ask("Really?", Sure, default=Sure(sure=False))
            return Told(told=f"{one.sure} {two.sure}")

        return make_plugin(tools=[zoo_walk, zoo_lose, zoo_free])

    async def leash(self) -> str:
        """Put the leash on, which must happen once."""
        self.did.append("leash")
        return "leash"


@pytest.fixture
def config(environ: Mapping[str, str], working_folder: Path) -> Config:
    """Settings with which nobody waits for a task."""
    variables = {**environ, "VR_KERNEL__HANDLE_AFTER_S": "0.05", "VR_KERNEL__JOB_TTL_DAYS": "2"}
    return load_config(environ=variables, working_folder=working_folder)


@pytest.fixture
def work() -> Work:
    return Work()


@pytest.fixture
def zoo(work: Work, make_plugin: Callable[..., SimpleNamespace]) -> dict[str, object]:
    return {"zoo": work.plugin(make_plugin)}


@pytest.fixture
async def kernel(start: Callable[..., Any], zoo: dict[str, object]) -> Kernel:
    opened: Kernel = await start(zoo)
    return opened


@pytest.fixture
async def guest(kernel: Kernel) -> AsyncIterator[TaskClient]:
    """A client that follows tasks, and cannot ask its user."""
    async with follow(build_server(kernel)) as client:
        yield client


async def refused(asking: Any) -> MCPError:
    """The error of the protocol that a request ends with."""
    with pytest.raises(MCPError) as caught:
        await asking
    return caught.value


async def test_a_long_call_becomes_a_task(guest: TaskClient, work: Work) -> None:
    created = await guest.call("zoo_walk", animal="bear")
    created.pop("_meta")
    assert created.pop("resultType") == "task"
    assert created.keys() == {
        "taskId", "status", "createdAt", "lastUpdatedAt", "ttlMs", "pollIntervalMs",
        *({"statusMessage"} & created.keys()),
    }  # fmt: skip
    assert created["status"] == "working"
    await work.under_way.wait()
    told = await guest.get(created["taskId"])
    assert (told["resultType"], told["status"]) == ("complete", "working")
    assert told["statusMessage"].startswith("3 of 10")
    assert told["createdAt"] == created["createdAt"]
    since, now = (datetime.fromisoformat(told[name]) for name in ("createdAt", "lastUpdatedAt"))
    assert since.utcoffset() is not None
    assert now >= since
    assert told["ttlMs"] >= 2 * 86_400_000
    assert not told.keys() & {"result", "error", "inputRequests"}
    work.go.set()
    ended = await guest.get_when(created["taskId"], "completed")
    assert "statusMessage" not in ended
    assert ended["result"]["structuredContent"] == {"told": "bear", "more": None}


async def test_the_result_is_the_one_of_a_call_that_was_waited_for(
    guest: TaskClient, work: Work, start: Callable[..., Any], zoo: Any, environ: Any, tmp_path: Path
) -> None:
    task = await guest.task("zoo_walk")
    work.go.set()
    ended = await guest.get_when(task, "completed")
    patient = load_config(environ=environ, working_folder=tmp_path)
    async with Client(build_server(await start(zoo, config=patient))) as waiting:
        waited = await TaskClient(waiting).call("zoo_walk")
    waited.pop("_meta")
    assert ended["result"] == waited
    assert waited["content"][1]["text"] == "Note: It was warm."


async def test_a_failed_tool_is_a_completed_task(guest: TaskClient, work: Work) -> None:
    task = await guest.task("zoo_lose")
    assert (await guest.get(task))["statusMessage"] == "it runs"
    work.go.set()
    result = (await guest.get_when(task, "completed", "failed"))["result"]
    assert result["isError"]
    assert result["_meta"][ERROR_META]["message"] == "It is gone."
    assert "structuredContent" not in result
    assert result["content"][0]["text"] == "It is gone. Look for it."


async def test_a_task_is_cancelled(guest: TaskClient, work: Work) -> None:
    task = await guest.task("zoo_walk")
    await work.under_way.wait()
    assert (await guest.ask("tasks/cancel", taskId=task))["resultType"] == "complete"
    told = await guest.get_when(task, "cancelled")
    assert "result" not in told
    assert work.did == ["leash", "stopped"]
    await guest.ask("tasks/cancel", taskId=task)


async def test_a_task_is_a_job(guest: TaskClient, work: Work) -> None:
    task = await guest.task("zoo_walk")
    work.go.set()
    job = (await guest.call("job_result", job_id=task))["structuredContent"]
    assert (job["state"], job["result"]["told"]) == ("done", "lion")


async def test_who_follows_no_tasks_gets_a_handle(kernel: Kernel, work: Work) -> None:
    for era in ("auto", "legacy"):
        async with Client(build_server(kernel), mode=era) as client:
            handle = (await client.call_tool("zoo_walk", {})).structured_content
            assert handle["state"] == "running"
            error = await refused(TaskClient(client).get(handle["job_id"]))
            assert error.code == (NOT_DECLARED if era == "auto" else METHOD_NOT_FOUND)
            if era == "auto":
                assert error.data == {"requiredCapabilities": {"extensions": {EXTENSION: {}}}}
    work.go.set()


@pytest.mark.parametrize("method", ["tasks/get", "tasks/update", "tasks/cancel"])
async def test_what_is_not_ones_own_is_unknown(
    kernel: Kernel, guest: TaskClient, work: Work, method: str
) -> None:
    foreign = await guest.task("zoo_walk")
    await work.under_way.wait()
    call_as(kernel, "somebody else")
    for task in (foreign, NOBODYS, "", "no id\n" * 1000):
        error = await refused(guest.ask(method, taskId=task, inputResponses={}))
        assert error.code == INVALID_PARAMS
        assert error.message.startswith(f"There is no task {task[:40]}.")
        assert (error.data["code"], error.data["category"]) == ("NOT_FOUND", "JOB_UNKNOWN")
        assert error.data["hint"] in error.message
    assert work.did == ["leash"]


async def test_what_is_no_request_is_refused(guest: TaskClient) -> None:
    for params in ({}, {"taskId": 7}, {"taskId": None}):
        assert (await refused(guest.ask("tasks/get", **params))).code == INVALID_PARAMS
    assert (await refused(guest.ask("tasks/result", taskId=NOBODYS))).code == METHOD_NOT_FOUND


async def test_the_server_says_that_it_has_tasks(guest: TaskClient) -> None:
    capabilities = guest.client.session.server_capabilities
    assert capabilities is not None
    assert capabilities.extensions is not None
    assert capabilities.extensions[EXTENSION] == {}


async def _unused(*_: Any) -> Any:
    raise AssertionError("the question was to come with the task")


async def test_a_task_asks_and_is_answered(kernel: Kernel, work: Work) -> None:
    async with follow(build_server(kernel), elicitation_handler=_unused) as guest:
        task = await guest.task("zoo_free")
        asked = (await guest.get_when(task, "input_required"))["inputRequests"]
        ((key, request),) = asked.items()
        assert request["method"] == "elicitation/create"
        assert request["params"]["message"] == "Free it?"
        assert request["params"]["requestedSchema"]["properties"].keys() == {"sure"}
        answer = {"action": "accept", "content": {"sure": True}}
        await guest.ask("tasks/update", taskId=task, inputResponses={"of nothing": answer})
        assert (await guest.get(task))["inputRequests"] == asked
        error = await refused(guest.ask("tasks/update", taskId=task, inputResponses={key: 7}))
        assert error.code == INVALID_PARAMS
        await guest.ask("tasks/update", taskId=task, inputResponses={key: answer})

        async def next_question() -> dict[str, Any] | None:
            told = await guest.get(task)
            return told if told.get("inputRequests", {}).keys() - {key} else None

        (other,) = (await until(next_question))["inputRequests"]
        both = {key: {"action": "decline"}, other: answer}
        await guest.ask("tasks/update", taskId=task, inputResponses=both)
        ended = await guest.get_when(task, "completed")
    assert ended["result"]["structuredContent"]["told"] == "True True"
    assert work.did == ["leash"]


async def test_a_question_is_answered_through_another_process(
    kernel: Kernel, config: Config, zoo: dict[str, object]
) -> None:
    """It asks in one kernel; a server on another one shows it and takes the answer, once."""
    answer = {"action": "accept", "content": {"sure": True}}
    async with (
        follow(build_server(kernel), elicitation_handler=_unused) as here,
        serve(config, zoo["zoo"]) as there,
    ):
        task = await here.task("zoo_free")
        for _ in range(2):
            told = await there.get_when(task, "input_required")
            ((key, request),) = told["inputRequests"].items()
            assert request["params"]["message"] in ("Free it?", "Really?")
            await there.ask("tasks/update", taskId=task, inputResponses={key: answer})
            late = {key: {"action": "decline"}}
            await there.ask("tasks/update", taskId=task, inputResponses=late)
        ended = await there.get_when(task, "completed")
    assert ended["result"]["structuredContent"]["told"] == "True True"


async def test_who_declines_gets_an_error(kernel: Kernel) -> None:
    async with follow(build_server(kernel), elicitation_handler=_unused) as guest:
        task = await guest.task("zoo_free")
        (key,) = (await guest.get_when(task, "input_required"))["inputRequests"]
        await guest.ask("tasks/update", taskId=task, inputResponses={key: {"action": "decline"}})
        ended = await guest.get_when(task, "completed")
    assert ended["result"]["_meta"][ERROR_META]["category"] == "DECLINED"


async def test_a_task_that_asks_is_cancelled(kernel: Kernel) -> None:
    async with follow(build_server(kernel), elicitation_handler=_unused) as guest:
        task = await guest.task("zoo_free")
        await guest.get_when(task, "input_required")
        await guest.ask("tasks/cancel", taskId=task)
        await guest.get_when(task, "cancelled")


async def test_where_nobody_can_be_asked_the_default_counts(guest: TaskClient) -> None:
    answer = await guest.call("zoo_free")
    if answer["resultType"] == "task":
        answer = (await guest.get_when(answer["taskId"], "completed"))["result"]
    assert answer["structuredContent"]["told"] == "False False"


def test_a_question_is_not_open_for_ever() -> None:
    async def ask() -> None:
        questions = TaskQuestions()
        assert (await questions(Question("Free it?", Sure), paid=True)).action == "unable"
        assert questions.requests() == {}
        questions.answer("question-1", ElicitResult(action="cancel"))
        assert asyncio.get_running_loop().time() == pytest.approx(ANSWER_WITHIN_S)

    run_virtually(ask())


async def test_what_became_no_task_asks_nothing() -> None:
    questions = TaskQuestions()
    asking = asyncio.create_task(questions(Question("Free it?", Sure), paid=False))
    await until(questions.requests)
    questions.close()
    assert (await asking).action == "unable"
    assert (await questions(Question("Really?", Sure), paid=False)).action == "unable"


@asynccontextmanager
async def serve(config: Config, plugin: object) -> AsyncIterator[TaskClient]:
    """A kernel of its own, and a client of it."""
    async with (
        Kernel.open(config, {"zoo": plugin}, roots=[]) as kernel,
        follow(build_server(kernel)) as client,
    ):
        yield client


async def test_a_task_outlives_its_server(
    config: Config, make_plugin: Callable[..., SimpleNamespace], work: Work
) -> None:
    """Another server answers for the task, and does nothing twice."""
    async with serve(config, work.plugin(make_plugin)) as guest:
        task = await guest.task("zoo_walk")
        await work.under_way.wait()
    other = Work(go=work.go)
    work.go.set()
    async with serve(config, other.plugin(make_plugin)) as guest:
        ended = await guest.get_when(task, "completed")
    assert ended["result"]["structuredContent"]["told"] == "lion"
    assert (work.did, other.did) == (["leash", "stopped"], [])


async def test_a_tool_that_was_searched_for_becomes_a_task(
    start: Callable[..., Any], zoo: Any, work: Work, environ: Any, tmp_path: Path
) -> None:
    variables = {"VR_TOOL_SEARCH": "1", "VR_KERNEL__HANDLE_AFTER_S": "0.05"}
    config = load_config(environ={**environ, **variables}, working_folder=tmp_path)
    async with follow(build_server(await start(zoo, config=config))) as guest:
        task = await guest.task("tool_call", name="zoo_walk", arguments={"animal": "bear"})
        work.go.set()
        ended = await guest.get_when(task, "completed")
    assert ended["result"]["structuredContent"]["told"] == "bear"


@pytest.fixture
def no_ledger(environ: Mapping[str, str]) -> None:
    """A file that is none, where the ledger should be."""
    state = Path(environ["VR_STATE_DIR"])
    state.mkdir()
    (state / "jobs.db").write_bytes(b"no database at all" * 500)


@pytest.mark.usefixtures("no_ledger")
async def test_without_a_ledger_there_are_no_tasks(start: Callable[..., Any], zoo: Any) -> None:
    """A question waits for nobody then, and the call itself is answered."""
    async with follow(build_server(await start(zoo)), elicitation_handler=_unused) as guest:
        result = await guest.call("zoo_free")
        error = await refused(guest.get(NOBODYS))
    assert result["structuredContent"]["told"] == "False False"
    assert error.code == INTERNAL_ERROR
    assert "jobs.db" in error.message
