"""Damaged rows of sessions: the others are listed and go on, and the damaged ones are named."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from sessionkit import asked, echo, key_for
from videokit import open_kernel, silence
from vr_kernel import Kernel, VrError
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


def damage(folder: Path, key: str, field: str, value: object) -> None:
    """Give a field of a row another value; bytes become the whole of it."""
    given = "CAST(? AS TEXT)" if isinstance(value, bytes) else f"json_set(value, '$.{field}', ?)"
    with closing(sqlite3.connect(folder / "state" / "rows.db")) as connection, connection:
        change = f"UPDATE entry SET value = {given} WHERE key LIKE ?"
        assert connection.execute(change, (value, key)).rowcount == 1


@pytest.mark.parametrize(
    ("field", "value"),
    [("title", NOT_TEXT), ("title", None), ("duration", SECRET), ("last_active", SECRET)],
)
async def test_a_damaged_session_hides_itself_alone(
    tmp_path, kernel, field: str, value: object
) -> None:
    ids = [await begin(kernel, tmp_path) for _ in range(4)]
    damage(tmp_path, f"session/{ids[1]}", field, value)
    lines: list[str] = []
    with kernel.log.heard_by(lambda _level, event, fields: lines.append(f"{event} {fields}")):
        first = await kernel.run("video_list_sessions", {"limit": 2})
        rest = await kernel.run(
            "video_list_sessions", {"limit": 2, "cursor": first.data["next_cursor"]}
        )
    listed = [each["session_id"] for page in (first, rest) for each in page.data["sessions"]]
    assert listed == [ids[3], ids[2], ids[0]]
    assert any("left out: 1" in note for note in rest.notes)
    (line,) = lines
    assert "row" in line
    assert ids[1] in line
    for tool, arguments in (
        ("video_continue_session", {"prompt": "What?"}),
        ("video_export_session", {}),
    ):
        with pytest.raises(VrError) as caught:
            await kernel.call(tool, session_id=ids[1], **arguments)
        # Bytes that are no text cannot be told from a row that is missing.
        lost = isinstance(value, bytes)
        assert caught.value.category == ("SESSION_UNKNOWN" if lost else "STATE_DAMAGED")
        assert lost or ids[1] in caught.value.message
        assert SECRET not in f"{caught.value.message} {caught.value.hint} {lines}"


@pytest.mark.parametrize("value", [NOT_TEXT, 7])
async def test_a_damaged_turn_hides_itself_alone(tmp_path, gemini, kernel, value) -> None:
    session_id = await begin(kernel, tmp_path)
    for prompt in ("One?", "Two?", "Three?"):
        await kernel.call("video_continue_session", session_id=session_id, prompt=prompt)
    damage(tmp_path, "turn/%/00000002", "response", value)
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
        (tmp_path / "state" / f"rows.db-{ending}").unlink()
    lines: list[str] = []
    with kernel.log.heard_by(lambda _level, _event, fields: lines.append(str(fields))):
        third = await kernel.call("video_continue_session", session_id=session_id, prompt="Three?")
    assert third.turn_count == 3
    assert any("rows.db was removed while it was open; nothing of it" in it for it in lines)
    with closing(sqlite3.connect(tmp_path / "state" / "rows.db")) as connection:
        turns = "SELECT count(*) FROM entry WHERE key LIKE 'turn/%'"
        assert connection.execute(turns).fetchone() == (3,)
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
