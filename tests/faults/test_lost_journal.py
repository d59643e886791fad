"""A journal that is emptied, deleted, older or foreign: told, and nothing is lost for it."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from vr_kernel import Code, Kernel, Query, VrError, load_config
from vr_kernel.cli.store import store as store_commands
from vr_kernel.doctor.databases import database_checks
from vr_plugin_knowledge.health import store_checks
from vr_plugin_knowledge.transfer.commands import reindex
from vr_plugin_knowledge.transfer.migration import migrate

CONCEPTS = "ConceptKnowledge"
RECORDS, FIRST, OTHERS = 6, 4, 9
WAYS = ("vr knowledge migrate --from", "vr store begin-anew")


def _config(folder: Path) -> Any:
    names = {f"VR_{name}_DIR": str(folder / name.lower()) for name in ("STATE", "CACHE")}
    environ = {"HOME": str(folder), "VR_CONFIG_DIR": str(folder), **names}
    return load_config({**environ, "VR_PLUGINS": "knowledge"}, working_folder=folder)


def _opened(folder: Path) -> Any:
    return Kernel.open(_config(folder))


async def _record(kernel: Kernel, *texts: str) -> tuple[str, ...]:
    notes: tuple[str, ...] = ()
    for text in texts:
        properties = {"concept_name": text, "description": f"fox {text}"}
        arguments = {"collection": CONCEPTS, "properties": properties}
        outcome = await kernel.run("knowledge_ingest", arguments)
        assert outcome.error is None, outcome.error
        notes += outcome.notes
    return notes


async def _found(kernel: Kernel, query: str = "fox") -> tuple[set[str], list[str]]:
    result: Any = await kernel.call("knowledge_search", query=query, search_type="keyword")
    hits = await kernel.store.search(Query(query, mode="keyword", limit=1000, kinds=(CONCEPTS,)))
    return {hit.record.fields["concept_name"] for hit in hits}, result.notes


async def _filled(folder: Path) -> None:
    """Records in journal and store; a copy of the journal after some of them."""
    async with _opened(folder) as kernel:
        await _record(kernel, *map(str, range(FIRST)))
        await _found(kernel)
    shutil.copytree(folder / "state", folder / "copy")
    async with _opened(folder) as kernel:
        await _record(kernel, *map(str, range(FIRST, RECORDS)))
        assert (await _found(kernel))[0] == set(map(str, range(RECORDS)))


def _journal(folder: Path) -> Path:
    return folder / "state" / "journal.db"


def _delete(folder: Path) -> None:
    for file in (folder / "state").glob("journal.db*"):
        file.unlink()


def _empty(folder: Path) -> None:
    _delete(folder)
    _journal(folder).touch()


def _truncate(folder: Path) -> None:
    os.truncate(_journal(folder), 0)


def _put_older(folder: Path) -> None:
    _delete(folder)
    shutil.copyfile(folder / "copy" / "journal.db", _journal(folder))


def _put_foreign(folder: Path) -> None:
    _delete(folder)
    shutil.copyfile(folder / "other" / "state" / "journal.db", _journal(folder))


def _rename_over(folder: Path) -> None:
    (folder / "copy" / "journal.db").replace(_journal(folder))


LOSSES = [
    (_empty, "emptied"),
    (_delete, "deleted"),
    (_put_older, "older"),
    (_put_foreign, "foreign"),
]
each_loss = pytest.mark.parametrize(("lose", "word"), LOSSES, ids=[word for _, word in LOSSES])


RUNNING = pytest.mark.parametrize(
    ("lose", "word"),
    [
        pytest.param(_truncate, "emptied"),
        pytest.param(_rename_over, "older"),
        *(pytest.param(*each, marks=pytest.mark.slow) for each in LOSSES),
    ],
    ids=["cut", "renamed over", *(word for _, word in LOSSES)],
)


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An installation with a copy of its journal, and in it another one."""
    folder = tmp_path_factory.mktemp("filled")

    async def fill() -> None:
        await _filled(folder)
        async with _opened(folder / "other") as kernel:
            await _record(kernel, *(f"other {number}" for number in range(OTHERS)))

    asyncio.run(fill())
    return folder


@pytest.fixture
def folder(filled: Path, tmp_path: Path) -> Path:
    """A copy of it for each test."""
    return Path(shutil.copytree(filled, tmp_path / "one"))


