"""Damaged rows of sessions: the others are listed and go on, and the damaged ones are named."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator, Iterator
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import pytest
from sessionkit import asked, echo, key_for
from videokit import open_kernel, silence
from vr_kernel import Kernel, VrError
from vr_plugin_video.health import sessions
from vr_testing import FakeGemini

SECRET = "glacier"
NOT_TEXT = b"\xff " + SECRET.encode()


@pytest.fixture
def gemini() -> Iterator[FakeGemini]:
    with FakeGemini() as fake:
        fake.answer(echo)
        yield fake


@pytest.fixture
async def kernel(tmp_path: Path, gemini: FakeGemini) -> AsyncIterator[Kernel]:
    async with open_kernel(tmp_path, environ=key_for(gemini)) as opened:
        yield opened


async def begin(kernel: Kernel, folder: Path) -> str:
    (folder / "talk.wav").write_bytes(silence(5, 8000))
    return (
        await kernel.call("video_create_session", file_path=str(folder / "talk.wav"))
    ).session_id


def damage(folder: Path, table: str, column: str, where: str, value: object = NOT_TEXT) -> None:
    given = "CAST(? AS TEXT)" if isinstance(value, bytes) else "?"
    with closing(sqlite3.connect(folder / "state" / "sessions.db")) as connection, connection:
        change = f"UPDATE {table} SET {column} = {given} WHERE {where}"
        assert connection.execute(change, (value,)).rowcount == 1


@pytest.mark.parametrize(
    ("column", "value"),
    [("title", NOT_TEXT), ("title", None), ("duration", SECRET), ("last_active", SECRET)],
)
async def test_a_damaged_session_hides_itself_alone(
    tmp_path, kernel, column: str, value: object
) -> None:
    ids = [await begin(kernel, tmp_path) for _ in range(4)]
    damage(tmp_path, "session", column, f"id = '{ids[1]}'", value)
    lines: list[str] = []
    with kernel.log.heard_by(lambda _level, event, fields: lines.append(f"{event} {fields}")):
        first = await kernel.run("video_list_sessions", {"limit": 2})
        rest = await kernel.run(
            "video_list_sessions", {"limit": 2, "cursor": first.data["next_cursor"]}
        )
    listed = [each["session_id"] for page in (first, rest) for each in page.data["sessions"]]
    assert listed == [ids[3], ids[2], ids[0]]
    assert any("sessions.db" in note for note in rest.notes)
    (line,) = lines
    assert "sessions.db" in line
    assert ids[1] in line
    for tool, arguments in (
        ("video_continue_session", {"prompt": "What?"}),
        ("video_export_session", {}),
    ):
        with pytest.raises(VrError) as caught:
            await kernel.call(tool, session_id=ids[1], **arguments)
        assert caught.value.category == "STATE_DAMAGED"
        assert ids[1] in caught.value.message
        assert SECRET not in f"{caught.value.message} {caught.value.hint} {lines}"
    if value is not None:  # nothing is no damage that SQLite could tell
        services = SimpleNamespace(
            settings=kernel.settings["video"], paths=kernel.config.paths, log=kernel.log
        )
        found = sessions(services)
        assert found.level == "fault"
        assert ids[1] in found.what


async def test_a_damaged_turn_hides_itself_alone(tmp_path, gemini, kernel) -> None:
    session_id = await begin(kernel, tmp_path)
    for prompt in ("One?", "Two?", "Three?"):
        await kernel.call("video_continue_session", session_id=session_id, prompt=prompt)
    damage(tmp_path, "turn", "response", "number = 2")
    outcome = await kernel.run("video_export_session", {"session_id": session_id})
    assert outcome.data["turn_count"] == 2
    assert any("damaged" in note for note in outcome.notes)
    text = outcome.data["preview"]
    assert "One?" in text
    assert "Three?" in text
    assert SECRET not in text
    answer = await kernel.call("video_continue_session", session_id=session_id, prompt="Four?")
    assert answer.turn_count == 4
    assert any("last 2 of 3" in limit for limit in answer.limits)
    assert len(asked(gemini)) == 4


@pytest.mark.parametrize("removed", [("wal",), ("shm",), ("wal", "shm")], ids="+".join)
async def test_a_log_that_is_removed_costs_no_turn(tmp_path, kernel, gemini, removed) -> None:
    session_id = await begin(kernel, tmp_path)
    for prompt in ("One?", "Two?"):
        await kernel.call("video_continue_session", session_id=session_id, prompt=prompt)
    for ending in removed:
        (tmp_path / "state" / f"sessions.db-{ending}").unlink()
    lines: list[str] = []
    with kernel.log.heard_by(lambda _level, _event, fields: lines.append(str(fields))):
        third = await kernel.call("video_continue_session", session_id=session_id, prompt="Three?")
    assert third.turn_count == 3
    assert any("sessions.db was removed while it was open; nothing of it" in it for it in lines)
    with closing(sqlite3.connect(tmp_path / "state" / "sessions.db")) as connection:
        assert connection.execute("SELECT count(*) FROM turn").fetchone() == (3,)
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
