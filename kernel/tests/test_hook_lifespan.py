"""`vr_lifespan`: opened before the first work, closed with the kernel; no other is harmed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any

import pytest
from pydantic import BaseModel
from vr_kernel import (
    READ_ONLY,
    Call,
    Code,
    Config,
    Kernel,
    Provider,
    Services,
    TextRecognizer,
    VrError,
    hookimpl,
    load_config,
    tool,
)
from vr_testing import open_kernel
from waiting import until

Events = list[str]


class Done(BaseModel):
    """The name of the plugin that did it."""

    by: str


def plugin_of(name: str, lifespan: Callable[[Services], Any] | None) -> SimpleNamespace:
    """A plugin with a tool, a provider, and maybe a lifespan."""

    async def go(call: Call) -> Done:
        """Do it."""
        return Done(by=call.services.plugin)

    go.__name__ = f"{name}_go"
    provider = Provider(TextRecognizer, name, lambda services: services.plugin)
    plugin = SimpleNamespace(
        vr_tools=hookimpl(lambda: [tool(effects=READ_ONLY)(go)]),
        vr_providers=hookimpl(lambda: [provider]),
    )
    if lifespan is not None:
        plugin.vr_lifespan = hookimpl(lifespan)
    return plugin


def noted(events: Events) -> Callable[[Services], Any]:
    """A lifespan that notes when it begins and ends."""

    @asynccontextmanager
    async def lifespan(services: Services) -> AsyncIterator[None]:
        events.append(f"open {services.plugin}")
        try:
            yield
        finally:
            events.append(f"close {services.plugin}")

    return lifespan


async def test_they_are_entered_in_order_and_left_in_reverse(config: Config) -> None:
    events: Events = []
    plugins = {name: plugin_of(name, noted(events)) for name in ("one", "two")}
    async with Kernel.open(config, plugins) as kernel:
        assert events == ["open one", "open two"]
        await kernel.call("two_go")
        async with kernel.serving():
            pass
    assert events == ["open one", "open two", "close two", "close one"]


async def test_a_kernel_that_nobody_opened_begins_with_its_first_calls(config: Config) -> None:
    events: Events = []
    kernel = Kernel(config, {"one": plugin_of("one", noted(events))})
    assert events == []
    await asyncio.gather(*(kernel.call("one_go") for _ in range(3)))
    assert events == ["open one"]
    await kernel.aclose()
    assert events == ["open one", "close one"]
    with pytest.raises(VrError, match="closed"):
        await kernel.begin()


async def test_one_that_was_never_used_opens_nothing(config: Config) -> None:
    events: Events = []
    await Kernel(config, {"one": plugin_of("one", noted(events))}).aclose()
    assert events == []


async def test_a_plugin_may_have_nothing_to_open(config: Config) -> None:
    async with Kernel.open(config, {"one": plugin_of("one", lambda services: None)}) as kernel:
        assert await kernel.call("one_go") == Done(by="one")


async def test_no_task_is_made_where_no_plugin_has_one(config: Config) -> None:
    tasks = len(asyncio.all_tasks())
    async with Kernel.open(config, {"one": plugin_of("one", None)}) as kernel:
        assert not kernel.has_lifespans
        assert len(asyncio.all_tasks()) == tasks


class OwnError(BaseException):
    """A class of a plugin's own that no `except Exception` catches."""


def failing(error: BaseException) -> Callable[[Services], Any]:
    @asynccontextmanager
    async def lifespan(services: Services) -> AsyncIterator[None]:
        raise error
        yield

    return lifespan


@asynccontextmanager
async def hang(services: Services) -> AsyncIterator[None]:
    await asyncio.Event().wait()
    yield


@asynccontextmanager
async def ignore_cancellation(services: Services) -> AsyncIterator[None]:
    for _ in range(2):
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            continue
    yield


@asynccontextmanager
async def never_yield(services: Services) -> AsyncIterator[None]:
    if services is None:
        yield


async def bare(services: Services) -> AsyncIterator[None]:
    yield


