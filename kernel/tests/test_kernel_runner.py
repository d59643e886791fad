"""One call: what succeeds is recorded whole, what fails leaves nothing, and errors tell enough."""

from __future__ import annotations

import asyncio
import gc
import json
import threading
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

import pytest
from pydantic import BaseModel
from vr_kernel import (
    READ_ONLY,
    WRITES_LOCAL,
    Call,
    Code,
    EnvAlias,
    Kernel,
    Record,
    RecordField,
    RecordKind,
    Section,
    VrError,
    entity_key,
    estimate_tokens,
    load_config,
    tool,
)
from vr_kernel.running.runner import HUGE_CHARS, RESULT_TOKENS

NOTES = RecordKind(
    "Notes", "Notes.", (RecordField("text"), RecordField("number", "int")), rerank="text"
)
EVENTS = RecordKind("Events", "Events.", (RecordField("text"),), rerank="text")
SECRET = "s3cr3t-in-an-exception"


class Done(BaseModel):
    """A result with room for text."""

    text: str = ""


class More(Done):
    """A result that is also a `Done`."""

    number: int = 1


class Other(BaseModel):
    """Not the result that was announced."""

    text: str = SECRET


Body = Callable[[Call], Awaitable[Any]]
Begin = Callable[..., Awaitable[Kernel]]


@pytest.fixture
def begin(start: Any, make_plugin: Any) -> Begin:
    """Opens a kernel whose tool `note_write` does what the given function does."""

    async def begin(body: Body, **options: Any) -> Kernel:
        async def note_write(call: Call) -> Done:
            return await body(call)

        function = tool(effects=WRITES_LOCAL)(note_write)
        plugin = make_plugin(tools=[function], kinds=[NOTES, EVENTS])
        return await start({"note": plugin}, **options)

    return begin


async def _changes(kernel: Kernel) -> list[Any]:
    return await kernel.services.journal.changes(0, 10_000)


async def _require_untouched(kernel: Kernel) -> None:
    assert await _changes(kernel) == []
    assert (await kernel.services.cache.stats()).entries == 0


# What succeeds.


async def test_records_are_forgotten_with_the_others(begin: Begin) -> None:
    async def body(call: Call) -> Done:
        notes = await _changes(kernel)
        call.record(Record("Notes", {"text": "new"}, key="new"))
        if notes:
            call.forget("Notes", "new", "never there")
            assert len(await _changes(kernel)) == len(notes)
        return Done()

    kernel = await begin(body)
    await kernel.run("note_write", {})
    outcome = await kernel.run("note_write", {})
    assert outcome.error is None
    states = {change.key: change.fields for change in await _changes(kernel)}
    assert states == {"new": None, "never there": None}


async def test_a_call_that_fails_forgets_nothing(begin: Begin) -> None:
    async def body(call: Call) -> Done:
        call.forget("Notes", "fact")
        raise VrError("no")

    kernel = await begin(body)
    assert (await kernel.run("note_write", {})).error
    await _require_untouched(kernel)


NAMES: list[tuple[str, Callable[[Call], None], str]] = [
    ("no key", lambda call: call.forget("Notes", None), "a key that is NoneType"),  # type: ignore[arg-type]
    ("a number", lambda call: call.forget("Notes", "a", 5), "a key that is int"),  # type: ignore[arg-type]
    ("a list", lambda call: call.forget("Notes", ["a"]), "a key that is list"),  # type: ignore[arg-type]
    ("no text", lambda call: call.forget("Notes", "\ud800"), "a key that is text that is no valid"),
    ("no kind", lambda call: call.forget(None, "a"), "a kind that is NoneType"),  # type: ignore[arg-type]
    (
        "a record",
        lambda call: call.record(Record("Notes", {"text": "a"}, key=5)),  # type: ignore[arg-type]
        "a key that is int",
    ),
]


@pytest.mark.parametrize(("do", "says"), [it[1:] for it in NAMES], ids=[it[0] for it in NAMES])
async def test_what_cannot_name_a_record_is_the_failure_of_its_plugin(
    do: Callable[[Call], None], says: str, begin: Begin
) -> None:
    async def body(call: Call) -> Done:
        call.record(Record("Events", {"text": "b"}))
        do(call)
        return Done()

    kernel = await begin(body)
    error = (await kernel.run("note_write", {})).error
    assert error is not None
    assert (error.code, error.retryable) == (Code.INTERNAL, False)
    assert f"note_write of plugin note names a record by {says}" in error.message
    await _require_untouched(kernel)


