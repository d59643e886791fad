"""An installation whose journal is lost in several ways, and what it says then."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
from collections.abc import Awaitable, Callable, Collection
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from vr_kernel import Kernel, Query, load_config
from vr_kernel.diagnosis.databases import database_checks
from vr_plugin_knowledge.embedded_store.health import store_checks

CONCEPTS = "ConceptKnowledge"
RECORDS, FIRST, OTHERS = 6, 4, 9
WAYS = ("vr knowledge migrate --from", "vr store begin-anew")


def config_of(folder: Path) -> Any:
    names = {f"VR_{name}_DIR": str(folder / name.lower()) for name in ("STATE", "CACHE")}
    environ = {"HOME": str(folder), "VR_CONFIG_DIR": str(folder), **names}
    return load_config({**environ, "VR_PLUGINS": "knowledge"}, working_folder=folder)


def opened(folder: Path) -> Any:
    return Kernel.open(config_of(folder))


async def record(kernel: Kernel, *texts: str) -> tuple[str, ...]:
    notes: tuple[str, ...] = ()
    for text in texts:
        properties = {"concept_name": text, "description": f"fox {text}"}
        arguments = {"collection": CONCEPTS, "properties": properties}
        outcome = await kernel.run("knowledge_ingest", arguments)
        assert outcome.error is None, outcome.error
        notes += outcome.notes
    return notes


async def find(kernel: Kernel, query: str = "fox") -> tuple[set[str], list[str]]:
    result: Any = await kernel.call("knowledge_search", query=query, search_type="keyword")
    hits = await kernel.services.store.search(
        Query(query, mode="keyword", limit=1000, kinds=(CONCEPTS,))
    )
    return {hit.record.fields["concept_name"] for hit in hits}, result.notes


async def fill(folder: Path) -> None:
    """Records in journal and store; a copy of the journal after some of them."""
    async with opened(folder) as kernel:
        await record(kernel, *map(str, range(FIRST)))
        await find(kernel)
    shutil.copytree(folder / "state", folder / "copy")
    async with opened(folder) as kernel:
        await record(kernel, *map(str, range(FIRST, RECORDS)))
        assert (await find(kernel))[0] == set(map(str, range(RECORDS)))


def journal_of(folder: Path) -> Path:
    return folder / "state" / "journal.db"


def delete(folder: Path) -> None:
    for file in (folder / "state").glob("journal.db*"):
        file.unlink()


def empty(folder: Path) -> None:
    delete(folder)
    journal_of(folder).touch()


def truncate(folder: Path) -> None:
    os.truncate(journal_of(folder), 0)


def put_older(folder: Path) -> None:
    delete(folder)
    shutil.copyfile(folder / "copy" / "journal.db", journal_of(folder))


def put_foreign(folder: Path) -> None:
    delete(folder)
    shutil.copyfile(folder / "other" / "state" / "journal.db", journal_of(folder))


def rename_over(folder: Path) -> None:
    (folder / "copy" / "journal.db").replace(journal_of(folder))


LOSSES = [
    (empty, "emptied"),
    (delete, "deleted"),
    (put_older, "older"),
    (put_foreign, "foreign"),
]
each_loss = pytest.mark.parametrize(("lose", "word"), LOSSES, ids=[word for _, word in LOSSES])


def run_command(folder: Path, command: Any, *arguments: str) -> dict[str, Any]:
    done = CliRunner().invoke(command, [*arguments, "--json"], obj=config_of(folder))
    assert done.exit_code == 0, done.output + str(done.exception)
    said: dict[str, Any] = json.loads(done.stdout)
    return said


async def in_thread(work: Callable[[], Any]) -> Any:
    return await asyncio.to_thread(work)


async def examined(
    kernel: Kernel, names: Collection[str] = ("journal", "store and journal")
) -> dict[str, tuple[str, str]]:
    """Lines of `vr doctor` on the journal and on the store beside it."""
    checks = [
        *database_checks(kernel.config.paths, 60),
        *store_checks(kernel._plugins.contexts["knowledge"].services),
    ]
    asked = {c.name: c.examine for c in checks if c.name in names}
    found = {}
    for name, examine in asked.items():
        said: Any = examine()
        diagnosis = await said if isinstance(said, Awaitable) else said
        found[name] = (diagnosis.level, f"{diagnosis.what} {diagnosis.fix}")
    return found
