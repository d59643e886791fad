"""The good plugin of the zoo: one tool for each thing that a front has to carry."""

import asyncio
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Annotated, Any, Literal

import click
from pydantic import BaseModel, Field
from vr_kernel import (
    CALLS_OUT,
    DESTRUCTIVE,
    IDEMPOTENT,
    READ_ONLY,
    WRITES_LOCAL,
    Call,
    Code,
    Command,
    Config,
    Section,
    VrError,
    hookimpl,
    tool,
)

Mood = Literal["calm", "wild"]
NONE: Any = Field(default_factory=list)


class Settings(Section):
    """`[plugins.zoo]`."""

    food: str = "hay"


class Point(BaseModel):
    """A place."""

    x: float
    y: float = 0.0


class Echo(BaseModel):
    """Words that were heard."""

    text: str
    times: int
    loud: bool
    mood: str
    level: int
    tags: list[str]
    numbers: list[int]
    point: Point | None
    extra: dict[str, Any] | None
    note: str | None
    food: str


class Seen(BaseModel):
    """A thing that was looked at."""

    url: str | None
    file_path: str | None


class Heard(BaseModel):
    """Words that were hard to hear."""

    text: str
    volume: float


class Done(BaseModel):
    """That it was done."""

    done: bool = True


class Painting(BaseModel):
    """The place of the painting."""

    uri: str
    path: str


@tool(effects=READ_ONLY | IDEMPOTENT)
async def zoo_echo(
    call: Call,
    text: Annotated[str, Field(max_length=20_000, description="What to say")],
    times: Annotated[int, Field(ge=1, le=9)] = 1,
    loud: bool = False,
    mood: Mood = "calm",
    level: Literal[1, 2, 3] = 1,
    tags: Annotated[list[str], Field(description="Labels")] = NONE,
    numbers: list[int] = NONE,
    point: Point | None = None,
    extra: dict[str, Any] | None = None,
    note: Annotated[str | None, Field(max_length=50)] = None,
) -> Echo:
    """Say it again.

    This paragraph is for readers of the code alone.
    """
    return Echo(
        text=text, times=times, loud=loud, mood=mood, level=level, tags=tags, numbers=numbers,
        point=point, extra=extra, note=note, food=call.settings.food,
    )  # fmt: skip


@tool(effects=READ_ONLY | CALLS_OUT)
async def zoo_look(call: Call, url: str | None = None, file_path: str | None = None) -> Seen:
    """Look at a source."""
    return Seen(url=url, file_path=file_path)


@tool(effects=READ_ONLY)
async def zoo_walk(call: Call, directory: str | None = None, url: str | None = None) -> Seen:
    """Walk through a folder."""
    return Seen(url=url, file_path=directory)


@tool(effects=READ_ONLY)
async def zoo_total(call: Call, points: list[Point]) -> Painting:
    """Add points up."""
    x, y = sum(p.x for p in points), sum(p.y for p in points)
    return Painting(uri=f"{x:g} {y:g}", path="")


@tool(effects=CALLS_OUT)
async def zoo_fail(
    call: Call, code: Code, retryable: bool = False, retry_after: float | None = None
) -> Done:
    """Fail as told."""
    raise VrError(
        "It failed as told.",
        code,
        category="TOLD",
        hint="Tell it something else.",
        retryable=retryable,
        retry_after=retry_after,
    )


@tool(effects=DESTRUCTIVE)
async def zoo_crash(call: Call) -> Done:
    """Fail in a way nobody foresaw."""
    return Done(done=bool(1 / 0))


@tool(effects=READ_ONLY)
async def zoo_misfit(call: Call) -> Done:
    """Return something else than it says."""
    return Seen(url=None, file_path=None)


@tool(effects=READ_ONLY)
async def zoo_exit(call: Call, where: Literal["here", "thread"] = "here") -> Done:
    """Try to end the process."""
    if where == "thread":
        await asyncio.to_thread(sys.exit, 7)
    sys.exit(7)