async def test_records_are_journalled_in_one_commit_with_their_origin(begin: Begin) -> None:
    async def body(call: Call) -> Done:
        call.record(
            Record("Notes", {"text": "a", "number": 1}, key="fact"),
            Record("Events", {"text": "b"}, provenance={"page": 3, "tool": "forged"}),
        )
        call.record(Record("Notes", {"text": "c", "source_tool": "elsewhere"}, key="other"))
        assert await _changes(kernel) == []
        return Done(text="done")

    kernel = await begin(body)
    outcome = await kernel.run("note_write", {})
    assert outcome.error is None
    assert outcome.result == Done(text="done")
    assert (outcome.data, outcome.notes) == ({"text": "done"}, ())
    origin = {
        "tool": "note_write",
        "plugin": "note",
        "call_id": outcome.call_id,
        "principal": kernel.identity.principal,
    }
    fact, event, other = await _changes(kernel)
    assert fact.fields == {"text": "a", "number": 1, "source_tool": "note_write"}
    assert event.fields == {"text": "b", "source_tool": "note_write"}
    assert other.fields == {"text": "c", "source_tool": "elsewhere"}
    assert [c.provenance for c in (fact, event, other)] == [origin, origin | {"page": 3}, origin]
    assert {change.workspace for change in (fact, event, other)} == {"default"}
    assert len({change.created_at for change in (fact, event, other)}) == 1
    assert [change.seq for change in (fact, event, other)] == [1, 2, 3]


async def test_events_are_keyed_by_their_call_and_facts_by_themselves(begin: Begin) -> None:
    async def body(call: Call) -> Done:
        call.record(*(Record("Events", {"text": str(number)}) for number in range(3)))
        call.record(Record("Notes", {"text": call.id}, key=entity_key("talk", 1)))
        return Done()

    kernel = await begin(body)
    first, second = [(await kernel.run("note_write", {})).call_id for _ in range(2)]
    changes = await _changes(kernel)
    events = {change.key: change.fields["text"] for change in changes if change.kind == "Events"}
    assert events == {
        entity_key(call_id, "Events", number): str(number)
        for call_id in (first, second)
        for number in range(3)
    }
    (note,) = [change for change in changes if change.kind == "Notes"]
    assert note.fields["text"] == second


async def test_what_is_kept_is_cached_once_the_call_succeeds(begin: Begin) -> None:
    async def body(call: Call) -> Done:
        call.record(Record("Notes", {"text": "a"}, key="a"))
        call.keep("key", {"answer": 42}, content_id="talk", model="m-1")
        assert await call.services.cache.get("key") is None
        return Done()

    kernel = await begin(body)
    await kernel.call("note_write")
    assert await kernel.services.cache.get("key") == {"answer": 42}
    (entry,) = await kernel.services.cache.entries(10)
    assert (entry.content_id, entry.tool, entry.model) == ("talk", "note_write", "m-1")


async def test_a_part_is_kept_whatever_becomes_of_the_call(begin: Begin) -> None:
    async def body(call: Call) -> Done:
        async with call.part("first") as part:
            part.record(Record("Events", {"text": "a"}), Record("Events", {"text": "b"}))
            part.keep("k", {"text": "kept"})
            part.note("from the first")
        assert len(await _changes(kernel)) == 2
        with suppress(LookupError):
            async with call.part("second") as part:
                part.record(Record("Events", {"text": "c"}))
                part.keep("other", {"text": "lost"})
                raise LookupError
        call.record(Record("Events", {"text": "d"}))
        assert call.notes == ["from the first"]
        raise VrError("no")

    kernel = await begin(body)
    outcome = await kernel.run("note_write", {})
    assert outcome.error is not None
    changes = await _changes(kernel)
    assert [change.fields["text"] for change in changes] == ["a", "b"]
    assert len({change.key for change in changes}) == 2
    assert {change.provenance["call_id"] for change in changes} == {outcome.call_id}
    assert await kernel.services.cache.get("k") == {"text": "kept"}
    assert await kernel.services.cache.get("other") is None


async def test_a_part_that_is_done_again_records_the_same(begin: Begin) -> None:
    async def body(call: Call) -> Done:
        for name in ("one", "two", "one"):
            async with call.part(name) as part:
                part.record(Record("Events", {"text": name}))
        return Done()

    kernel = await begin(body)
    assert (await kernel.run("note_write", {})).error is None
    assert sorted(it.fields["text"] for it in await _changes(kernel)) == ["one", "two"]