def _run(folder: Path, command: Any, *arguments: str) -> dict[str, Any]:
    done = CliRunner().invoke(command, [*arguments, "--json"], obj=_config(folder))
    assert done.exit_code == 0, done.output + str(done.exception)
    said: dict[str, Any] = json.loads(done.stdout)
    return said


async def _in_thread(work: Callable[[], Any]) -> Any:
    return await asyncio.to_thread(work)


@each_loss
async def test_it_is_told_and_what_comes_is_kept(
    folder: Path, lose: Callable[[Path], None], word: str, capfd: pytest.CaptureFixture[str]
) -> None:
    """The log says it once; results say it while it lasts; all of before and since is found."""
    lose(folder)
    capfd.readouterr()
    async with _opened(folder) as kernel:
        told = await _record(kernel, "new")
        assert all(way in told[0] for way in WAYS)
        assert word in told[0]
        found, notes = await _found(kernel)
        assert set(map(str, range(RECORDS))) | {"new"} <= found
        assert any(word in note for note in notes)
    assert capfd.readouterr().err.count("begin-anew") == 1
    async with _opened(folder) as kernel:
        found, notes = await _found(kernel)
        assert any(word in note for note in notes), "also for the next process"
        await _record(kernel, "newer")
        assert {"new", "newer"} <= (await _found(kernel))[0]


@each_loss
async def test_doctor_names_it_before_and_after_anybody_looked(
    folder: Path, lose: Callable[[Path], None], word: str
) -> None:
    async with _opened(folder) as kernel:
        assert {level for level, _ in (await _examined(kernel)).values()} == {"ok"}
    lose(folder)
    files = {path: path.read_bytes() for path in (folder / "state").glob("*.db")}
    async with _opened(folder) as kernel:
        found = await _examined(kernel)
        assert {level for level, _ in found.values()} == {"fault"}
        assert word in found["journal"][1]
        assert all(all(way in text for way in WAYS) for _, text in found.values())
    assert files == {path: path.read_bytes() for path in (folder / "state").glob("*.db")}
    async with _opened(folder) as kernel:
        await _record(kernel, "new")
        await _found(kernel)
        assert {level for level, _ in (await _examined(kernel)).values()} == {"fault"}


async def _examined(kernel: Kernel) -> dict[str, tuple[str, str]]:
    """What `vr doctor` says of the journal and of the store beside it."""
    checks = [
        *database_checks(kernel.config.paths, 60),
        *store_checks(kernel._services["knowledge"]),
    ]
    asked = {c.name: c.examine for c in checks if c.name in {"journal", "store and journal"}}
    found = {}
    for name, examine in asked.items():
        said: Any = examine()
        diagnosis = await said if isinstance(said, Awaitable) else said
        found[name] = (diagnosis.level, f"{diagnosis.what} {diagnosis.fix}")
    return found


@pytest.mark.slow
@each_loss
async def test_a_store_is_not_made_anew_from_it(
    folder: Path, lose: Callable[[Path], None], word: str
) -> None:
    lose(folder)
    async with _opened(folder) as kernel:
        await _found(kernel)
    store = folder / "state" / "knowledge.db"
    before = store.read_bytes()
    store.write_bytes(b"garbage" + before[7:])
    async with _opened(folder) as kernel:
        with pytest.raises(VrError) as caught:
            await _found(kernel)
        assert (caught.value.code, caught.value.category) == (
            Code.UNAVAILABLE,
            "JOURNAL_INCOMPLETE",
        )
        assert all(way in caught.value.hint for way in WAYS)
        assert word in caught.value.message
    assert store.read_bytes()[:7] == b"garbage", "it is still where it was"
    store.write_bytes(before)
    done = await _in_thread(lambda: CliRunner().invoke(reindex, ["--json"], obj=_config(folder)))
    assert "JOURNAL_INCOMPLETE" in str(getattr(done.exception, "category", ""))


@pytest.mark.slow
@each_loss
async def test_the_journal_is_filled_from_the_store(
    folder: Path, lose: Callable[[Path], None], word: str
) -> None:
    lose(folder)
    async with _opened(folder) as kernel:
        await _record(kernel, "new")
    await _in_thread(lambda: _run(folder, migrate, "--from", "embedded"))
    again = await _in_thread(lambda: _run(folder, migrate, "--from", "embedded"))
    assert again["recorded"] == {}
    (folder / "state" / "knowledge.db").unlink()
    async with _opened(folder) as kernel:
        assert await _record(kernel, "newer") == ()
        found, notes = await _found(kernel)
        assert set(map(str, range(RECORDS))) | {"new", "newer"} <= found
        assert not notes
        assert {level for level, _ in (await _examined(kernel)).values()} == {"ok"}


