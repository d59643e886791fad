"""`vr demo`: a real server, a real client, a real talk."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
import time
from filecmp import cmp
from pathlib import Path
from typing import Any

import click
from vr_kernel import Code, Config, VrError

from video_research.report import (
    Progress,
    answer_lines,
    client_lines,
    heading,
    outline_lines,
    tool_line,
)

TALK = Path(__file__).parent / "talk.mp4"
QUESTIONS = (
    "Which kind of index trades memory for speed?",
    "How much faster did queries get?",
    "What should you ask instead of what your country can do for you?",
)
VECTOR_PATIENCE_S = 20.0
"""Seconds for which the demo waits until the first texts are indexed by meaning."""


@click.command()
@click.option(
    "--copy",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    metavar="FOLDER",
    help="Only put a copy of the talk into FOLDER, to try things on.",
)
@click.pass_obj
def demo(config: Config, copy: Path | None) -> int:
    """Watch a talk, search it, and see how to add the server to a client.

    Keeps its results in a folder of their own, beside your knowledge base.
    """
    return asyncio.run(_run(config)) if copy is None else _copy(copy)


def _copy(folder: Path) -> int:
    """Copy the talk there, unless another file has its name.

    Raises:
        VrError: CONFLICT then; NOT_ALLOWED where the file cannot be written.
    """
    target = folder / TALK.name
    try:
        if not target.exists():
            shutil.copyfile(TALK, target)
        elif not cmp(TALK, target, shallow=False):
            raise VrError(
                f"{target} is there already, and is another file.",
                Code.CONFLICT,
                hint="Name another folder.",
            )
    except OSError as error:
        raise VrError(
            f"{target} cannot be written: {error.strerror}.",
            Code.NOT_ALLOWED,
            hint="Name another folder.",
        ) from error
    click.echo(str(target))
    return 0


async def _run(config: Config) -> int:
    from vr_server import connect

    command = [sys.executable, "-P", "-m", "vr_cli", "serve"]
    heading(f"Starting the server: {' '.join(command)}")
    progress = Progress()
    async with connect(
        command, env=_environment(config), cwd=TALK.parent, on_progress=progress.show
    ) as client:
        click.echo(tool_line(await client.tool_names()))
        try:
            await _watch(client)
            await _ask(client, _home(config) / "state" / "artifacts")
        except VrError as error:
            click.echo(f"\nThe demo could not go on: {error.message}\n{error.hint}", err=True)
            return 1
    click.echo("\n".join(client_lines()))
    return 0


async def _watch(client: Any) -> None:
    heading(f"Watching {TALK.name} with the local engine: no key, no network")
    started = time.monotonic()
    analysis = await client.call("video_analyze", file_path=str(TALK), engine="local")
    seconds = time.monotonic() - started
    click.echo("\n".join(outline_lines(analysis)))
    if analysis["cached"]:
        click.echo(f"\nAnswered from the cache in {seconds:.2f} s; recorded in an earlier run.")
    else:
        click.echo(f"\nWatched and recorded in {seconds:.1f} s.")


async def _ask(client: Any, artifacts: Path) -> None:
    heading("Asking the knowledge base")
    stats = await _settled(client)
    click.echo(f"It holds {stats['total']} records in the {stats['backend']} store.")
    for question in QUESTIONS:
        found = await client.call(
            "knowledge_search", query=question, collections=["VideoSegments"], limit=1
        )
        click.echo("\n".join(answer_lines(question, found, artifacts)))


async def _settled(client: Any) -> Any:
    """Wait until new texts can be found by meaning: on a first run, a second or two."""
    deadline = time.monotonic() + VECTOR_PATIENCE_S
    stats = await client.call("knowledge_stats")
    while stats["pending_vectors"] and time.monotonic() < deadline:
        await asyncio.sleep(0.2)
        stats = await client.call("knowledge_stats")
    return stats


def _environment(config: Config) -> dict[str, str]:
    """The server's environment: folders of its own, the talk's folder allowed, all tools shown."""
    home = _home(config)
    return {
        **os.environ,
        "VR_STATE_DIR": str(home / "state"),
        "VR_CACHE_DIR": str(home / "cache"),
        "VR_ALLOWED_ROOTS": str(TALK.parent),
        "VR_TOOLSETS": "all",
    }


def _home(config: Config) -> Path:
    """Return the folder of the demo's results, apart from the user's own."""
    return config.paths.state / "demo"
