"""Sessions: begun, continued in order, listed, exported; kept over restarts, locks and crashes."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from sessionkit import asked, echo, key_for, said
from videokit import failure, open_kernel, recorded, silence
from vr_kernel import Code, Kernel, VrError, visible
from vr_testing import FakeGemini

ANOTHER = "somebody_else"


@pytest.fixture
def talk(tmp_path: Path) -> Path:
    path = tmp_path / "talk.wav"
    path.write_bytes(silence(80, 8000))
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


async def begin(kernel: Kernel, talk: Path, description: str = "") -> str:
    """The id of a new session."""
    arguments = {"file_path": str(talk), "description": description}
    return (await kernel.call("video_create_session", **arguments)).session_id


async def ask(kernel: Kernel, session_id: str, prompt: str):
    return await kernel.call("video_continue_session", session_id=session_id, prompt=prompt)


async def as_another(kernel: Kernel, tool: str, **arguments: object) -> dict[str, object]:
    """The result of a call by another principal."""
    outcome = await kernel.run(tool, arguments, lambda *_: None, principal=ANOTHER)
    if outcome.error is not None:
        raise outcome.error
    return outcome.data


def age(folder: Path, session_id: str, hours: float) -> None:
    """Set the time of the last question back by so many hours."""
    change = "UPDATE entry SET value = json_set(value, '$.last_active', ?) WHERE key = ?"
    with closing(sqlite3.connect(folder / "state" / "rows.db")) as connection, connection:
        connection.execute(change, (time.time() - hours * 3600, f"session/{session_id}"))


def content(exported) -> str:
    return Path(exported.path).read_text()


async def test_a_session_is_begun(kernel, gemini, talk):
    info = await kernel.call("video_create_session", file_path=str(talk), description=" Why? ")
    assert len(info.session_id) == 12
    int(info.session_id, 16)
    assert info.status == "created"
    assert info.video_title == "talk"
    assert info.source == str(talk)
    assert info.description == "Why?"
    assert info.cache == "cached"
    assert info.limits == []
    assert info.expires_at > info.created_at
    assert asked(gemini) == []


async def test_a_session_goes_by_what_a_file_holds(kernel, gemini, talk):
    session_id = await begin(kernel, talk.rename(talk.with_suffix(".mp4")))
    await ask(kernel, session_id, "What is it?")
    (created,) = gemini.requests_of("cachedContents.create")
    assert "audio/x-wav" in str(created.body)


async def test_the_model_is_told_what_was_said_before(kernel, gemini, talk):
    session_id = await begin(kernel, talk, "An exam")
    first = await ask(kernel, session_id, "What is it?")
    second = await ask(kernel, session_id, "And then?")
    assert first.response == "You asked: What is it?"
    assert (first.turn_count, second.turn_count) == (1, 2)
    assert second.video_title == "talk"
    assert second.model.startswith("gemini/")
    assert second.usage.calls == 1
    assert (await kernel.call("infra_usage")).total.media_seconds == 2 * 80
    turns = said(asked(gemini)[1])
    assert [speaker for speaker, _ in turns] == ["user", "model", "user"]
    assert "An exam" in turns[0][1]
    assert turns[0][1].endswith("What is it?")
    assert turns[1][1] == first.response
    assert turns[2][1] == "And then?"


async def test_turns_are_recorded_as_events(kernel, talk):
    session_id = await begin(kernel, talk)
    await ask(kernel, session_id, "One?")
    await ask(kernel, session_id, "Two?")
    records = await recorded(kernel, "SessionTranscripts")
    assert [record["turn_index"] for record in records] == [1, 2]
    assert records[1]["session_id"] == session_id
    assert records[1]["video_title"] == "talk"
    assert records[1]["turn_prompt"] == "Two?"
    assert records[1]["turn_response"] == "You asked: Two?"
    assert records[1]["source_tool"] == "video_continue_session"
    assert records[1]["source_url"] == str(talk)


async def test_times_in_an_answer_become_links(kernel, gemini, talk):
    gemini.heal()
    gemini.answer("At 0:05 and again at 00:05, then 01:10-1:15; 16:9, 99:00 and 1:2 are no times.")
    answer = await ask(kernel, await begin(kernel, talk), "When?")
    assert [(m.time, m.seconds) for m in answer.moments] == [
        ("00:05", 5.0),
        ("01:10", 70.0),
        ("01:15", 75.0),
    ]
    assert answer.moments[1].link == f"{talk.as_uri()}#t=70"


async def test_a_long_answer_is_cut_and_kept_whole(kernel, gemini, talk):
    gemini.heal()
    gemini.answer("wörd " * 20_000)
    session_id = await begin(kernel, talk)
    answer = await ask(kernel, session_id, "Tell me everything.")
    assert len(answer.response.encode()) < 21_000
    assert answer.response_uri.startswith("vr://artifacts/")
    assert (await ask(kernel, session_id, "More?")).turn_count == 2
    assert said(asked(gemini)[1])[1][1] == "wörd " * 20_000


async def test_the_context_cache_is_used(kernel, gemini, talk):
    session_id = await begin(kernel, talk)
    answer = await ask(kernel, session_id, "What is it?")
    assert answer.cached_context
    assert answer.usage.cached_tokens > 0
    (request,) = asked(gemini)
    assert request.cached_content
    assert request.media == []
    contexts = (await kernel.call("infra_cache", action="context")).contexts
    assert len(contexts) == 1


async def test_a_lost_context_cache_is_made_anew(kernel, gemini, talk):
    session_id = await begin(kernel, talk)
    await ask(kernel, session_id, "One?")
    gemini.expire_caches()
    answer = await ask(kernel, session_id, "Two?")
    assert answer.turn_count == 2
    assert answer.cached_context
    assert len(gemini.requests_of("cachedContents.create")) == 2
    first, second = asked(gemini)
    assert first.cached_content != second.cached_content


async def test_without_a_context_cache_the_video_goes_with_each_turn(kernel, gemini, talk):
    gemini.min_cache_tokens = 10**9
    info = await kernel.call("video_create_session", file_path=str(talk))
    assert "too short" in info.cache
    for prompt in ("One?", "Two?", "Three?"):
        answer = await ask(kernel, info.session_id, prompt)
        assert not answer.cached_context
    assert [len(request.media) for request in asked(gemini)] == [1, 1, 1]
    assert asked(gemini)[2].body["contents"][0]["parts"][0].keys() != {"text"}
    assert len(gemini.requests_of("cachedContents.create")) == 1


async def test_an_analysis_and_a_session_share_a_cache(kernel, gemini, talk):
    await begin(kernel, talk)
    await begin(kernel, talk)
    assert len(gemini.requests_of("cachedContents.create")) == 1


async def test_only_the_last_turns_are_sent_and_all_are_kept(tmp_path, gemini, talk):
    environ = key_for(gemini) | {"GEMINI_SESSION_MAX_TURNS": "2"}
    async with open_kernel(tmp_path, environ=environ) as kernel:
        session_id = await begin(kernel, talk)
        answers = [await ask(kernel, session_id, f"Question {n}?") for n in range(1, 5)]
        exported = await kernel.call("video_export_session", session_id=session_id, format="json")
    turns = said(asked(gemini)[3])
    assert [speaker for speaker, _ in turns] == ["user", "model"] * 2 + ["user"]
    assert turns[0][1].endswith("Question 2?")
    assert turns[0][1].startswith("This is a conversation about the video.")
    assert "last 2 of 3 turns" in " ".join(answers[3].limits)
    told = json.loads(content(exported))["turns"]
    assert [turn["prompt"] for turn in told] == [f"Question {n}?" for n in range(1, 5)]


@pytest.mark.parametrize("form", ["md", "json"])
async def test_nothing_unseen_is_answered_or_exported(kernel, talk, form):
    session_id = await begin(kernel, talk)
    raw = "\x1b[31mred\x1b[0m at 00:01 \x9b1m\u202egpj\u202c\U000e0041 \u06a9\u200c\u062e"
    answer = await ask(kernel, session_id, f"What is {raw}?")
    exported = await kernel.call("video_export_session", session_id=session_id, format=form)
    told = content(exported)
    assert answer.response == "You asked: What is red at 00:01 gpj \u06a9\u200c\u062e?"
    assert told == visible(told)
    assert told.count(visible(raw)) == 2
    assert "u001b" not in told


async def test_what_cannot_be_watched_begins_no_session(kernel, gemini, tmp_path):
    (tmp_path / "text.mp4").write_bytes(b"no film at all\n" * 100)
    for arguments in (
        {},
        {"url": "https://youtu.be/dQw4w9WgXcQ", "file_path": "talk.wav"},
        {"url": "https://www.youtube.com/playlist?list=PL123"},
        {"url": "https://youtube.com.evil.example/watch?v=dQw4w9WgXcQ"},
        {"file_path": str(tmp_path / "nothing.mp4")},
        {"file_path": str(tmp_path / "text.mp4")},
    ):
        error = await failure(kernel, "video_create_session", **arguments)
        assert error.code in {Code.INVALID_INPUT, Code.NOT_FOUND, Code.UNSUPPORTED}
    assert (await kernel.call("video_list_sessions")).sessions == []
    assert gemini.requests == []


async def test_without_a_model_no_session_is_begun(tmp_path, talk):
    async with open_kernel(tmp_path) as kernel:
        error = await failure(kernel, "video_create_session", file_path=str(talk))
        assert (error.code, error.category) == (Code.AUTH, "ENGINE_UNAVAILABLE")
        assert "GEMINI_API_KEY" in error.message + error.hint
        assert not (tmp_path / "state" / "rows.db").exists()


async def test_an_unknown_session(kernel, gemini):
    for session_id in ("", "0" * 12, "0" * 11, "x" * 12, "' OR 1=1 --", "../../etc", "é" * 12):
        for tool, more in (
            ("video_continue_session", {"prompt": "Hello?"}),
            ("video_export_session", {}),
        ):
            error = await failure(kernel, tool, session_id=session_id, **more)
            assert (error.code, error.category) == (Code.NOT_FOUND, "SESSION_UNKNOWN")
            assert "video_create_session" in error.hint
    assert gemini.requests == []


async def test_a_foreign_session_is_like_none(kernel, gemini, talk):
    session_id = await begin(kernel, talk)
    for tool, more in (
        ("video_continue_session", {"prompt": "Hello?"}),
        ("video_export_session", {}),
    ):
        with pytest.raises(VrError) as foreign:
            await as_another(kernel, tool, session_id=session_id, **more)
        none = await failure(kernel, tool, session_id="0" * 12, **more)
        assert foreign.value.as_dict("") == none.as_dict("")
    assert (await as_another(kernel, "video_list_sessions"))["sessions"] == []
    assert asked(gemini) == []


async def test_a_session_of_another_workspace_is_like_none(tmp_path, gemini, kernel, talk):
    session_id = await begin(kernel, talk)
    environ = key_for(gemini) | {"VR_STORE__WORKSPACE": "other"}
    async with open_kernel(tmp_path, environ=environ) as other:
        error = await failure(other, "video_continue_session", session_id=session_id, prompt="?")
    assert error.category == "SESSION_UNKNOWN"


async def test_sessions_outlive_a_restart(tmp_path, gemini, talk):
    environ = key_for(gemini)
    async with open_kernel(tmp_path, environ=environ) as kernel:
        session_id = await begin(kernel, talk)
        await ask(kernel, session_id, "One?")
    async with open_kernel(tmp_path, environ=environ) as kernel:
        answer = await ask(kernel, session_id.upper(), "Two?")
    assert answer.turn_count == 2
    assert said(asked(gemini)[1])[1][1] == "You asked: One?"


@pytest.mark.parametrize("name", ["state/sessions.db", "mine/chats.db"])
async def test_sessions_of_the_version_before_go_on(tmp_path, gemini, talk, name):
    """Their file, which the seed's variable may name, is taken over; what is damaged is not."""
    former = tmp_path / name
    environ = key_for(gemini) | ({"GEMINI_SESSION_DB": str(former)} if "mine" in name else {})
    async with open_kernel(tmp_path, environ=environ) as kernel:
        digest = await begin(kernel, talk)  # a session like those below
        template = (await kernel.services.rows_of("video", "default", "owner").list("session/"))[0]
        write_former(former, template.value)
        await kernel.call("video_list_sessions")
        assert former.exists(), "it is looked for when a kernel first needs sessions"
    async with open_kernel(tmp_path, environ=environ) as kernel:
        listed = (await kernel.call("video_list_sessions")).sessions
        assert [(it.session_id, it.turn_count) for it in listed] == [(digest, 0), ("a" * 12, 2)]
        assert (await ask(kernel, "a" * 12, "Three?")).turn_count == 3
        theirs = (await as_another(kernel, "video_list_sessions"))["sessions"]
        assert [it["session_id"] for it in theirs] == ["b" * 12]
    spoken = [text for _, text in said(asked(gemini)[-1])]
    assert [spoken[1], spoken[3], spoken[4]] == ["One.", "Two.", "Three?"]
    assert not former.exists()
    assert former.with_name(f"{former.name}.adopted").exists()