async def test_a_call_without_records_journals_nothing(begin: Begin) -> None:
    async def body(call: Call) -> Done:
        call.note("A remark.")
        return More(text="x")

    kernel = await begin(body)
    outcome = await kernel.run("note_write", {})
    assert outcome.data == {"text": "x", "number": 1}
    assert outcome.notes == ("A remark.",)
    assert await _changes(kernel) == []


async def test_many_calls_at_once_keep_to_themselves(start: Any, make_plugin: Any) -> None:
    @tool(effects=WRITES_LOCAL)
    async def note_write(call: Call, number: int) -> Done:
        call.record(Record("Notes", {"number": number}, key=str(number)))
        await asyncio.sleep(0)
        call.record(Record("Events", {"text": str(number)}))
        return Done(text=str(number))

    kernel = await start({"note": make_plugin([note_write], [NOTES, EVENTS])})
    outcomes = await asyncio.gather(
        *(kernel.run("note_write", {"number": number}) for number in range(100))
    )
    assert [outcome.data["text"] for outcome in outcomes] == [str(n) for n in range(100)]
    assert len({outcome.call_id for outcome in outcomes}) == 100
    by_call: dict[str, set[str]] = {}
    for change in await _changes(kernel):
        said = change.fields.get("text") or str(change.fields["number"])
        by_call.setdefault(change.provenance["call_id"], set()).add(said)
    assert by_call == {outcome.call_id: {outcome.data["text"]} for outcome in outcomes}


async def test_progress_is_handed_on_from_any_thread(begin: Begin) -> None:
    async def body(call: Call) -> Done:
        call.progress(1)
        await asyncio.to_thread(call.progress, 2, 4, "half")
        return Done()

    seen: list[tuple[Any, ...]] = []
    kernel = await begin(body)
    await kernel.run("note_write", {}, lambda *report: seen.append(report))
    assert seen == [(1, None, ""), (2, 4, "half")]
    await kernel.call("note_write")


# What fails.


class OwnError(BaseException):
    """A class of a plugin's own that no `except Exception` catches."""


class NoCauseError(Exception):
    """An exception whose cause cannot be looked at."""

    @property
    def __cause__(self) -> BaseException:  # type: ignore[override]
        raise OwnError

    def __repr__(self) -> str:
        raise OwnError


class HalfError(VrError):
    """A typed error that was never made whole."""

    def __init__(self) -> None:
        pass


def _in_a_circle(secret: str) -> Exception:
    one, other = RuntimeError(secret), ValueError(secret)
    one.__cause__, other.__cause__ = other, one
    return one


class UnprintableError(Exception):
    """An exception that cannot even say what it is."""

    def __str__(self) -> str:
        raise RuntimeError("no text")


async def _raise(call: Call, error: BaseException) -> Done:
    raise error


async def _exit_in_a_thread(call: Call) -> Done:
    def leave() -> None:
        raise SystemExit(3)

    await asyncio.to_thread(leave)
    return Done()


async def _endless(call: Call) -> Done:
    return await _endless(call)


async def _broken_group(call: Call) -> Done:
    async def fail() -> None:
        raise LookupError(SECRET)

    async with asyncio.TaskGroup() as group:
        group.create_task(fail())
        group.create_task(fail())
    return Done()


async def _wait_for_what_was_cancelled(call: Call) -> Done:
    inner = asyncio.create_task(asyncio.Event().wait())
    inner.cancel()
    await inner
    return Done()


async def _unrecordable(call: Call, record: Record) -> Done:
    call.record(record)
    return Done()


async def _unkeepable(call: Call, value: Any) -> Done:
    call.keep("unkeepable", {"value": value})
    return Done()


async def _instead(call: Call, result: Any) -> Any:
    return result


def _with(body: Any, *values: Any) -> Body:
    return lambda call: body(call, *values)


