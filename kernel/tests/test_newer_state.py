"""Files that a newer version wrote: told as such, and left byte for byte as they are."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel
from vr_kernel import (
    READ_ONLY,
    WRITES_LOCAL,
    Call,
    Code,
    Record,
    RecordField,
    RecordKind,
    cache_key,
    hookimpl,
    load_config,
    tool,
)
from vr_kernel.diagnosis import kernel_checks
from vr_kernel.storage.database_faults import MARK
from vr_testing import TrialKernel, open_kernel

NOTES = RecordKind(
    "Notes", description="Notes.", fields=(RecordField("text", searchable=True),), rerank="text"
)


class Kept(BaseModel):
    """Number of notes that are kept."""

    number: int


@tool(effects=WRITES_LOCAL)
async def diary_write(call: Call, text: str) -> Kept:
    """Keep a note as a row and as a record."""
    await call.services.rows.put(text, 1)
    call.record(Record("Notes", {"text": text}, key=text))
    return Kept(number=len(await call.services.rows.list()))


@tool(effects=READ_ONLY)
async def diary_count(call: Call, text: str) -> Kept:
    """Count letters, once."""

    async def count(_call: Call) -> Kept:
        return Kept(number=len(text))

    return await call.once(cache_key(letters=text), Kept, count)


class Diary:
    """A plugin that keeps notes."""

    @hookimpl
    def vr_tools(self) -> list[Any]:
        return [diary_write, diary_count]

    @hookimpl
    def vr_record_kinds(self) -> list[RecordKind]:
        return [NOTES]


FAILING = {
    "journal.db": set(),
    "rows.db": {"diary_write"},
    "jobs.db": {"job_list"},
    "results.db": set(),
}
"""Tools that fail, by the file that is newer."""


async def asked(kernel: TrialKernel, told: list[str]) -> dict[str, Any]:
    """Use each tool, and return the errors; notes are added to what was told."""
    calls: dict[str, dict[str, Any]] = {
        "diary_write": {"text": "fine"},
        "diary_count": {"text": "fine"},
        "job_list": {},
    }
    outcomes = {name: await kernel.run(name, arguments) for name, arguments in calls.items()}
    told += [note for outcome in outcomes.values() for note in outcome.notes]
    return {name: it.error for name, it in outcomes.items() if it.error is not None}


@pytest.mark.parametrize("name", FAILING)
async def test_a_newer_file_is_told_and_left_as_it_is(tmp_path: Path, name: str) -> None:
    told: list[str] = []

    def hear(level: str, event: str, fields: Mapping[str, Any]) -> None:
        if level == "warning":
            told.append(f"{event} {dict(fields)}")

    async with open_kernel({"diary": Diary()}, folder=tmp_path) as kernel:
        assert await asked(kernel, told) == {}
    (path,) = [*tmp_path.rglob(name)]  # noqa: ASYNC240 - a test
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA user_version = {7 * MARK}")
    before = path.read_bytes()
    async with open_kernel({"diary": Diary()}, folder=tmp_path) as kernel:
        with kernel.log.heard_by(hear):
            errors = await asked(kernel, told)
        checks = kernel_checks(kernel.config.environ, tmp_path, load_config(kernel.config.environ))
    assert set(errors) == FAILING[name]
    for error in errors.values():
        assert (error.code, error.category) == (Code.UNAVAILABLE, "STATE_NEWER")
        assert f"{name} was written by a newer version" in error.message
        assert str(path) in error.hint
    assert errors or any(name in line and "newer" in line for line in told)
    found = [check.examine() for _, check in checks if "databases" in _]
    assert any("newer version" in getattr(it, "what", "") for it in found)
    assert path.read_bytes() == before
    assert not [*tmp_path.rglob("*.damaged-*")]  # noqa: ASYNC240