def write_former(file: Path, like: dict[str, object]) -> None:
    """Write a file of sessions as the version before kept it: two sound ones, and a damaged one."""
    file.parent.mkdir(exist_ok=True)
    sessions = [
        like | {"id": "a" * 12, "principal": "ann", "last_active": time.time() - 60},
        like | {"id": "b" * 12, "principal": f"token:{ANOTHER}", "workspace": ANOTHER},
        like | {"id": "c" * 12, "title": None},
    ]
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute(f"CREATE TABLE session ({', '.join(like)})")
        connection.execute(
            "CREATE TABLE turn (session_id, number, call_id, prompt, response, model, asked_at)"
        )
        for session in sessions:
            row = [*(session | {"turn_count": 2}).values()]
            connection.execute(f"INSERT INTO session VALUES ({', '.join('?' * len(row))})", row)
            for number, answer in ((2, "Two."), (1, "One.")):
                turn = (session["id"], number, f"{session['id']}{number}", "?", answer, "m", 1.0)
                connection.execute("INSERT INTO turn VALUES (?,?,?,?,?,?,?)", turn)


async def test_an_expired_session_is_told_and_can_be_exported(tmp_path, kernel, gemini, talk):
    session_id = await begin(kernel, talk)
    await ask(kernel, session_id, "One?")
    age(tmp_path, session_id, 2.1)
    error = await failure(kernel, "video_continue_session", session_id=session_id, prompt="Two?")
    assert (error.code, error.category) == (Code.NOT_FOUND, "SESSION_EXPIRED")
    assert f"file_path='{talk}'" in error.hint
    assert len(asked(gemini)) == 1
    (summary,) = (await kernel.call("video_list_sessions")).sessions
    assert summary.status == "expired"
    exported = await kernel.call("video_export_session", session_id=session_id)
    assert exported.turn_count == 1


