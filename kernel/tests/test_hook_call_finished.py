"""`vr_call_finished`: plugins hear of each call that ended, and no result is harmed by it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from pydantic import BaseModel
from vr_kernel import (
    READ_ONLY,
    Call,
    CallFinished,
    Code,
    Config,
    Kernel,
    Record,
    RecordField,
    RecordKind,
    Services,
    Trace,
    VrError,
    hookimpl,
    load_config,
    tool,
)
from vr_kernel.running.listeners import LIMIT_S, Listeners
from vr_testing import open_kernel
from waiting import until

NOTES = RecordKind("Notes", "Notes.", (RecordField("text", searchable=True),), rerank="text")
Hear = Callable[[CallFinished, Services], Any]


class Note(BaseModel):
    """The note that was kept; `cached` like the results of paid tools."""

    text: str
    cached: bool = False


@tool(effects=READ_ONLY)
async def notes_take(call: Call, text: str, *, cached: bool = False) -> Note:
    """Take a note."""
    call.record(Record("Notes", {"text": text}), Record("Notes", {"text": text}))
    return Note(text=text, cached=cached)


@tool(effects=READ_ONLY, long=True)
async def notes_copy(call: Call, text: str) -> Note:
    """Take a note, in a job."""
    call.record(Record("Notes", {"text": text}))
    return Note(text=text)


@tool(effects=READ_ONLY)
async def notes_lose(call: Call) -> Note:
    """Lose a note that it recorded."""
    call.record(Record("Notes", {"text": "lost"}))
    raise VrError("Lost it.", Code.QUOTA)


@tool(effects=READ_ONLY)
async def notes_later(call: Call, text: str) -> Note:
    """Take a note later, in a job."""
    return Note(text=await call.services.jobs.begin("notes_copy", {"text": text}, call.principal))


@tool(effects=READ_ONLY)
async def notes_wait(call: Call) -> Note:
    """Wait until cancelled."""
    call.progress(1)
    return await asyncio.Event().wait() and Note(text="never")


def plugin_of(hear: Hear | None = None, tools: bool = False) -> SimpleNamespace:
    """A plugin that hears of calls, or offers tools."""
    plugin = SimpleNamespace()
    if hear is not None:

        @hookimpl
        def vr_call_finished(event: CallFinished, services: Services) -> Any:
            return hear(event, services)

        plugin.vr_call_finished = vr_call_finished
    if tools:
        offered = [notes_take, notes_copy, notes_later, notes_lose, notes_wait]
        plugin.vr_tools = hookimpl(lambda: offered)
        plugin.vr_record_kinds = hookimpl(lambda: [NOTES])
    return plugin


class Heard:
    """A listener that keeps the events, and how far the journal was."""

    def __init__(self) -> None:
        self.events: list[CallFinished] = []
        self.recorded: list[int] = []
        self.services: Any = None

    async def __call__(self, event: CallFinished, services: Services) -> None:
        self.events.append(event)
        self.recorded.append(await services.journal.last_seq())
        self.services = services


def plugins_with(*listeners: Hear) -> dict[str, object]:
    """The tools, and a plugin for each listener."""
    hearing = {f"ear{number}": plugin_of(each) for number, each in enumerate(listeners)}
    return {"notes": plugin_of(tools=True), **hearing}


async def test_the_event_says_how_the_call_ended(config: Config) -> None:
    heard = Heard()
    async with Kernel.open(config, plugins_with(heard)) as kernel:
        outcome = await kernel.run("notes_take", {"text": "a", "cached": True}, principal="ann")
        with pytest.raises(VrError):
            await kernel.call("notes_lose")
    first, second = heard.events
    assert (first.call_id, first.tool, first.plugin) == (outcome.call_id, "notes_take", "notes")
    assert (first.principal, first.workspace) == ("ann", "ann")
    assert (first.ok, first.code, first.records, first.cached) == (True, None, 2, True)
    assert first.usage is None
    assert first.duration_s >= 0
    assert (second.ok, second.code, second.records) == (False, Code.QUOTA, 0)
    assert heard.recorded == [2, 2], "the records are in the journal by then"
    assert heard.services.plugin == "ear0", "with the services of its own plugin"
    with pytest.raises(AttributeError):
        first.ok = False  # type: ignore[misc]


async def test_a_long_tool_is_heard_of_before_its_result(config: Config) -> None:
    heard = Heard()
    async with Kernel.open(config, plugins_with(heard)) as kernel:
        running = kernel.start("notes_copy", {"text": "a"})
        await running.outcome()
        assert [(e.call_id, e.tool, e.records) for e in heard.events] == [
            (running.id, "notes_copy", 1)
        ]


async def test_a_job_is_heard_of(config: Config) -> None:
    heard = Heard()
    async with Kernel.open(config, plugins_with(heard)) as kernel:
        running = kernel.start("notes_copy", {"text": "a"})
        job = await kernel.detach(running)
        job = await kernel.services.jobs.wait(job.id, kernel.identity.principal, 10)
        assert job.state == "done"
        assert [event.call_id for event in heard.events] == [job.id]


async def test_an_invalid_call_is_heard_of(config: Config) -> None:
    heard = Heard()
    async with Kernel.open(config, plugins_with(heard)) as kernel:
        await kernel.run("notes_take", {"text": 7})
    assert [event.code for event in heard.events] == [Code.INVALID_INPUT]


async def test_a_cancelled_call_is_told_in_the_background(config: Config) -> None:
    heard, begun = Heard(), asyncio.Event()
    async with Kernel.open(config, plugins_with(heard)) as kernel:
        task = asyncio.create_task(kernel.run("notes_wait", {}, report=lambda *_args: begun.set()))
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert [(it.tool, it.ok, it.code) for it in heard.events] == [
        ("notes_wait", False, Code.CANCELLED)
    ]


async def test_each_call_knows_its_parent_and_the_outermost(config: Config) -> None:
    heard, sent = Heard(), {"traceparent": f"00-{'a' * 32}-{'b' * 16}-01"}
    async with Kernel.open(config, plugins_with(heard)) as kernel:
        async with kernel.turn("notes", "chat", "one", trace_context=sent) as turn:
            later = await kernel.run("notes_later", {"text": "a"})
        await kernel.services.jobs.wait(later.data["text"], kernel.identity.principal, 10)
        alone = await kernel.run("notes_take", {"text": "a"})
    traces = {event.call_id: event.trace for event in heard.events}
    assert traces[turn.id] == Trace(sent, "", turn.id)
    assert traces[later.call_id] == Trace(sent, turn.id, turn.id)
    assert traces[later.data["text"]] == Trace(sent, later.call_id, turn.id)
    assert traces[alone.call_id] == Trace({}, "", alone.call_id)


async def test_a_turn_is_told_of(config: Config) -> None:
    heard = Heard()
    async with Kernel.open(config, plugins_with(heard)) as kernel:
        async with kernel.turn("notes", "chat", "one") as call:
            call.record(Record("Notes", {"text": "a"}))
        with pytest.raises(ValueError, match="no luck"):
            async with kernel.turn("notes", "chat", "one"):
                raise ValueError("no luck")
    told = [(it.call_id, it.tool, it.plugin, it.ok, it.code, it.records) for it in heard.events]
    assert told == [
        (call.id, "chat", "notes", True, None, 1),
        (call.id, "chat", "notes", False, Code.INTERNAL, 0),
    ]


async def fail_later(_event: CallFinished, _services: Services) -> None:
    raise RuntimeError("no luck")


async def leave_later(_event: CallFinished, _services: Services) -> None:
    raise SystemExit(3)


async def interrupt_later(_event: CallFinished, _services: Services) -> None:
    raise KeyboardInterrupt


async def cancel_later(_event: CallFinished, _services: Services) -> None:
    raise asyncio.CancelledError


class OwnError(BaseException):
    """A class of a plugin's own that no `except Exception` catches."""