BAD = {
    "raises": (failing(RuntimeError("no luck")), "no luck"),
    "vr error": (failing(VrError("No disk.", Code.UNAVAILABLE)), "No disk."),
    "exits": (failing(SystemExit(3)), "SystemExit"),
    "interrupts": (failing(KeyboardInterrupt()), "KeyboardInterrupt"),
    "cancels": (failing(asyncio.CancelledError()), "CancelledError"),
    "own class": (failing(OwnError()), "OwnError"),
    "hangs": (hang, "did not begin within 1 s"),
    "ignores cancellation": (ignore_cancellation, "did not begin within 1 s"),
    "never yields": (never_yield, "didn't yield"),
    "not decorated": (bare, "@asynccontextmanager"),
    "no manager": (lambda services: 3, "returned int"),
}


@pytest.mark.parametrize("name", BAD)
async def test_what_fails_to_begin_is_broken_and_harms_nobody(
    name: str, environ: dict[str, str]
) -> None:
    lifespan, reason = BAD[name]
    events: Events = []
    plugins = {
        "bad": plugin_of("bad", lifespan),
        "good": plugin_of("good", noted(events)),
    }
    limit = {"VR_KERNEL__IMPORT_DEADLINE_S": "1"} if "within" in reason else {}
    config = load_config({**environ, **limit})
    async with Kernel.open(config, plugins) as kernel:
        states = {status.name: (status.state.value, status.reason) for status in kernel.plugins()}
        assert states["bad"][0] == "broken"
        assert reason in states["bad"][1]
        assert states["good"] == ("loaded", "")
        assert await kernel.call("good_go") == Done(by="good")
        with pytest.raises(VrError) as caught:
            await kernel.call("bad_go")
        assert (caught.value.code, caught.value.category) == (Code.UNAVAILABLE, "PLUGIN_BROKEN")
        assert reason in caught.value.message
        assert kernel.services.providers.names(TextRecognizer) == ["good"]
    assert events == ["open good", "close good"]


def ending(error: BaseException | None) -> Callable[[Services], Any]:
    @asynccontextmanager
    async def lifespan(services: Services) -> AsyncIterator[None]:
        yield
        if error is not None:
            raise error
        await asyncio.Event().wait()

    return lifespan


@pytest.mark.parametrize("error", [None, RuntimeError("no luck"), SystemExit(3), OwnError()])
async def test_what_fails_to_end_is_logged_and_the_others_end(error: BaseException | None) -> None:
    events: Events = []
    plugins = {"good": plugin_of("good", noted(events)), "bad": plugin_of("bad", ending(error))}
    async with open_kernel(plugins) as kernel:
        done = await kernel.record("bad_go")
        assert done.result == Done(by="bad")
    assert events == ["open good", "close good"]


async def test_one_that_ends_early_is_degraded(config: Config) -> None:
    @asynccontextmanager
    async def lifespan(services: Services) -> AsyncIterator[None]:
        async with asyncio.TaskGroup() as group:
            group.create_task(asyncio.to_thread(int, "no number"))
            yield

    async with Kernel.open(config, {"one": plugin_of("one", lifespan)}) as kernel:
        await until(lambda: kernel.plugins()[1].state == "degraded")
        assert "ended early" in kernel.plugins()[1].reason
        assert await kernel.call("one_go") == Done(by="one")


async def test_a_strict_kernel_raises_it() -> None:
    events: Events = []
    plugins = {"good": plugin_of("good", noted(events)), "later": plugin_of("later", hang)}
    with pytest.raises(VrError, match="did not begin within") as caught:
        async with open_kernel(plugins, settings={"kernel.import_deadline_s": 1}):
            pytest.fail("it was opened")
    assert caught.value.category == "PLUGIN_REFUSED"
    assert events == ["open good", "close good"]


async def test_closing_a_kernel_that_is_just_beginning_waits_for_nobody(config: Config) -> None:
    events: Events = []
    plugins = {"good": plugin_of("good", noted(events)), "slow": plugin_of("slow", hang)}
    kernel = Kernel(config, plugins)
    calling = asyncio.create_task(kernel.run("good_go", {}))
    await until(lambda: bool(events))
    await kernel.aclose()
    with pytest.raises((VrError, asyncio.CancelledError)):
        await calling
    assert events == ["open good", "close good"]
