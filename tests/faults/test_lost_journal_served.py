"""A running server whose journal is emptied, deleted or replaced goes on, and says so.

It says it no more once another process has given up what is lost, or has filled the journal.
"""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from fastmcp import Client
from fastmcp.client.transports import StdioTransport
from lost_journal import delete, examined, in_thread, opened, run_command
from vr_cli.commands.store import store as store_commands
from vr_plugin_knowledge.transfer.migration import migrate

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]


def _environment(folder: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("VR_")}
    own = {f"VR_{name}_DIR": str(folder / name.lower()) for name in ("STATE", "CACHE", "CONFIG")}
    return {**kept, **own, "VR_PLUGINS": "knowledge"}


def _served(folder: Path) -> Client[Any]:
    transport = StdioTransport(
        str(Path(sys.executable).with_name("vr")),
        ["serve"],
        env=_environment(folder),
        cwd=str(folder),
        keep_alive=False,
        log_file=folder / "server.log",
    )
    return Client(transport)


async def _record(client: Client[Any], name: str) -> str:
    fields = {"concept_name": name, "description": f"fox {name}"}
    arguments = {"collection": "ConceptKnowledge", "properties": fields}
    done = await client.call_tool("knowledge_ingest", arguments)
    return json.dumps([part.model_dump(mode="json") for part in done.content])


async def _found(client: Client[Any]) -> tuple[set[str], str]:
    arguments = {"query": "fox", "search_type": "keyword"}
    done = await client.call_tool("knowledge_search", arguments)
    said = done.structured_content or {}
    names = {hit["properties"]["concept_name"] for hit in said["results"]}
    return names, " ".join(said["notes"])


def _truncate(state: Path) -> None:
    os.truncate(state / "journal.db", 0)


def _restore(state: Path) -> None:
    shutil.copyfile(state.parent / "copy.db", state.parent / "new.db")
    for file in state.glob("journal.db*"):
        file.unlink()
    (state.parent / "new.db").rename(state / "journal.db")


@pytest.mark.parametrize(
    ("lose", "word"),
    [(_truncate, "emptied"), (_restore, "older copy")],
    ids=["emptied", "older"],
)
async def test_a_server_goes_on(tmp_path: Path, lose: Callable[[Path], None], word: str) -> None:
    state = tmp_path / "state"
    async with _served(tmp_path) as client:
        await _record(client, "first")
        assert (await _found(client))[0] == {"first"}
    with closing(sqlite3.connect(state / "journal.db")) as journal:
        journal.execute("VACUUM INTO ?", (str(tmp_path / "copy.db"),))
    async with _served(tmp_path) as client:
        await _record(client, "second")
        assert await _found(client) == ({"first", "second"}, "")
        lose(state)
        assert word in await _record(client, "third")
        names, notes = await _found(client)
        assert names == {"first", "second", "third"}
        assert word in notes
    assert "begin-anew" in (tmp_path / "server.log").read_text("utf-8")


def _begin_anew(folder: Path) -> None:
    run_command(folder, store_commands, "begin-anew", "--yes")


def _fill(folder: Path) -> None:
    run_command(folder, migrate, "--from", "embedded")


async def _levels(folder: Path) -> set[str]:
    async with opened(folder) as kernel:
        return {level for level, _ in (await examined(kernel)).values()}


@pytest.mark.parametrize("met", [False, True], ids=["first", "met before"])
@pytest.mark.parametrize(
    ("take", "left"),
    [(_begin_anew, set()), (_fill, {"first"})],
    ids=["given up", "filled"],
)
async def test_another_process_takes_a_way_out(
    tmp_path: Path, take: Callable[[Path], None], left: set[str], *, met: bool
) -> None:
    """The running server does not miss it any more; a loss after that is one again."""
    async with _served(tmp_path) as client:
        await _record(client, "first")
        assert await _found(client) == ({"first"}, "")
        delete(tmp_path)
        if met:
            assert "deleted" in await _record(client, "met")
            assert (await _found(client))[0] == {"first", "met"}
        await in_thread(lambda: take(tmp_path))
        assert await _levels(tmp_path) == {"ok"}
        assert "journal" not in await _record(client, "second")
        assert await _found(client) == ({*left, "second"} | ({"met"} if met else set()), "")
        assert await _levels(tmp_path) == {"ok"}
        delete(tmp_path)
        assert "deleted" in await _record(client, "third")
        assert "deleted" in (await _found(client))[1]
    assert await _levels(tmp_path) == {"fault"}
