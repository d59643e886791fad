"""A plugin that raises whatever it is told to, wherever the kernel runs code of plugins."""

import asyncio
import gc
import os
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Sequence
from typing import Annotated, Any

import click
from pydantic import AfterValidator, BaseModel, model_serializer
from vr_kernel import (
    READ_ONLY,
    Call,
    CallFinished,
    Check,
    Command,
    Diagnosis,
    Record,
    RecordField,
    RecordKind,
    Services,
    hookimpl,
    prompt,
    resource,
    tool,
)


class OwnError(BaseException):
    """A class of its own that no `except Exception` catches."""


class WordlessError(Exception):
    """An exception that has no text and no form."""

    def __str__(self) -> str:
        raise OwnError

    __repr__ = __str__


RAISED: dict[str, Any] = {
    "exit": lambda: SystemExit(0),
    "interrupt": KeyboardInterrupt,
    "close": GeneratorExit,
    "own": OwnError,
    "group": lambda: BaseExceptionGroup("all", [OwnError(), KeyboardInterrupt()]),
    "cancel": asyncio.CancelledError,
    "stop": StopIteration,
    "wordless": WordlessError,
    "endless": lambda: RuntimeError("x" * 20_000_000),
    "recursion": RecursionError,
}


HEARD: list[str] = []
"""What the listener is to raise next; first as it is called, then as it is awaited."""


def fail(kind: str) -> Any:
    """Raise what is asked for; nothing for `fine`."""
    if kind in RAISED:
        error = RAISED[kind]()
        raise error
    return kind


class Done(BaseModel):
    """Result of a tool of this plugin."""

    done: str = "yes"


class Shown(BaseModel):
    """A result that fails when it is shown."""

    done: str

    @model_serializer
    def _show(self) -> dict[str, str]:
        return {"done": fail(self.done)}


@tool(effects=READ_ONLY)
async def unruly_fine(call: Call) -> Done:
    """Do as others do."""
    return Done()


@tool(effects=READ_ONLY)
async def unruly_raise(call: Call, kind: str) -> Done:
    """Raise at once, then after an await."""
    if kind.endswith("!"):
        fail(kind[:-1])
    await asyncio.sleep(0)
    return Done(done=fail(kind))


@tool(effects=READ_ONLY, long=True)
async def unruly_job(call: Call, kind: str) -> Done:
    """Raise in a step of a job."""

    async def work() -> str:
        await asyncio.sleep(0)
        return str(fail(kind))

    return Done(done=await call.step("work", work))


@tool(effects=READ_ONLY)
async def unruly_once(call: Call, kind: str) -> Done:
    """Raise in work that others may wait for."""

    async def work(_shared: Call) -> Done:
        await asyncio.sleep(0)
        return Done(done=fail(kind))

    return await call.once(f"unruly-{kind}", Done, work)


@tool(effects=READ_ONLY)
async def unruly_thread(call: Call, kind: str) -> Done:
    """Raise in a thread."""
    # An asyncio future cannot hold a StopIteration.
    return Done(done=await asyncio.to_thread(fail, "own" if kind == "stop" else kind))


@tool(effects=READ_ONLY)
async def unruly_result(call: Call, kind: str) -> Shown:
    """Raise when the result is shown."""
    return Shown(done=kind)


@tool(effects=READ_ONLY)
async def unruly_argument(call: Call, kind: Annotated[str, AfterValidator(fail)]) -> Done:
    """Raise when the argument is looked at."""
    return Done(done=kind)


@tool(effects=READ_ONLY)
async def unruly_record(call: Call, kind: str) -> Done:
    """Raise when the record is given its key."""
    call.record(Record("Unruly", {"kind": kind}))
    return Done()


@tool(effects=READ_ONLY)
async def unruly_task(call: Call, kind: str) -> Done:
    """Leave a task, a callback and a generator behind, each of which raises."""

    async def later() -> None:
        await asyncio.sleep(0)
        fail(kind)

    async def half() -> AsyncIterator[int]:
        try:
            yield 1
        finally:
            await asyncio.sleep(0)
            fail(kind)

    generator = half()
    await anext(generator)
    del generator
    gc.collect()
    task = asyncio.create_task(later())
    asyncio.get_running_loop().call_soon(fail, kind)
    await asyncio.wait({task})
    return Done()


