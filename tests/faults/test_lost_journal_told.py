"""Commands that carry records leave all as it is while the journal is lost, and say so."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from click import Command
from click.testing import CliRunner, Result
from lost_journal import (
    CONCEPTS,
    FIRST,
    RECORDS,
    WAYS,
    config_of,
    delete,
    examined,
    find,
    in_thread,
    opened,
    put_older,
    record,
    run_command,
)
from vr_cli.commands.store import store as store_commands
from vr_cli.process.exits import Exit, exit_code
from vr_kernel import Code, VrError
from vr_plugin_knowledge.transfer.commands import export_records, import_records
from vr_plugin_knowledge.transfer.migration import migrate
from vr_testing.full_disk import fill_up, small_disk


def said(folder: Path, command: Command, *arguments: str) -> Result:
    return CliRunner().invoke(command, arguments, obj=config_of(folder))


def spoil(folder: Path) -> Path:
    store = folder / "state" / "knowledge.db"
    store.write_bytes(b"garbage" * 20_000)
    return store


@pytest.mark.parametrize("lose", [delete, put_older])
@pytest.mark.parametrize("without_ledger", [False, True], ids=["", "only the store knows"])
def test_an_export_is_refused_and_the_former_one_stays(
    folder: Path, lose: Any, without_ledger: bool
) -> None:
    file = folder / "backup.jsonl"
    run_command(folder, export_records, str(file))
    before = file.read_bytes()
    assert before.count(b"\n") == RECORDS
    lose(folder)
    if without_ledger:
        (folder / "state" / "jobs.db").unlink()
    for target in (file, folder / "new.jsonl"):
        refused = said(folder, export_records, str(target)).exception
        assert isinstance(refused, VrError)
        assert (refused.code, refused.category) == (Code.UNAVAILABLE, "JOURNAL_INCOMPLETE")
        assert all(way in refused.hint for way in WAYS)
    assert file.read_bytes() == before
    assert {path.name for path in folder.glob("*.jsonl*")} == {"backup.jsonl"}
    assert not list(folder.glob(".*.part"))


@pytest.mark.slow
def test_status_import_and_comparison_say_it(folder: Path) -> None:
    delete(folder)
    status = run_command(folder, store_commands, "status")
    assert all(way in status["notes"][0] for way in WAYS)
    compared = said(folder, migrate)
    assert compared.exit_code == 1
    assert f"{RECORDS} are only in the store" in compared.output
    assert all(way in compared.output for way in WAYS), "it says what to do"
    (folder / "fox.md").write_text("# Fox\n\nA fox.\n", "utf-8")
    arguments = (str(folder / "fox.md"), "--format", "markdown")
    imported = run_command(folder, import_records, *arguments)
    assert imported["imported"] == {"DocumentPassages": 1}
    assert all(way in imported["notes"][0] for way in WAYS)
    assert "Note: The journal was" in said(folder, import_records, *arguments).stderr
    run_command(folder, migrate, "--from", "embedded")
    assert run_command(folder, store_commands, "status")["notes"] == []
    assert "notes" not in run_command(folder, import_records, *arguments)


@pytest.mark.slow
async def test_a_store_that_is_damaged_as_well_is_said_and_kept_under_the_name_that_is_told(
    folder: Path,
) -> None:
    delete(folder)
    store = spoil(folder)
    damaged = store.read_bytes()
    async with opened(folder) as kernel:
        for call in (find(kernel), kernel.call("knowledge_stats")):
            with pytest.raises(VrError) as caught:
                await call
            assert "knowledge.db is damaged" in caught.value.message
            assert "was emptied, deleted or replaced" in caught.value.message
            assert "put a sound knowledge.db back" in caught.value.hint
        ((level, text),) = (await examined(kernel, ["store file"])).values()
        assert level == "fault"
        assert "put a sound knowledge.db back" in text
    assert store.read_bytes() == damaged
    done = await in_thread(lambda: run_command(folder, store_commands, "begin-anew", "--yes"))
    given_up = list(store.parent.glob("*.given-up-*"))
    assert done["kept_as"] == str(given_up[0])
    assert [path.read_bytes() for path in given_up] == [damaged]
    assert not list(store.parent.glob("*.damaged-*")), "`vr clean --damaged` would take it"
    async with opened(folder) as kernel:
        assert await record(kernel, "new") == ()
        assert await find(kernel) == ({"new"}, [])
        assert {level for level, _ in (await examined(kernel)).values()} == {"ok"}


def test_what_begin_anew_gives_up_is_said_once(
    folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    delete(folder)
    capfd.readouterr()
    done = said(folder, store_commands, "begin-anew")
    everything = done.output + capfd.readouterr().err
    assert everything.count("changes were recorded") == 1
    assert "vr store begin-anew" not in everything, "it is what was called"
    assert "given-up" in everything
    assert "Nobody can be asked here. Add --yes." in everything
    assert done.exit_code == 2
    assert not list((folder / "state").glob("*.given-up-*"))


def test_where_nothing_lacks_begin_anew_says_so(folder: Path) -> None:
    done = run_command(folder, store_commands, "begin-anew")
    assert done == {
        "recorded": RECORDS, "delivered": RECORDS, "pending": 0, "kept_as": None, "lacking": "",
    }  # fmt: skip
    assert "lacks nothing" in said(folder, store_commands, "begin-anew").output


def items_of(store: Path) -> int:
    with closing(sqlite3.connect(store)) as connection:
        return int(connection.execute("SELECT count(*) FROM item").fetchone()[0])


@pytest.mark.slow
@pytest.mark.parametrize("room", [64 << 10, 200 << 10, 300 << 10, 400 << 10])
def test_without_room_what_would_be_given_up_stays(folder: Path, tmp_path: Path, room: int) -> None:
    delete(folder)
    with small_disk(tmp_path / "disk") as disk:
        shutil.copytree(folder / "state", disk / "state")
        hog, store = disk / "hog", disk / "state" / "knowledge.db"
        fill_up(hog)
        os.truncate(hog, hog.stat().st_size - room)
        done = said(disk, store_commands, "begin-anew", "--yes")
        assert isinstance(done.exception, VrError), done.output
        assert exit_code(done.exception) == Exit.RETRYABLE
        assert not list(store.parent.glob("*.given-up-*"))
        hog.unlink()
        assert items_of(store) == RECORDS
        done = run_command(disk, store_commands, "begin-anew", "--yes")
        assert "changes were recorded" in done["lacking"]
        assert done["pending"] == 0
        assert items_of(Path(done["kept_as"])) == RECORDS


@pytest.mark.slow
def test_an_export_counts_what_it_leaves_out(tmp_path: Path) -> None:
    """Records of other workspaces are told, and are written when theirs is named."""
    for workspace, texts in (("default", "ab"), ("anna", "c"), ("ben", "de")):
        for text in texts:
            (tmp_path / f"{text}.md").write_text(f"# {text}\n\nfox\n", "utf-8")
            config = config_of(tmp_path)
            config.store = config.store.model_copy(update={"workspace": workspace})
            arguments = [str(tmp_path / f"{text}.md"), "--format", "markdown"]
            done = CliRunner().invoke(import_records, arguments, obj=config)
            assert done.exit_code == 0, done.output
    file = str(tmp_path / "all.jsonl")
    exported = run_command(tmp_path, export_records, file)
    assert exported["exported"] == {"DocumentPassages": 2}
    assert exported["left_in_other_workspaces"] == {"anna": 1, "ben": 2}
    assert "--workspace NAME" in exported["notes"][0]
    assert "left in other workspaces: 3" in said(tmp_path, export_records, file).output
    exported = run_command(tmp_path, export_records, file, "--workspace", "ben")
    assert exported["exported"] == {"DocumentPassages": 2}
    rows = [json.loads(line) for line in Path(file).read_text("utf-8").splitlines()]
    assert {Path(row["properties"]["link"]).stem for row in rows} == {"d", "e"}
    new = str(tmp_path / "none.jsonl")
    exported = run_command(tmp_path, export_records, new, "--collection", CONCEPTS)
    assert exported == {"exported": {}}


@pytest.mark.parametrize(
    ("lose", "lacking"), [(delete, RECORDS), (put_older, RECORDS - FIRST)], ids=["deleted", "older"]
)
def test_what_neither_has_is_counted_when_the_journal_is_filled(
    folder: Path, lose: Any, lacking: int
) -> None:
    lose(folder)
    for file in (folder / "state").glob("knowledge.db*"):
        file.unlink()
    done = said(folder, migrate, "--from", "embedded")
    assert f"neither this journal nor the store has: {lacking}." in done.output
    assert run_command(folder, migrate, "--from", "embedded")["missing"] == 0, "it is told once"
