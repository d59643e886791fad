"""`vr knowledge notes`."""

from __future__ import annotations

import asyncio
import json

import click
from vr_kernel import Code, Config, Kernel, VrError

from vr_plugin_knowledge.notes.folder import Notes

WHOLE_S = 3600.0


@click.group("notes")
def notes() -> None:
    """Your folder of notes, which knowledge_search finds and results are written into."""


@notes.command("sync")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_obj
def sync(config: Config, *, as_json: bool) -> None:
    """Write what was recorded into the folder, and read the notes in it."""
    counts = asyncio.run(_sync(config))
    if as_json:
        click.echo(json.dumps(counts))
        return
    for name, count in counts.items():
        click.echo(f"{name}: {count:,}")


async def _sync(config: Config) -> dict[str, int]:
    async with Kernel.open(config) as kernel:
        folder = kernel.services.providers.get(Notes)
        written = await folder.writer.write(WHOLE_S)
        read = await folder.reader.read()
        wrong = folder.writer.complaint.said or folder.reader.complaint.said
        if wrong:
            raise VrError(
                f"The notes folder is not up to date: {wrong}.",
                Code.UNAVAILABLE,
                hint="`vr doctor` looks at the folder; then call this again, it goes on.",
            )
        pending = await kernel.services.store.catch_up(WHOLE_S)
        if pending and (trouble := kernel.services.store.trouble):
            click.echo(f"Note: The store does not take what is pending: {trouble}", err=True)
    names = ("read", "passages", "gone", "unread", "derived")
    return {"changes": written, **{name: read[name] for name in names}, "pending": pending}
