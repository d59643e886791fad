"""Texts that `vr demo` prints."""

from __future__ import annotations

import json
import shutil
import sys
import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click

WIDTH = 96


def heading(text: str) -> None:
    """Print a step of the demo."""
    click.echo(f"\n{click.style('==', fg='cyan')} {click.style(text, bold=True)}")


async def show_progress(done: float, total: float | None, message: str | None) -> None:
    """Show the server's progress on stderr, on one line where there is a terminal."""
    share = f"{100 * done / total:3.0f} %" if total else ""
    text = f"  {share} {message or ''}".rstrip()
    if sys.stderr.isatty():
        click.echo(f"\r\033[K{text}", nl=bool(total and done >= total), err=True)
    else:
        click.echo(text, err=True)


def clock(seconds: float) -> str:
    """Seconds as a person reads them on a player: `00:47`, `1:02:03`."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes:02}:{rest:02}"


def outline_lines(analysis: Mapping[str, Any]) -> Iterator[str]:
    """Title, summary and timed points of an analysis."""
    yield click.style(analysis["title"], bold=True)
    yield from _wrapped(analysis["summary"], "  ")
    yield ""
    yield "  Key points"
    for point in analysis["key_points"]:
        yield from _wrapped(f"- {point}", "    ")
    yield ""
    said = analysis["transcript"] or {"segments": 0, "origin": "nothing"}
    yield (
        f"  {len(analysis['chapters'])} chapters, {len(analysis['slides'])} slides with text and"
        f" thumbnail, {said['segments']} segments from {said['origin']}; by {analysis['model']}."
    )
    for limit in analysis["limits"]:
        yield from _wrapped(f"Note: {limit}", "  ")


def answer_lines(question: str, found: Mapping[str, Any], artifacts: Path) -> Iterator[str]:
    """A question and the moment that answers it best; `artifacts` is the folder of pictures."""
    yield f"\n  {click.style('?', fg='cyan')} {question}"
    if not found["results"]:
        yield "    Nothing found."
        return
    best = found["results"][0]
    properties = best["properties"]
    start = (best["locator"] or {}).get("start", 0)
    yield f"    {click.style(clock(start), fg='green', bold=True)}  {properties.get('title', '')}"
    yield from _wrapped(" ".join(str(properties.get("text", "")).split()), "    ")
    yield f"    {best['link']}"
    if thumbnail := properties.get("thumbnail_uri"):
        yield f"    thumbnail: {artifacts / thumbnail.rpartition('/')[2]}"


def client_lines() -> Iterator[str]:
    """Yield the lines that tell how to add the server to an MCP client."""
    program = shutil.which("vr", path=str(Path(sys.executable).parent)) or "vr"
    configuration = {"mcpServers": {"video-research": {"command": program, "args": ["serve"]}}}
    yield f"\n{click.style('==', fg='cyan')} {click.style('Add it to your MCP client', bold=True)}"
    yield f"  {program} init does it, and shows what it changes. Or do it yourself:"
    yield f"  Claude Code:  claude mcp add video-research -- {program} serve"
    yield "  Others, in their mcpServers configuration:"
    yield textwrap.indent(json.dumps(configuration, indent=2), "    ")
    yield "  It reads files below the folder it is started in; allow more with `vr init`."


def _wrapped(text: str, indent: str) -> Iterator[str]:
    for line in text.splitlines():
        yield from textwrap.wrap(line, WIDTH, initial_indent=indent, subsequent_indent=indent) or [
            ""
        ]