async def test_the_seeds_variable_sets_the_time(tmp_path, gemini, talk):
    environ = key_for(gemini) | {"GEMINI_SESSION_TIMEOUT_HOURS": "5"}
    async with open_kernel(tmp_path, environ=environ) as kernel:
        session_id = await begin(kernel, talk)
        age(tmp_path, session_id, 4.9)
        assert (await ask(kernel, session_id, "Still there?")).turn_count == 1


async def test_the_least_recently_active_session_makes_room(tmp_path, gemini, talk):
    roots = {"VR_KERNEL__SERVE__ROOTS": json.dumps({ANOTHER: [str(tmp_path)]})}
    environ = key_for(gemini) | roots | {"GEMINI_MAX_SESSIONS": "2"}
    async with open_kernel(tmp_path, environ=environ) as kernel:
        first, second = await begin(kernel, talk), await begin(kernel, talk)
        theirs = await as_another(kernel, "video_create_session", file_path=str(talk))
        await ask(kernel, first, "Are you there?")
        third = await begin(kernel, talk)
        found = (await kernel.call("video_list_sessions")).sessions
        assert [summary.session_id for summary in found] == [third, first]
        error = await failure(kernel, "video_continue_session", session_id=second, prompt="?")
        assert error.category == "SESSION_UNKNOWN"
        listed = await as_another(kernel, "video_list_sessions")
    assert [summary["session_id"] for summary in listed["sessions"]] == [theirs["session_id"]]