async def own_later(_event: CallFinished, _services: Services) -> None:
    raise BaseExceptionGroup("no luck", [OwnError()])


def own_now(_event: CallFinished, _services: Services) -> None:
    raise OwnError


def interrupt_now(_event: CallFinished, _services: Services) -> None:
    raise KeyboardInterrupt


def fail_now(_event: CallFinished, _services: Services) -> None:
    raise RuntimeError("no luck")


def answer(_event: CallFinished, _services: Services) -> str:
    return "done"


BAD = [
    *(fail_now, interrupt_now, own_now, answer),
    *(fail_later, leave_later, interrupt_later, cancel_later, own_later),
]


@pytest.mark.parametrize("bad", BAD)
async def test_what_a_listener_does_wrong_harms_nobody(bad: Hear) -> None:
    heard = Heard()
    async with open_kernel(plugins_with(bad, heard)) as kernel:
        done = await kernel.record("notes_take", text="a")
        assert done.result == Note(text="a")
        assert [event.tool for event in heard.events] == ["notes_take"]
        told = [line for line in done.log if line.fields.get("plugin") == "ear0"]
        assert [line.level for line in told] == ["error"]


async def test_a_listener_that_hangs_is_cancelled_in_time(config: Config) -> None:
    cancelled = asyncio.Event()

    async def hang(event: CallFinished, services: Services) -> None:
        assert event.ok
        assert services is heard.services
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()

    heard = Heard()
    async with Kernel.open(config, plugins_with(heard)) as kernel:
        await kernel.call("notes_take", text="a")
        listeners = Listeners(kernel.log, limit_s=0.05)
        listeners.add(hang, heard.services)
        listeners.add(heard, heard.services)
        async with asyncio.timeout(LIMIT_S):
            await listeners.tell(heard.events[0])
        await until(cancelled.is_set)
        assert heard.events == [heard.events[0]] * 2, "the others hear all the same"


async def test_nobody_is_awaited_who_has_nothing_to_do(config: Config) -> None:
    tasks: list[int] = []

    def look(_event: CallFinished, _services: Services) -> None:
        tasks.append(len(asyncio.all_tasks()))

    async with Kernel.open(config, plugins_with(look)) as kernel:
        assert bool(kernel._foundation.listeners)
        await kernel.call("notes_take", text="a")
        assert len(asyncio.all_tasks()) == tasks[0], "no task was made for it"
    async with Kernel.open(config, plugins_with()) as kernel:
        assert not kernel._foundation.listeners


def test_a_hook_that_is_no_event_may_not_be_async(environ: dict[str, str]) -> None:
    async def hear(event: CallFinished) -> None:
        assert event

    async def tools() -> list[Any]:
        return []

    plugins = {
        "good": SimpleNamespace(vr_call_finished=hookimpl(hear)),
        "bad": SimpleNamespace(vr_tools=hookimpl(tools)),
    }
    kernel = Kernel(load_config(environ=environ), plugins)
    states = {status.name: status.state.value for status in kernel.plugins()}
    assert (states["good"], states["bad"]) == ("loaded", "broken")
    assert isinstance(kernel._foundation.listeners, Listeners)