CRASHES: dict[str, Body] = {
    "RuntimeError": _with(_raise, RuntimeError(SECRET)),
    "KeyError": _with(_raise, KeyError(SECRET)),
    "AssertionError": _with(_raise, AssertionError(SECRET)),
    "OSError": _with(_raise, PermissionError(13, SECRET)),
    "MemoryError": _with(_raise, MemoryError(SECRET)),
    "StopAsyncIteration": _with(_raise, StopAsyncIteration(SECRET)),
    "SystemExit": _with(_raise, SystemExit(SECRET)),
    "KeyboardInterrupt": _with(_raise, KeyboardInterrupt(SECRET)),
    "GeneratorExit": _with(_raise, GeneratorExit(SECRET)),
    "a class of its own": _with(_raise, OwnError(SECRET)),
    "a group of such": _with(_raise, BaseExceptionGroup(SECRET, [OwnError(), SystemExit(1)])),
    "cancelled by hand": _with(_raise, asyncio.CancelledError(SECRET)),
    "unprintable": _with(_raise, UnprintableError(SECRET)),
    "without a cause": _with(_raise, NoCauseError(SECRET)),
    "its own cause": _with(_raise, _in_a_circle(SECRET)),
    "half an error": _with(_raise, HalfError()),
    "an error without words": _with(_raise, VrError(7)),  # type: ignore[arg-type]
    "group": _broken_group,
    "recursion": _endless,
    "exit in a thread": _exit_in_a_thread,
    "inner task cancelled": _wait_for_what_was_cancelled,
    "wrong type": _with(_instead, {"text": SECRET}),
    "no result": _with(_instead, None),
    "another model": _with(_instead, Other()),
    "a result that is no JSON": _with(_instead, Done.model_construct(text=object())),
    "kept object": _with(_unkeepable, object()),
    "kept surrogate": _with(_unkeepable, "\ud800"),
}
REFUSALS: dict[str, tuple[Body, Code]] = {
    "typed": (_with(_raise, VrError("Typed.", Code.QUOTA, retryable=True)), Code.QUOTA),
    "unknown kind": (_with(_unrecordable, Record("Notez", {"text": "x"})), Code.INTERNAL),
    "unknown field": (_with(_unrecordable, Record("Notes", {"txt": "x"})), Code.INVALID_INPUT),
    "wrong field": (_with(_unrecordable, Record("Notes", {"number": "x"})), Code.INVALID_INPUT),
    "number too large": (
        _with(_unrecordable, Record("Notes", {"number": 2**70})),
        Code.INVALID_INPUT,
    ),
}


def _after_work(body: Body) -> Body:
    """First record and keep something good, then do what fails."""

    async def work(call: Call) -> Any:
        call.record(Record("Notes", {"text": "good"}, key="good"), Record("Events", {"text": "b"}))
        call.keep("key", {"answer": 42})
        return await body(call)

    return work


@pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")  # of the result that is no JSON
@pytest.mark.parametrize("name", CRASHES)
async def test_a_crash_records_nothing_and_tells_no_more_than_where_to_look(
    begin: Begin, name: str, capfd: pytest.CaptureFixture[str]
) -> None:
    kernel = await begin(_after_work(CRASHES[name]))
    outcome = await kernel.run("note_write", {})
    assert outcome.result is None
    assert outcome.error is not None
    assert (outcome.error.code, outcome.error.category) == (Code.INTERNAL, "UNKNOWN")
    shown = outcome.error.as_dict(outcome.call_id)
    assert SECRET not in json.dumps(shown)
    assert "note_write of plugin note failed unexpectedly" in shown["message"]
    assert outcome.call_id in shown["hint"]
    assert (shown["call_id"], shown["retryable"]) == (outcome.call_id, False)
    await _require_untouched(kernel)
    captured = capfd.readouterr()
    assert outcome.call_id in captured.err
    assert "Traceback (most recent call last)" in captured.err
    assert captured.out == ""
    with pytest.raises(VrError, match="failed unexpectedly"):
        await kernel.call("note_write")


@pytest.mark.parametrize("name", REFUSALS)
async def test_a_typed_failure_records_nothing_and_arrives_as_it_is(
    begin: Begin, name: str
) -> None:
    body, code = REFUSALS[name]
    kernel = await begin(_after_work(body))
    outcome = await kernel.run("note_write", {})
    assert outcome.result is None
    assert outcome.error is not None
    assert outcome.error.code == code
    await _require_untouched(kernel)
    with pytest.raises(VrError) as caught:
        await kernel.call("note_write")
    assert caught.value.code == code


