"""The ways out of a lost journal: put it back, fill it from the store, or begin anew."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner
from lost_journal import (
    FIRST,
    OTHERS,
    RECORDS,
    WAYS,
    config_of,
    delete,
    each_loss,
    examined,
    find,
    in_thread,
    journal_of,
    opened,
    put_foreign,
    put_older,
    record,
    run_command,
)
from vr_cli.commands.store import store as store_commands
from vr_kernel import Code, VrError
from vr_plugin_knowledge.transfer.commands import reindex
from vr_plugin_knowledge.transfer.migration import migrate


@pytest.mark.slow
@pytest.mark.parametrize(("lose", "word"), [(delete, "deleted"), (put_older, "older")])
async def test_a_store_is_not_made_anew_from_it(
    folder: Path, lose: Callable[[Path], None], word: str
) -> None:
    lose(folder)
    async with opened(folder) as kernel:
        await find(kernel)
    store = folder / "state" / "knowledge.db"
    before = store.read_bytes()
    store.write_bytes(b"garbage" + before[7:])
    async with opened(folder) as kernel:
        with pytest.raises(VrError) as caught:
            await find(kernel)
        assert (caught.value.code, caught.value.category) == (
            Code.UNAVAILABLE,
            "JOURNAL_INCOMPLETE",
        )
        assert all(way in caught.value.hint for way in WAYS)
        assert word in caught.value.message
    assert store.read_bytes()[:7] == b"garbage", "it is still where it was"
    store.write_bytes(before)
    done = await in_thread(lambda: CliRunner().invoke(reindex, ["--json"], obj=config_of(folder)))
    assert "JOURNAL_INCOMPLETE" in str(getattr(done.exception, "category", ""))


@pytest.mark.slow
@each_loss
async def test_the_journal_is_filled_from_the_store(
    folder: Path, lose: Callable[[Path], None], word: str
) -> None:
    lose(folder)
    async with opened(folder) as kernel:
        await record(kernel, "new")
    done = await in_thread(lambda: run_command(folder, migrate, "--from", "embedded"))
    assert done["missing"] == 0
    again = await in_thread(lambda: run_command(folder, migrate, "--from", "embedded"))
    assert again["recorded"] == {}
    (folder / "state" / "knowledge.db").unlink()
    async with opened(folder) as kernel:
        assert await record(kernel, "newer") == ()
        found, notes = await find(kernel)
        assert set(map(str, range(RECORDS))) | {"new", "newer"} <= found
        assert not notes
        assert {level for level, _ in (await examined(kernel)).values()} == {"ok"}


@pytest.mark.slow
@each_loss
async def test_the_journal_that_is_there_may_begin_anew(
    folder: Path, lose: Callable[[Path], None], word: str
) -> None:
    lose(folder)
    async with opened(folder) as kernel:
        await record(kernel, "new")
    await in_thread(lambda: run_command(folder, store_commands, "begin-anew", "--yes"))
    async with opened(folder) as kernel:
        assert await record(kernel, "newer") == ()
        found, notes = await find(kernel)
        assert not notes
        assert {level for level, _ in (await examined(kernel)).values()} == {"ok"}
    left = set(map(str, range(FIRST))) if lose is put_older else set()
    others = {f"other {n}" for n in range(OTHERS)} if lose is put_foreign else set()
    assert found == left | others | {"new", "newer"}


@pytest.mark.parametrize(
    ("lose", "left"),
    [(put_older, FIRST), (put_foreign, OTHERS), (delete, 0)],
    ids=["older", "foreign", "deleted"],
)
async def test_it_may_begin_anew_before_anything_was_recorded(
    folder: Path, lose: Callable[[Path], None], left: int, capfd: pytest.CaptureFixture[str]
) -> None:
    """Records that are given up stay in a file that is named; only counts are printed."""
    lose(folder)
    capfd.readouterr()
    said = await in_thread(lambda: run_command(folder, store_commands, "begin-anew", "--yes"))
    assert capfd.readouterr().err.count("begin-anew") <= 1, "the log says it once"
    assert [said[name] for name in ("recorded", "delivered", "pending")] == [left, left, 0]
    assert said["kept_as"] in map(str, (folder / "state").glob("knowledge.db.given-up-*"))
    async with opened(folder) as kernel:
        found, notes = await find(kernel)
        assert not [note for note in notes if "journal" in note]
        assert len(found) == left
        assert {level for level, _ in (await examined(kernel)).values()} == {"ok"}
        assert await record(kernel, "new") == ()
    said = await in_thread(lambda: run_command(folder, store_commands, "status"))
    assert [said[name] for name in ("recorded", "delivered", "pending")] == [left + 1, left + 1, 0]


async def test_the_right_file_put_back_is_no_loss(folder: Path) -> None:
    kept = journal_of(folder).read_bytes()
    put_older(folder)
    async with opened(folder) as kernel:
        assert (await find(kernel))[1]
    journal_of(folder).write_bytes(kept)
    async with opened(folder) as kernel:
        assert await record(kernel, "new") == ()
        found, notes = await find(kernel)
        assert not notes
        assert "new" in found


async def test_the_right_file_put_back_lacks_what_came_meanwhile(folder: Path) -> None:
    """It is told how much, and the store fills it."""
    kept = journal_of(folder).read_bytes()
    put_older(folder)
    async with opened(folder) as kernel:
        await record(kernel, "new")
        await find(kernel)
    journal_of(folder).write_bytes(kept)
    async with opened(folder) as kernel:
        for _ in range(2):  # before anything is recorded, and after
            (note,) = (await find(kernel))[1]
            assert "recorded meanwhile that it lacks: 1." in note
            assert "`vr knowledge migrate --from embedded`" in note
            await record(kernel, "newer")
        found = await examined(kernel)
        assert all("migrate --from embedded" in text for _, text in found.values())
        assert not any("Put the right journal.db back" in text for _, text in found.values())
    await in_thread(lambda: run_command(folder, migrate, "--from", "embedded"))
    async with opened(folder) as kernel:
        found, notes = await find(kernel)
        assert not notes
        assert found == {*map(str, range(RECORDS)), "new", "newer"}


def put_back(kept: Path) -> None:
    """Have a former store again, in place of the one that is there."""
    for file in kept.parent.glob("knowledge.db*"):
        if "given-up" not in file.name:
            file.unlink()
    kept.replace(kept.parent / "knowledge.db")


@pytest.mark.slow
async def test_what_is_given_up_beside_a_server_is_whole(folder: Path) -> None:
    async with opened(folder) as server:
        await record(server, "late")
        await find(server)
        delete(folder)
        said = await in_thread(lambda: run_command(folder, store_commands, "begin-anew", "--yes"))
    put_back(Path(said["kept_as"]))
    await in_thread(lambda: run_command(folder, migrate, "--from", "embedded"))
    async with opened(folder) as kernel:
        found, _ = await find(kernel)
    assert found == {*map(str, range(RECORDS)), "late"}
