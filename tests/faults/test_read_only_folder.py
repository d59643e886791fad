"""A folder where nothing may be written any more: what is there is read, and nothing is paid."""

from __future__ import annotations

import os
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from vr_kernel import Code, RecordField, RecordKind, VrError
from vr_kernel.config.paths import find_paths
from vr_kernel.diagnosis.folders import folder_checks
from vr_kernel.health import Level
from vr_kernel.state import Entry
from vr_kernel.state.sqlite.journal.journal import SqliteJournal
from vr_testing import FakeGemini
from vr_testing.full_disk import small_disk
from vr_testing.kernels import isolated_variables
from worked_kernel import PARTS, SECRET, analysis, card, examine, opened, work

BYTES = 64 << 20


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "home"
    if os.geteuid() == 0:  # who writes everywhere, but for a disk that is read-only
        with small_disk(folder, BYTES) as disk:
            yield disk
        return
    folder.mkdir()
    yield folder
    for each in (folder, *folder.rglob("*")):
        each.chmod(0o700)


def close(home: Path) -> None:
    """Let nothing be written in the folder, by root neither."""
    if os.geteuid() == 0:
        subprocess.run(["mount", "-o", "remount,ro", str(home)], check=True)
        return
    for each in (*home.rglob("*"), home):
        each.chmod(0o500 if each.is_dir() else 0o400)


@pytest.mark.slow
async def test_what_is_there_is_read_and_nothing_is_paid(home: Path) -> None:
    (home / "notes").mkdir()
    with FakeGemini() as gemini:
        async with opened(home, gemini) as kernel:
            await work(kernel, home, PARTS[0])
            await kernel.call("knowledge_ingest", **card("second"))
            hit = (await kernel.run("knowledge_search", {"query": SECRET})).data["results"][0]
        close(home)
        paid = gemini.bill.calls
        async with opened(home, gemini) as kernel:
            assert (await kernel.run("job_list", {})).data["jobs"]
            assert (await kernel.run("infra_usage", {})).data["total"]["calls"] == paid
            sessions = (await kernel.run("video_list_sessions", {})).data["sessions"]
            assert [session["turn_count"] for session in sessions] == [2]
            known = await kernel.run("video_analyze", analysis(home, PARTS[0]))
            assert known.data["cached"]
            record = {"collection": hit["collection"], "object_id": hit["object_id"]}
            for tool, arguments, told in [
                ("knowledge_search", {"query": SECRET}, "results"),
                ("knowledge_fetch", record, "found"),
                ("knowledge_related", record, "results"),
                ("knowledge_stats", {}, "total"),
            ]:
                outcome = await kernel.run(tool, arguments)
                assert outcome.error is None, outcome.error
                assert outcome.data[told], tool
                [note] = [note for note in outcome.data["notes"] if "cannot be written" in note]
                assert str(home / "state") in note
            other = {**analysis(home, PARTS[0]), "instruction": "Something else"}
            talk = {"session_id": sessions[0]["session_id"], "prompt": "And now?"}
            for tool, arguments in [
                ("video_analyze", other),
                ("video_create_session", {"file_path": other["file_path"]}),
                ("video_continue_session", talk),
                ("knowledge_ingest", card("new")),
            ]:
                error = (await kernel.run(tool, arguments)).error
                assert error is not None, tool
                assert error.category == "STATE_UNAVAILABLE"
                assert str(home / "state") in error.hint
            wrong = [told for told in await examine(kernel) if "may not be" not in told]
            assert wrong == []
        assert gemini.bill.calls == paid
    found = {
        check.name: check.examine() for check in folder_checks(find_paths(isolated_variables(home)))
    }
    assert found["state folder"].level is found["cache folder"].level is Level.FAULT


@pytest.mark.slow
@pytest.mark.parametrize("older", [False, True])
async def test_sources_that_are_known_are_read(home: Path, *, older: bool) -> None:
    """A journal of an earlier version has none; its records are read."""
    path = home / "journal.db"
    pages = RecordKind("Pages", "", (RecordField("address"),), "address", "address")
    later = RecordKind("Later", "", (RecordField("address"),), "address", "address")
    with closing(SqliteJournal(path)) as journal:
        journal.declare([pages])
        entry = Entry("Pages", "1", {"address": "a.html"})
        await journal.commit([entry], workspace="w", provenance={})
    if older:
        with closing(sqlite3.connect(path)) as connection:
            for table in ("source", "sourced", "source_kind", "source_role"):
                connection.execute(f"DROP TABLE {table}")
    close(home)
    with closing(SqliteJournal(path)) as journal:
        journal.declare([pages, later])
        assert [it.key for it in await journal.changes(0)] == ["1"]
        assert await journal.record("w", "Pages", "1") is not None
        if not older:
            assert [it.source for it in await journal.sources("w")] == ["a.html"]
            return
        with pytest.raises(VrError) as caught:
            await journal.sources("w")
    assert (caught.value.code, caught.value.category) == (Code.UNAVAILABLE, "SOURCES_UNKNOWN")