async def test_the_traceback_of_a_crash_is_in_the_log_and_only_there(
    begin: Begin, capfd: pytest.CaptureFixture[str]
) -> None:
    kernel = await begin(_with(_raise, RuntimeError(SECRET)))
    outcome = await kernel.run("note_write", {})
    captured = capfd.readouterr()
    assert f"RuntimeError: {SECRET}" in captured.err
    assert "in _raise" in captured.err
    assert SECRET not in f"{outcome}{outcome.error!r}{outcome.error}"


async def test_an_expected_failure_is_no_alarm(
    begin: Begin, capfd: pytest.CaptureFixture[str]
) -> None:
    kernel = await begin(_with(_raise, VrError("Typed.", Code.QUOTA)))
    await kernel.run("note_write", {})
    assert capfd.readouterr().err == ""


async def test_a_tool_goes_on_working_after_it_failed(begin: Begin) -> None:
    failures = iter([RuntimeError("once"), SystemExit(1)])

    async def body(call: Call) -> Done:
        for failure in failures:
            raise failure
        call.record(Record("Notes", {"text": "at last"}, key="a"))
        return Done(text="at last")

    kernel = await begin(body)
    outcomes = [await kernel.run("note_write", {}) for _ in range(3)]
    assert [outcome.error is None for outcome in outcomes] == [False, False, True]
    assert [change.fields["text"] for change in await _changes(kernel)] == ["at last"]


async def test_cancellation_reaches_the_tool_and_leaves_nothing(begin: Begin) -> None:
    working, ended = asyncio.Event(), asyncio.Event()

    async def body(call: Call) -> Done:
        call.record(Record("Notes", {"text": "half"}, key="half"))
        call.keep("key", {"answer": 42})
        working.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            ended.set()
            raise
        return Done()

    kernel = await begin(body)
    calling = asyncio.create_task(kernel.run("note_write", {}))
    await working.wait()
    calling.cancel()
    with pytest.raises(asyncio.CancelledError):
        await calling
    assert ended.is_set()
    await _require_untouched(kernel)


async def test_a_call_under_a_time_limit_ends_with_it(begin: Begin) -> None:
    async def body(call: Call) -> Done:
        call.record(Record("Notes", {"text": "half"}, key="half"))
        await asyncio.Event().wait()
        return Done()

    kernel = await begin(body)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await kernel.run("note_write", {})
    await _require_untouched(kernel)


async def test_bad_arguments_never_reach_the_tool(start: Any, make_plugin: Any) -> None:
    called = threading.Event()

    @tool(effects=READ_ONLY)
    async def note_read(call: Call, number: int) -> Done:
        called.set()
        return Done()

    kernel = await start({"note": make_plugin([note_read])})
    for arguments in ({}, {"number": "x"}, {"number": 1, "nubmer": 2}):
        outcome = await kernel.run("note_read", arguments)
        assert outcome.error.code == Code.INVALID_INPUT
    assert not called.is_set()


async def test_an_unknown_tool_names_the_nearest(begin: Begin) -> None:
    kernel = await begin(_with(_instead, Done()))
    for ask in (kernel.call("note_wriet"), kernel.run("note_wriet", {})):
        with pytest.raises(VrError) as caught:
            await ask
        assert caught.value.code == Code.NOT_FOUND
        assert "'note_write'" in caught.value.hint


# Results that are too large.


@pytest.mark.parametrize("word", ["fox ", "狐", "ж", "🦊", "a1", " "])
async def test_a_result_over_the_limit_is_kept_whole_as_an_artifact(
    begin: Begin, word: str
) -> None:
    text = word * 21 * RESULT_TOKENS
    kernel = await begin(_with(_instead, Done(text=text)))
    outcome = await kernel.run("note_write", {})
    assert outcome.result is None
    assert outcome.data == {}
    error = outcome.error
    assert error is not None
    assert error.code == Code.TOO_LARGE
    uri = next(word for word in error.hint.split() if word.startswith("vr://artifacts/"))
    whole = kernel.services.artifacts.find(uri.rpartition("/")[2])
    assert whole.mime == "application/json"
    assert json.loads(whole.path.read_bytes()) == {"text": text}
    assert str(whole.path) in error.hint
    assert len(error.message + error.hint) < 1000