@tool(effects=WRITES_LOCAL)
async def zoo_wait(call: Call, folder: str, where: Literal["here", "thread"] = "here") -> Done:
    """Wait for ever, and leave a note when it starts and when it is cancelled."""
    leave_note(folder, "started")
    call.progress(0, 1, "waiting")
    try:
        if where == "thread":
            await asyncio.to_thread(threading.Event().wait)
        await asyncio.Event().wait()
    except asyncio.CancelledError:
        leave_note(folder, "cancelled")
        raise
    return Done()


@tool(effects=READ_ONLY)
async def zoo_climb(call: Call, steps: list[float], total: float | None = None) -> Done:
    """Report each step, long enough apart for a client to see it."""
    for step in steps:
        call.progress(step, total, f"step {step:g}")
        await asyncio.sleep(0.02)
    return Done()


@tool(effects=READ_ONLY)
async def zoo_paint(call: Call, text: str, mime: str = "text/plain") -> Painting:
    """Keep a text as an artifact, and remark on it."""
    artifact = await asyncio.to_thread(call.artifact, text.encode(), mime)
    call.note("The paint is wet.")
    return Painting(uri=artifact.uri, path=str(artifact.path))


@tool(effects=READ_ONLY)
async def zoo_shout(call: Call) -> Done:
    """Print in every way there is."""
    print("noise: print")  # noqa: T201 - it is what is tested
    sys.stdout.write("noise: write\n")
    sys.stdout.buffer.write(b"noise: buffer\n")
    sys.__stdout__.write("noise: original\n")
    os.write(1, b"noise: descriptor\n")
    await asyncio.to_thread(print, "noise: thread")
    child = [sys.executable, "-S", "-c", "print('noise: child')"]
    await asyncio.to_thread(subprocess.run, child, check=True)
    return Done()


@tool(effects=READ_ONLY)
async def zoo_mutter(
    call: Call, what: Literal["surrogate", "nan", "line", "noise", "error"]
) -> Heard:
    """Return what is hard to carry."""
    name = "caf\udce9"
    call.progress(1, 2, name)
    if what == "error":
        raise VrError(f"No such file: {name}.", Code.NOT_FOUND)
    texts = {"surrogate": name, "line": "one\u2028two\r\nthree", "noise": "\x00\x1b[31m"}
    return Heard(text=texts.get(what, ""), volume=float("nan") if what == "nan" else 1.5)


class Release(BaseModel):
    """A question that is asked before an animal is freed."""

    sure: bool = Field(description="Really?")
    gate: Literal["north", "south"] = "north"
    reason: str = "none"


@tool(effects=DESTRUCTIVE)
async def zoo_free(call: Call, animal: str) -> Seen:
    """Free an animal, if the person agrees."""
    release = await call.ask(f"Free the {animal}?", Release, default=Release(sure=False))
    return Seen(url=f"{release.sure} {release.gate} {release.reason}", file_path=None)


@tool(effects=READ_ONLY)
async def zoo_flood(call: Call, characters: int) -> Seen:
    """Return more than a client takes."""
    return Seen(url="x" * characters, file_path=None)


def leave_note(folder: str, name: str) -> None:
    """Make an empty file."""
    Path(folder, name).touch()


@click.command()
@click.argument("what", default="")
@click.pass_context
def feed(context: click.Context, what: str) -> int:
    """Feed them."""
    config: Config = context.obj
    click.echo(f"Fed with {what or config.section('plugins.zoo', Settings).food}.")
    return 0 if what != "stones" else 1


@hookimpl
def vr_settings() -> type[Settings]:
    return Settings


@hookimpl
def vr_tools() -> list[Any]:
    return [
        zoo_shout, zoo_wait, zoo_total, zoo_paint, zoo_misfit, zoo_look, zoo_flood, zoo_fail,
        zoo_exit, zoo_echo, zoo_crash, zoo_climb, zoo_mutter, zoo_free, zoo_walk,
    ]  # fmt: skip


@hookimpl
def vr_commands() -> list[Command]:
    home = f"{__name__}:feed"
    return [
        Command(("zoo", "feed"), "Feed them.", home),
        Command(("picnic",), "Feed oneself.", home),
        Command(("zoo", "lost"), "Its code is missing.", f"{__name__}:nowhere"),
    ]