async def test_sessions_are_listed_in_pages(kernel, talk):
    made = [await begin(kernel, talk, f"No. {n}") for n in range(5)]
    await ask(kernel, made[0], "Hello?")
    seen, cursor = [], None
    while True:
        page = await kernel.call("video_list_sessions", limit=2, cursor=cursor)
        seen += page.sessions
        cursor = page.next_cursor
        if cursor is None:
            break
    assert [s.session_id for s in seen] == [made[0], *reversed(made[1:])]
    assert [s.turn_count for s in seen] == [1, 0, 0, 0, 0]
    error = await failure(kernel, "video_list_sessions", cursor="nonsense")
    assert error.category == "CURSOR_INVALID"


async def test_a_conversation_is_exported(kernel, gemini, talk):
    session_id = await begin(kernel, talk, "An exam")
    await ask(kernel, session_id, "One?\nOr two at 0:42?")
    exported = await kernel.call("video_export_session", session_id=session_id)
    text = content(exported)
    front = '---\nkind: "SessionTranscripts"\nderived: "true"\n---\n\n'
    assert text.startswith(f"{front}# talk\n"), "who reads it in knows that it is no source"
    assert "An exam" in text
    assert "> One?\n> Or two at 0:42?" in text
    assert f"[00:42](<{talk.as_uri()}#t=42>)" in text
    assert exported.preview == text
    again = await kernel.call("video_export_session", session_id=session_id, format="json")
    whole = json.loads(content(again))
    assert whole["turn_count"] == 1
    assert whole["turns"][0]["response"] == "You asked: Or two at 0:42?"