@tool(effects=READ_ONLY)
async def unruly_heard(call: Call, kind: str) -> Done:
    """Have the listener raise."""
    HEARD.append(kind)
    return Done()


@tool(effects=READ_ONLY)
async def unruly_block(call: Call, seconds: float) -> Done:
    """Hold up the loop."""
    sys.stderr.write("blocking\n")
    sys.stderr.flush()
    time.sleep(seconds)  # noqa: ASYNC251 - it is to block
    return Done()


def print_staying() -> None:
    """Tell the test that the loop is at rest."""
    sys.stderr.write("staying\n")
    sys.stderr.flush()


async def stay() -> None:
    """Never end."""
    while True:
        try:
            # The loop prints it once this waits: a Ctrl-C before that would be swallowed here.
            asyncio.get_running_loop().call_soon(print_staying)
            await asyncio.Event().wait()
        except BaseException:  # noqa: BLE001 - it is to swallow even a cancellation
            pass


@tool(effects=READ_ONLY)
async def unruly_stay(call: Call) -> Done:
    """Stay, whoever cancels it."""
    await stay()
    return Done()


@tool(effects=READ_ONLY)
async def unruly_wait(call: Call, seconds: float) -> Done:
    """Wait as one should."""
    await asyncio.sleep(seconds)
    return Done()


@resource("vr://unruly/{kind}")
async def unruly_note(services: Services, kind: str) -> str:
    """Raise when it is read; a future that carries a GeneratorExit closes who waits for it."""
    return str(await asyncio.to_thread(fail, kind) if kind == "close" else fail(kind))


@resource("vr://unruly-model/{kind}")
async def unruly_model(services: Services, kind: str) -> Shown:
    """Raise when it is shown."""
    return Shown(done=kind)


@prompt
def unruly_words(kind: str) -> str:
    """Raise when it is written."""
    return str(fail(kind))


class Messages(Sequence[Any]):
    """No messages, but what raises when it is asked for them."""

    def __init__(self, kind: str) -> None:
        self.kind = kind

    def __len__(self) -> int:
        fail(self.kind)
        return 0

    def __getitem__(self, _: Any) -> Any:
        return []


@prompt
def unruly_messages(kind: str) -> Any:
    """Raise when its messages are read."""
    return Messages(kind)


@hookimpl
def vr_tools() -> list[Any]:
    return [
        *(unruly_fine, unruly_raise, unruly_job, unruly_once, unruly_thread, unruly_result),
        *(unruly_argument, unruly_record, unruly_task, unruly_heard, unruly_block),
        *(unruly_wait, unruly_stay),
    ]


@hookimpl
def vr_resources() -> list[Any]:
    return [unruly_note, unruly_model]


@hookimpl
def vr_prompts() -> list[Any]:
    return [unruly_words, unruly_messages]


@hookimpl
def vr_record_kinds() -> list[RecordKind]:
    field = RecordField("kind", searchable=True)
    key = lambda fields: fail(fields["kind"])  # noqa: E731
    return [RecordKind("Unruly", "Kinds.", (field,), rerank="kind", identity=key)]


async def hear(kind: str) -> None:
    await asyncio.sleep(0)
    if kind == "stay":
        await stay()
    if kind == "block":
        time.sleep(2.5)  # noqa: ASYNC251 - it is to block
    fail(kind)


@hookimpl
def vr_call_finished(event: CallFinished) -> Awaitable[None] | None:
    kind = HEARD.pop() if HEARD else ""
    fail(kind.removesuffix("!") if kind.endswith("!") else "")
    return hear(kind) if kind else None


@hookimpl
def vr_health(services: Services) -> list[Check]:
    def later(kind: str) -> Any:
        async def look() -> Diagnosis:
            await asyncio.sleep(0)
            return Diagnosis.ok(str(fail(kind)))

        return look

    if "UNRULY_STAYS" in os.environ:
        return [Check("stay", stay, deadline_s=0.5)]
    now = [Check(kind, lambda kind=kind: Diagnosis.ok(fail(kind))) for kind in RAISED]
    return [*now, *(Check(f"{kind} later", later(kind)) for kind in RAISED)]


@hookimpl
def vr_commands() -> list[Command]:
    target = f"{__name__}:unruly_command"
    return [Command(("unruly", "command"), "Raise at a terminal.", target)]


@click.command()
@click.argument("kind")
def unruly_command(kind: str) -> None:
    """Raise at a terminal."""
    fail(kind)
