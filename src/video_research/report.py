"""Texts that `vr demo` prints."""

from __future__ import annotations

import json
import re
import shutil
import sys
import textwrap
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click
from vr_kernel.views import clock

WIDTH = 96
_WORDS = re.compile(r"\D+")
"""The words of a phase, before its times and numbers."""


def heading(text: str) -> None:
    """Print a step of the demo."""
    click.echo(f"\n{click.style('==', fg='cyan')} {click.style(text, bold=True)}")


class Progress:
    """A server's progress on stderr: one line that changes at a terminal, else one a phase."""

    def __init__(self) -> None:
        self._phase = ""

    async def show(self, done: float, total: float | None, message: str | None) -> None:
        """Show how far it is."""
        share = f"{100 * done / total:3.0f} %" if total else ""
        text = f"  {share} {message or ''}".rstrip()
        if sys.stderr.isatty():
            click.echo(f"\r\033[K{text}", nl=bool(total and done >= total), err=True)
            return
        phase = _WORDS.match(message or "")
        if phase and phase[0] != self._phase:
            self._phase = phase[0]
            click.echo(text, err=True)


def tool_line(names: Sequence[str]) -> str:
    """The number of tools, in all and of each domain."""
    counts = Counter(name.partition("_")[0] for name in names)
    told = ", ".join(f"{count} {domain}_…" for domain, count in counts.most_common())
    return f"Connected over stdio. It has {len(names)} tools: {told}"


def outline_lines(analysis: Mapping[str, Any]) -> Iterator[str]:
    """Title and summary of an analysis, with its times, and what it was made of."""
    yield click.style(analysis["title"], bold=True)
    yield from _wrapped(analysis["summary"], "  ")
    said = analysis["transcript"] or {"segments": 0, "origin": "nothing"}
    yield (
        f"  {len(analysis['key_points'])} key points, {len(analysis['chapters'])} chapters,"
        f" {len(analysis['slides'])} slides, {said['segments']} segments from {said['origin']};"
        f" by {analysis['model']}."
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
    title = str(properties.get("title", ""))
    yield f"    {click.style(clock(start), fg='green', bold=True)}  {title}"
    words = " ".join(str(properties.get("text", "")).split()).removeprefix(title).strip()
    yield from _wrapped(words, "    ")
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
    yield f"    {json.dumps(configuration)}"
    yield "  It reads files below the folder it is started in; allow more with `vr init`."


def _wrapped(text: str, indent: str) -> Iterator[str]:
    for line in text.splitlines():
        yield from textwrap.wrap(line, WIDTH, initial_indent=indent, subsequent_indent=indent) or [
            ""
        ]
