"""Turns of sessions under load: from two kernels at once, on a locked file, after a crash."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest
from sessionkit import asked, echo, key_for, locked, said
from videokit import open_kernel, recorded, silence
from vr_kernel import Kernel
from vr_testing import FakeGemini


@pytest.fixture
def talk(tmp_path: Path) -> Path:
    path = tmp_path / "talk.wav"
    path.write_bytes(silence(5, 8000))
    return path


@pytest.fixture
def gemini() -> Iterator[FakeGemini]:
    with FakeGemini() as fake:
        fake.answer(echo)
        yield fake


@pytest.fixture
async def kernel(tmp_path: Path, gemini: FakeGemini) -> AsyncIterator[Kernel]:
    async with open_kernel(tmp_path, environ=key_for(gemini)) as opened:
        yield opened


async def begin(kernel: Kernel, talk: Path) -> str:
    return (await kernel.call("video_create_session", file_path=str(talk))).session_id


async def ask(kernel: Kernel, session_id: str, prompt: str):
    return await kernel.call("video_continue_session", session_id=session_id, prompt=prompt)


def rows(folder: Path, session_id: str) -> list[tuple[int, str, str]]:
    """Number, question and answer of every turn that was kept."""
    select = "SELECT value FROM entry WHERE key LIKE ? ORDER BY key"
    with closing(sqlite3.connect(folder / "state" / "rows.db")) as connection:
        found = connection.execute(select, (f"turn/{session_id}/%",)).fetchall()
    turns = [json.loads(value) for (value,) in found]
    return [(turn["number"], turn["prompt"], turn["response"]) for turn in turns]


def spoil(folder: Path, sql: str) -> None:
    """Change the rows from outside."""
    with closing(sqlite3.connect(folder / "state" / "rows.db")) as connection, connection:
        connection.execute(sql)


@pytest.mark.slow
async def test_fifty_turns_on_ten_sessions_from_two_kernels(tmp_path, gemini, kernel, talk):
    sessions = [await begin(kernel, talk) for _ in range(10)]
    async with open_kernel(tmp_path, environ=key_for(gemini)) as other:
        calls = [
            ask((kernel, other)[n % 2], session_id, f"Question {n} of {session_id}?")
            for n in range(5)
            for session_id in sessions
        ]
        answers = await asyncio.gather(*calls)
    assert len(asked(gemini)) == 50
    counts = sorted(answer.turn_count for answer in answers)
    assert counts == sorted([1, 2, 3, 4, 5] * 10)
    for session_id in sessions:
        kept = rows(tmp_path, session_id)
        assert [number for number, _, _ in kept] == [1, 2, 3, 4, 5]
        assert {prompt for _, prompt, _ in kept} == {
            f"Question {n} of {session_id}?" for n in range(5)
        }
        assert all(response == f"You asked: {prompt}" for _, prompt, response in kept)
    assert len(await recorded(kernel, "SessionTranscripts")) == 50


async def test_each_turn_knows_all_that_came_before(tmp_path, gemini, kernel, talk):
    session_id = await begin(kernel, talk)
    async with open_kernel(tmp_path, environ=key_for(gemini)) as other:
        await asyncio.gather(
            *(ask((kernel, other)[n % 2], session_id, f"Question {n}?") for n in range(6))
        )
    kept = rows(tmp_path, session_id)
    for turn, request in enumerate(asked(gemini)):
        before = [text.splitlines()[-1] for speaker, text in said(request) if speaker == "user"]
        assert before == [prompt for _, prompt, _ in kept[: turn + 1]]


async def test_one_turn_of_a_session_at_a_time(gemini, kernel, talk):
    session_id = await begin(kernel, talk)
    answers = await asyncio.gather(*(ask(kernel, session_id, f"{n}?") for n in range(5)))
    assert sorted(answer.turn_count for answer in answers) == [1, 2, 3, 4, 5]
    assert [len(said(request)) for request in asked(gemini)] == [1, 3, 5, 7, 9]


@pytest.mark.parametrize("rounds", [10, pytest.param(100, marks=pytest.mark.slow)])
async def test_a_locked_database_blocks_nobody_and_loses_no_answer(
    tmp_path, gemini, kernel, talk, rounds
):
    session_id, other = await begin(kernel, talk), await begin(kernel, talk)
    await ask(kernel, session_id, "One?")
    with ExitStack() as lock:
        with gemini.hold():  # what Gemini keeps for a session is noted in that file, too
            calls = [asyncio.create_task(ask(kernel, session_id, "Two?"))]
            calls += [asyncio.create_task(ask(kernel, other, f"{n}?")) for n in range(8)]
            await asyncio.to_thread(gemini.wait, lambda: gemini.in_flight == 2)
            lock.enter_context(locked(tmp_path / "state" / "rows.db"))
        for _ in range(rounds):
            assert len((await kernel.call("video_list_sessions")).sessions) == 2
            await kernel.call("infra_cache")
            await asyncio.sleep(0.01)
        assert not any(call.done() for call in calls)
    answers = await asyncio.gather(*calls)
    assert answers[0].turn_count == 2
    assert sorted(answer.turn_count for answer in answers[1:]) == list(range(1, 9))
    assert all(answer.limits == [] for answer in answers)
    assert len(asked(gemini)) == 10
    assert len(rows(tmp_path, other)) == 8


async def test_an_answer_that_cannot_be_kept_is_given_all_the_same(tmp_path, gemini, kernel, talk):
    session_id = await begin(kernel, talk)
    await ask(kernel, session_id, "One?")
    with gemini.hold():
        task = asyncio.create_task(ask(kernel, session_id, "Two?"))
        await asyncio.to_thread(gemini.wait, lambda: gemini.in_flight)
        spoil(tmp_path, "DROP TABLE entry")
    answer = await task
    assert answer.response == "You asked: Two?"
    assert answer.turn_count == 2
    assert "not kept in the session" in " ".join(answer.limits)
    assert len(await recorded(kernel, "SessionTranscripts")) == 2


async def test_a_session_that_was_dropped_meanwhile_still_answers(tmp_path, gemini, kernel, talk):
    session_id = await begin(kernel, talk)
    with gemini.hold():
        task = asyncio.create_task(ask(kernel, session_id, "One?"))
        await asyncio.to_thread(gemini.wait, lambda: gemini.in_flight)
        spoil(tmp_path, "DELETE FROM entry WHERE key LIKE 'session/%'")
    answer = await task
    assert answer.response == "You asked: One?"
    assert "no such session" in " ".join(answer.limits)


@pytest.mark.slow
async def test_a_crash_between_answer_and_write_pays_once(tmp_path, gemini, talk):
    environ = key_for(gemini)
    async with open_kernel(tmp_path, environ=environ) as kernel:
        session_id = await begin(kernel, talk)
        arguments = {"session_id": session_id, "prompt": "One?"}
        begun = kernel.start("video_continue_session", arguments)
        assert (await begun.outcome()).error is None
    spoil(tmp_path, "DELETE FROM entry WHERE key LIKE 'turn/%'")
    uncounted = "UPDATE entry SET value = json_set(value, '$.turn_count', 0)"
    spoil(tmp_path, f"{uncounted} WHERE key LIKE 'session/%'")
    connection = sqlite3.connect(tmp_path / "state" / "jobs.db", isolation_level=None)
    connection.execute("UPDATE job SET state = 'running', result = NULL")
    connection.close()
    assert rows(tmp_path, session_id) == []
    async with open_kernel(tmp_path, environ=environ) as kernel:
        ended = await kernel.call("job_result", job_id=begun.id)
        assert ended.result["response"] == "You asked: One?"
        assert ended.result["usage"]["calls"] == 1
        assert (await ask(kernel, session_id, "Two?")).turn_count == 2
    assert len(asked(gemini)) == 2
    assert [number for number, _, _ in rows(tmp_path, session_id)] == [1, 2]


async def test_a_crash_after_the_write_keeps_the_turn_once(tmp_path, gemini, talk):
    environ = key_for(gemini)
    async with open_kernel(tmp_path, environ=environ) as kernel:
        session_id = await begin(kernel, talk)
        arguments = {"session_id": session_id, "prompt": "One?"}
        begun = kernel.start("video_continue_session", arguments)
        assert (await begun.outcome()).error is None
    connection = sqlite3.connect(tmp_path / "state" / "jobs.db", isolation_level=None)
    connection.execute("UPDATE job SET state = 'running', result = NULL")
    connection.close()
    async with open_kernel(tmp_path, environ=environ) as kernel:
        ended = await kernel.call("job_result", job_id=begun.id)
        assert ended.result["turn_count"] == 1
        assert len({r["turn_index"] for r in await recorded(kernel, "SessionTranscripts")}) == 1
    assert len(asked(gemini)) == 1
    assert len(rows(tmp_path, session_id)) == 1