async def test_a_huge_result_is_named_with_its_plugin(
    begin: Begin, capfd: pytest.CaptureFixture[str]
) -> None:
    for characters, named in ((HUGE_CHARS // 2, False), (HUGE_CHARS, True)):
        kernel = await begin(_with(_instead, Done(text="x" * characters)))
        outcome = await kernel.run("note_write", {})
        assert outcome.error
        assert outcome.error.code == Code.TOO_LARGE
        log = capfd.readouterr().err
        assert ("plugin='note' tool='note_write'" in log) is named


@pytest.mark.parametrize("word", [" fox", "狐", "жж", "🦊🦊"])
async def test_the_largest_result_still_arrives(begin: Begin, word: str) -> None:
    room = RESULT_TOKENS - estimate_tokens(json.dumps({"text": ""}))
    fitting = word * (room // estimate_tokens(word))
    kernel = await begin(_with(_instead, Done(text=fitting)))
    assert (await kernel.call("note_write")).text == fitting
    one_more = await begin(_with(_instead, Done(text=fitting + word * 2)))
    with pytest.raises(VrError, match="that a client takes"):
        await one_more.call("note_write")


# A state folder that cannot be written.


@pytest.mark.parametrize("records", [True, False])
async def test_without_a_journal_the_result_arrives_with_a_remark_and_is_not_cached(
    begin: Begin,
    environ: dict[str, str],
    tmp_path: Path,
    records: bool,
    capfd: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "file").write_text("in the way")
    blocked = environ | {"VR_STATE_DIR": str(tmp_path / "file" / "state")}

    async def body(call: Call) -> Done:
        if records:
            call.record(Record("Notes", {"text": "a"}, key="a"))
        call.keep("key", {"answer": 42})
        return Done(text="done")

    kernel = await begin(body, config=load_config(blocked, working_folder=tmp_path))
    outcome = await kernel.run("note_write", {})
    assert outcome.error is None
    assert outcome.data == {"text": "done"}
    errors = capfd.readouterr().err
    if records:
        (note,) = outcome.notes
        assert note.startswith("Not recorded: ")
        assert str(tmp_path / "file") in note
        assert await kernel.services.cache.get("key") is None
        assert "records not journalled" in errors
    else:
        assert outcome.notes == ()
        assert await kernel.services.cache.get("key") == {"answer": 42}
        assert errors == ""


async def test_a_result_that_is_nothing_without_its_records_fails_without_a_journal(
    begin: Begin, environ: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("in the way")
    blocked = environ | {"VR_STATE_DIR": str(tmp_path / "file")}

    async def body(call: Call) -> Done:
        call.record(Record("Notes", {"text": "a"}, key="a"), essential=True)
        call.record(Record("Notes", {"text": "b"}, key="b"))
        call.keep("key", {"answer": 42})
        return Done(text="done")

    kernel = await begin(body, config=load_config(blocked, working_folder=tmp_path))
    outcome = await kernel.run("note_write", {})
    assert outcome.result is None
    assert outcome.error is not None
    assert outcome.error.code == Code.UNAVAILABLE
    assert str(tmp_path / "file") in outcome.error.hint
    assert await kernel.services.cache.get("key") is None


async def test_recording_begins_again_when_the_journal_does(
    begin: Begin, environ: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("in the way")
    blocked = environ | {"VR_STATE_DIR": str(tmp_path / "file")}

    async def body(call: Call) -> Done:
        call.record(Record("Events", {"text": "a"}))
        return Done()

    kernel = await begin(body, config=load_config(blocked, working_folder=tmp_path))
    assert (await kernel.run("note_write", {})).notes
    (tmp_path / "file").unlink()
    assert not (await kernel.run("note_write", {})).notes
    assert len(await _changes(kernel)) == 1


# Two kernels in one process.


class NoteSettings(Section):
    """Settings of the plugin `note`."""

    greeting: Annotated[str, EnvAlias("GREETING")] = "none"


async def test_two_kernels_share_nothing(
    start: Any, make_plugin: Any, environ: dict[str, str], tmp_path: Path
) -> None:
    @tool(effects=WRITES_LOCAL)
    async def note_write(call: Call, text: str) -> Done:
        call.record(Record("Notes", {"text": text}, key="same key"))
        call.keep("same key", {"text": text})
        made = call.artifact(text.encode(), "text/plain")
        return Done(text=f"{call.settings.greeting} {call.workspace} {made.uri}")

    plugin = make_plugin([note_write], [NOTES], settings=NoteSettings)
    kernels, roots = [], []
    for name in ("one", "two"):
        roots.append(tmp_path / f"{name}-root")
        roots[-1].mkdir()
        (roots[-1] / "file").write_text(name)
        folders = {f"VR_{part}_DIR": str(tmp_path / name / part) for part in ("STATE", "CACHE")}
        own = {"GREETING": f"hello-{name}", "VR_STORE__WORKSPACE": name, "VR_LOG_LEVEL": "error"}
        config = load_config(environ | folders | own, working_folder=tmp_path)
        kernels.append(await start({"note": plugin}, config=config, roots=[roots[-1]]))

    calls = [kernel.call("note_write", text=str(number)) for number, kernel in enumerate(kernels)]
    results = await asyncio.gather(*calls)
    assert [result.text.split()[:2] for result in results] == [
        ["hello-one", "one"],
        ["hello-two", "two"],
    ]
    for number, kernel in enumerate(kernels):
        other = kernels[1 - number]
        (change,) = await _changes(kernel)
        assert change.fields["text"] == str(number)
        assert change.workspace == ("one", "two")[number]
        assert await kernel.services.cache.get("same key") == {"text": str(number)}
        uri = results[number].text.split()[2]
        assert kernel.services.artifacts.find(uri.rpartition("/")[2]).path.read_text() == str(
            number
        )
        with pytest.raises(VrError, match="No artifact"):
            other.services.artifacts.find(uri.rpartition("/")[2])
        with kernel.services.policy.open_file(roots[number] / "file"):
            pass
        with pytest.raises(VrError, match="outside"):
            other.services.policy.open_file(roots[number] / "file")
        assert kernel.settings["note"].greeting == ("hello-one", "hello-two")[number]
    await kernels[0].aclose()
    with pytest.raises(VrError, match="closed") as caught:
        await kernels[0].call("note_write", text="later")
    assert (caught.value.code, caught.value.category) == (Code.CONFLICT, "KERNEL_CLOSED")
    assert (await kernels[1].call("note_write", text="later")).text.startswith("hello-two")


async def test_a_kernel_answers_while_it_is_open(tmp_path: Path) -> None:
    folders = {f"VR_{name}_DIR": str(tmp_path / name) for name in ("CONFIG", "STATE", "CACHE")}
    opening = Kernel.open(load_config(folders), plugins={})
    for use in ("call", "run", "start"):
        with pytest.raises(VrError, match="not open yet") as caught:
            getattr(opening, use)("infra_plugins", {})
        assert "async with" in caught.value.hint
    assert not hasattr(opening, "tools")
    async with opening as kernel:
        assert await kernel.call("infra_plugins")
    (artifact,) = kernel.resources.values()
    for late in (
        kernel.call("infra_plugins"),
        kernel.run("infra_plugins", {}),
        kernel.read(artifact, {"name": "x"}),
    ):
        with pytest.raises(VrError, match="The kernel is closed") as caught:
            await late
        assert caught.value.category == "KERNEL_CLOSED"


class Measured(BaseModel):
    """A result with a number."""

    value: float


async def test_a_number_that_json_does_not_have_is_a_crash_that_records_nothing(
    start: Any, make_plugin: Any
) -> None:
    @tool(effects=READ_ONLY)
    async def note_measure(call: Call, value: float) -> Measured:
        call.record(Record("Notes", {"text": "measured"}))
        return Measured(value=value)

    kernel = await start({"note": make_plugin(tools=[note_measure], kinds=[NOTES])})
    for value in (float("nan"), float("inf")):
        outcome = await kernel.run("note_measure", {"value": value})
        assert outcome.error is not None
        assert outcome.error.code is Code.INTERNAL
    assert await _changes(kernel) == []


async def test_a_tool_that_is_cancelled_before_it_begins_never_does(begin: Begin) -> None:
    async def body(call: Call) -> Done:
        raise AssertionError("it began")

    kernel = await begin(body)
    calling = asyncio.create_task(kernel.run("note_write", {}))
    asyncio.get_running_loop().call_soon(calling.cancel)  # the call has begun, its tool has not
    with pytest.raises(asyncio.CancelledError):
        await calling
    gc.collect()
    await _require_untouched(kernel)


async def test_a_tool_has_its_own_time_limits(begin: Begin) -> None:
    async def body(call: Call) -> Done:
        try:
            async with asyncio.timeout(0.01):
                await asyncio.Event().wait()
        except TimeoutError:
            return Done(text="late")
        return Done()

    kernel = await begin(body)
    assert (await kernel.call("note_write")).text == "late"