@pytest.mark.slow
@each_loss
async def test_the_journal_that_is_there_may_begin_anew(
    folder: Path, lose: Callable[[Path], None], word: str
) -> None:
    lose(folder)
    async with _opened(folder) as kernel:
        await _record(kernel, "new")
    await _in_thread(lambda: _run(folder, store_commands, "begin-anew", "--yes"))
    async with _opened(folder) as kernel:
        assert await _record(kernel, "newer") == ()
        found, notes = await _found(kernel)
        assert not notes
        assert {level for level, _ in (await _examined(kernel)).values()} == {"ok"}
    left = set(map(str, range(FIRST))) if lose is _put_older else set()
    others = {f"other {n}" for n in range(OTHERS)} if lose is _put_foreign else set()
    assert found == left | others | {"new", "newer"}


@pytest.mark.parametrize("lose", [_put_older, _put_foreign], ids=["older", "foreign"])
async def test_it_may_begin_anew_before_anything_was_recorded(
    folder: Path, lose: Callable[[Path], None]
) -> None:
    lose(folder)
    await _in_thread(lambda: _run(folder, store_commands, "begin-anew", "--yes"))
    async with _opened(folder) as kernel:
        found, notes = await _found(kernel)
        assert not notes
        assert len(found) == (FIRST if lose is _put_older else OTHERS)
        assert {level for level, _ in (await _examined(kernel)).values()} == {"ok"}
        assert await _record(kernel, "new") == ()


async def test_the_right_file_put_back_is_no_loss(folder: Path) -> None:
    kept = _journal(folder).read_bytes()
    _put_older(folder)
    async with _opened(folder) as kernel:
        assert (await _found(kernel))[1]
    _journal(folder).write_bytes(kept)
    async with _opened(folder) as kernel:
        assert await _record(kernel, "new") == ()
        found, notes = await _found(kernel)
        assert not notes
        assert "new" in found


async def test_the_right_file_put_back_lacks_what_came_meanwhile(folder: Path) -> None:
    """It is told how much, and the store fills it."""
    kept = _journal(folder).read_bytes()
    _put_older(folder)
    async with _opened(folder) as kernel:
        await _record(kernel, "new")
        await _found(kernel)
    _journal(folder).write_bytes(kept)
    async with _opened(folder) as kernel:
        for _ in range(2):  # before anything is recorded, and after
            (note,) = (await _found(kernel))[1]
            assert "recorded meanwhile that it lacks: 1." in note
            assert "`vr knowledge migrate --from embedded`" in note
            await _record(kernel, "newer")
        found = await _examined(kernel)
        assert all("migrate --from embedded" in text for _, text in found.values())
    await _in_thread(lambda: _run(folder, migrate, "--from", "embedded"))
    async with _opened(folder) as kernel:
        found, notes = await _found(kernel)
        assert not notes
        assert found == {*map(str, range(RECORDS)), "new", "newer"}


async def test_a_foreign_journal_is_not_called_deleted_where_the_ledger_is_lost(
    folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (folder / "state" / "jobs.db").unlink()
    _put_foreign(folder)
    async with _opened(folder) as kernel:
        (note,) = (await _found(kernel))[1]
        assert "deleted or replaced" in note
    assert capfd.readouterr().err.count("begin-anew") == 1


@RUNNING
async def test_it_is_noticed_while_a_kernel_has_it_open(
    folder: Path, lose: Callable[[Path], None], word: str, capfd: pytest.CaptureFixture[str]
) -> None:
    async with _opened(folder) as kernel:
        assert await _record(kernel, "last") == ()
        assert (await _found(kernel))[1] == []
        capfd.readouterr()
        lose(folder)
        found, notes = await _found(kernel)
        assert set(map(str, range(RECORDS))) | {"last"} <= found
        assert word in notes[0]
        assert word in (await _record(kernel, "new"))[0]
        assert {"last", "new"} <= (await _found(kernel))[0]
    assert capfd.readouterr().err.count("begin-anew") == 1
    async with _opened(folder) as kernel:
        assert await kernel.journal.keys(CONCEPTS, "default")
        assert {"last", "new"} <= (await _found(kernel))[0]