async def test_a_changed_file_is_not_asked_about(kernel, gemini, talk):
    session_id = await begin(kernel, talk)
    talk.write_bytes(silence(81, 8000))
    error = await failure(kernel, "video_continue_session", session_id=session_id, prompt="?")
    assert (error.code, error.category) == (Code.CONFLICT, "FILE_CHANGED")
    talk.unlink()
    error = await failure(kernel, "video_continue_session", session_id=session_id, prompt="?")
    assert error.code is Code.NOT_FOUND
    assert asked(gemini) == []


async def test_a_failed_turn_leaves_no_trace(kernel, gemini, talk):
    session_id = await begin(kernel, talk)
    gemini.keys = {"another"}
    error = await failure(kernel, "video_continue_session", session_id=session_id, prompt="One?")
    assert error.code is Code.AUTH
    gemini.keys = None
    assert (await ask(kernel, session_id, "Two?")).turn_count == 1
    assert len(said(asked(gemini)[-1])) == 1


async def test_a_cancelled_turn_lets_the_next_one_in(kernel, gemini, talk):
    session_id = await begin(kernel, talk)
    with gemini.hold():
        task = asyncio.create_task(ask(kernel, session_id, "One?"))
        await asyncio.to_thread(gemini.wait, lambda: gemini.in_flight)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert (await ask(kernel, session_id, "Two?")).turn_count == 1


async def test_a_token_of_the_former_users_name_has_no_session_of_the_owner(
    tmp_path, gemini, talk, monkeypatch
):
    shared = {
        "VR_KERNEL__SERVE__SHARED_WORKSPACES": '["default"]',
        "VR_KERNEL__SERVE__WORKSPACES": json.dumps({ANOTHER: "default"}),
    }
    environ = key_for(gemini) | shared
    monkeypatch.setenv("LOGNAME", ANOTHER)
    async with open_kernel(tmp_path, environ=environ) as kernel:
        made = [await begin(kernel, talk), await begin(kernel, talk)]
    with closing(sqlite3.connect(tmp_path / "state" / "rows.db")) as connection, connection:
        # As versions before kept it: under the user's name.
        former = "UPDATE entry SET value = json_set(value, '$.principal', ?) WHERE key = ?"
        assert connection.execute(former, (ANOTHER, f"session/{made[0]}")).rowcount == 1
    monkeypatch.setenv("LOGNAME", "svc")
    async with open_kernel(tmp_path, environ=environ) as kernel:
        assert (await as_another(kernel, "video_list_sessions"))["sessions"] == []
        listed = (await kernel.call("video_list_sessions")).sessions
        assert {summary.session_id for summary in listed} == set(made)
        for session_id in made:
            arguments = {"session_id": session_id}
            outcome = await kernel.run("video_export_session", arguments, principal=ANOTHER)
            assert outcome.error.category == "SESSION_UNKNOWN"
            assert (await ask(kernel, session_id, "Still there?")).turn_count == 1
