"""The usage ledger: what was reported to it adds up, whatever happens to its file."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from vr_kernel import VrError
from vr_kernel.builtin.usage import LISTED_ROWS, infra_usage
from vr_kernel.generation import Usage
from vr_kernel.models.usage import Meter, UsageLedger
from vr_kernel.spending.reports import make_report
from vr_kernel.state.sqlite.usage import SqliteUsage
from vr_kernel.state.usage import Attempt, UsageRow
from vr_kernel.tools import build_tool

TOKENS = ("input_tokens", "output_tokens", "thinking_tokens", "cached_tokens")
Warnings = list[VrError]


@pytest.fixture
def warnings() -> Warnings:
    return []


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state" / "usage.db"


@pytest.fixture
def ledger(path: Path, warnings: Warnings) -> Iterator[UsageLedger]:
    with closing(UsageLedger(SqliteUsage(path), warnings.append)) as ledger:
        yield ledger


def attempt(**changes: Any) -> Attempt:
    usual = Attempt("call", "video_analyze", "video", "me", "gemini", "flash", "generate", 1)
    fields = {name: getattr(usual, name) for name in Attempt.__dataclass_fields__}
    return Attempt(**{**fields, **changes})


def execute(path: Path, statement: str) -> None:
    """As another process would."""
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(statement)


async def pay(ledger: UsageLedger, tokens: int = 1, **changes: Any) -> int:
    row = await ledger.begin(attempt(**changes))
    await ledger.paid(row, "flash-001", Usage(calls=1, input_tokens=tokens))
    return row


# Sums.

usages = st.builds(Usage, **{name: st.integers(0, 10**9) for name in TOKENS})
attempts = st.builds(
    attempt,
    tool=st.sampled_from(["a_x", "b_y", "a_z"]),
    plugin=st.sampled_from(["a", "b"]),
    provider=st.sampled_from(["gemini", "ollama"]),
    model=st.sampled_from(["pro", "flash"]),
    number=st.integers(1, 3),
    media_seconds=st.integers(0, 9000).map(float),
)
ends = st.one_of(
    st.tuples(st.just("paid"), usages),
    st.tuples(st.just("free"), st.none()),
    st.tuples(st.just("failed and paid"), usages.filter(lambda usage: usage != Usage())),
    st.tuples(st.just("maybe_paid"), st.none() | usages),
    st.tuples(st.just("sent"), st.none()),
)


@settings(max_examples=25, deadline=None)
@given(made=st.lists(st.tuples(attempts, ends), max_size=12))
def test_every_grouping_adds_up_to_what_was_reported(
    tmp_path_factory: pytest.TempPathFactory, made: list[tuple[Attempt, tuple[str, Any]]]
) -> None:
    path = tmp_path_factory.mktemp("ledger") / "usage.db"

    async def check() -> None:
        with closing(UsageLedger(SqliteUsage(path), _fail)) as ledger:
            await asyncio.gather(*(_report(ledger, *one) for one in made))
            known = [usage for _, (_, usage) in made if usage is not None]
            paid = [end for _, (end, _) in made if end in ("paid", "failed and paid")]
            for by in ("tool", "day", "model", "plugin"):
                rows = await ledger.report(by)
                total = make_report(by, rows).total
                assert total.attempts == len(made)
                assert total.calls == len(paid)
                assert total.maybe_paid == sum(end == "maybe_paid" for _, (end, _) in made)
                assert total.media_seconds == sum(one.media_seconds for one, _ in made)
                for name in TOKENS:
                    assert getattr(total, name) == sum(getattr(usage, name) for usage in known)
            by_tool = {row.key: row.attempts for row in await ledger.report("tool")}
            tools = [one.tool for one, _ in made]
            assert by_tool == {tool: tools.count(tool) for tool in tools}

    asyncio.run(check())


async def _report(ledger: UsageLedger, made: Attempt, ended: tuple[str, Any]) -> None:
    end, usage = ended
    row = await ledger.begin(made)
    assert row > 0
    if end == "paid":
        await ledger.paid(row, made.model, usage)
    elif end != "sent":
        await ledger.failed(row, code="X", usage=usage, maybe_paid=end == "maybe_paid")


def _fail(error: VrError) -> None:
    raise AssertionError(error)


# What happens to the file.


async def test_in_a_folder_that_cannot_be_written_nothing_begins_and_ends_are_one_warning(
    tmp_path: Path, warnings: Warnings
) -> None:
    (tmp_path / "file").write_text("in the way")
    table = SqliteUsage(tmp_path / "file" / "usage.db")
    with closing(UsageLedger(table, warnings.append)) as ledger:
        for _ in range(3):
            await ledger.paid(1, "flash", Usage(input_tokens=1))
            await ledger.failed(7, code="X", usage=None, maybe_paid=False)
        assert [warning.code for warning in warnings] == ["UNAVAILABLE"]
        for refused in (ledger.begin(attempt()), ledger.report("tool"), ledger.recent(1)):
            with pytest.raises(VrError, match=r"usage\.db"):
                await refused


@pytest.mark.parametrize("moment", ["before it is opened", "while it is open"])
async def test_a_damaged_file_is_set_aside_with_a_warning(
    path: Path, warnings: Warnings, moment: str
) -> None:
    path.parent.mkdir()
    with closing(UsageLedger(SqliteUsage(path, tell=warnings.append), _fail)) as ledger:
        if moment == "while it is open":
            await pay(ledger, 99)
            execute(path, "PRAGMA wal_checkpoint(TRUNCATE)")
            execute(path, "DROP TABLE attempt")
        else:
            path.write_bytes(b"no database at all" * 99)  # noqa: ASYNC240
        await pay(ledger, 5)
        await pay(ledger, 6)
        assert [row.input_tokens for row in await ledger.report("tool")] == [11]
        (remark,) = ledger.remarks()
    (warning,) = warnings
    assert "was damaged" in warning.message
    (aside,) = await asyncio.to_thread(lambda: list(path.parent.glob("usage.db.damaged-*")))
    assert str(aside) in warning.hint
    assert aside.name in remark


async def test_a_file_that_comes_back_is_written_again(tmp_path: Path, warnings: Warnings) -> None:
    block = tmp_path / "state"
    block.write_text("in the way")
    with closing(UsageLedger(SqliteUsage(block / "usage.db"), warnings.append)) as ledger:
        with pytest.raises(VrError):
            await ledger.begin(attempt())
        block.unlink()
        await pay(ledger, 3)
        assert [row.attempts for row in await ledger.report("tool")] == [1]
    assert warnings == []


WRITER = """
import asyncio, pathlib, sys
from vr_kernel.generation import Usage
from vr_kernel.models.usage import UsageLedger
from vr_kernel.state.sqlite.usage import SqliteUsage
from vr_kernel.state.usage import Attempt

async def main():
    ledger = UsageLedger(SqliteUsage(pathlib.Path(sys.argv[1])), lambda error: sys.exit(str(error)))
    async def one(number):
        made = Attempt(f"{sys.argv[2]}-{number}", "t_x", "t", "me", "p", "m", "generate", 1)
        row = await ledger.begin(made)
        await ledger.paid(row, "m", Usage(calls=1, input_tokens=number, cached_tokens=1))
    print("ready", flush=True)
    sys.stdin.readline()
    await asyncio.gather(*(one(number) for number in range(100)))
    ledger.close()

asyncio.run(main())
"""


async def test_two_processes_write_and_nothing_is_lost_or_mixed(
    ledger: UsageLedger, path: Path
) -> None:
    def write() -> None:
        command = [sys.executable, "-c", WRITER, str(path)]
        pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        writers = [subprocess.Popen([*command, name], **pipes) for name in "ab"]
        assert [writer.stdout.readline() for writer in writers if writer.stdout] == ["ready\n"] * 2
        for writer in writers:
            writer.communicate("go\n")
        assert [writer.returncode for writer in writers] == [0, 0]

    await asyncio.to_thread(write)
    assert await ledger.report("tool") == [
        UsageRow(
            key="t_x",
            calls=200,
            attempts=200,
            input_tokens=9900,
            cached_tokens=200,
            unpriced=200,
        )
    ]
    seen = {(one.call_id, one.usage.input_tokens) for one in await ledger.recent(1000)}
    assert seen == {(f"{name}-{number}", number) for name in "ab" for number in range(100)}


@pytest.mark.slow
async def test_a_row_is_cheap(ledger: UsageLedger) -> None:
    await pay(ledger)
    begun = time.perf_counter()
    for _ in range(100):
        await pay(ledger)
    assert (time.perf_counter() - begun) / 100 < 0.05  # ten times and more of what is usual


# One call.


def test_a_meter_sums_and_names_each_model_once() -> None:
    meter = Meter(call_id="c", tool="t_x", plugin="t", principal="me")
    meter.add(Usage(calls=1, input_tokens=2), "gemini/flash")
    meter.add(Usage(output_tokens=3))
    meter.add(Usage(calls=1, input_tokens=5, thinking_tokens=1), "gemini/flash")
    meter.add(Usage(), "gemini/pro")
    assert meter.usage == Usage(calls=2, input_tokens=7, output_tokens=3, thinking_tokens=1)
    assert meter.models == ["gemini/flash", "gemini/pro"]
    other = Meter(call_id="d", tool="t_x", plugin="t", principal="me")
    assert (other.usage, other.models) == (Usage(), [])


# The tool and the command.


async def test_the_tool_reports_most_rows_and_the_whole_total(ledger: UsageLedger) -> None:
    produced = SimpleNamespace(context=SimpleNamespace(usage=ledger))
    services = SimpleNamespace(usage=ledger)
    call: Any = SimpleNamespace(services=services, principal="me", _produced=produced)
    assert (await infra_usage(call)).model_dump(include={"by", "rows", "left_out"}) == {
        "by": "tool",
        "rows": [],
        "left_out": 0,
    }
    count = LISTED_ROWS + 3
    for number in range(count):
        await pay(ledger, number, tool=f"t_{number}")
    await pay(ledger, 10**6, principal="somebody else")
    report = await infra_usage(call)
    assert [row.input_tokens for row in report.rows] == list(range(count - 1, 2, -1))
    assert (report.left_out, report.total.calls) == (3, count)
    assert report.total.input_tokens == sum(range(count))
    today = datetime.now(UTC).date()
    assert (await infra_usage(call, by="day", since=today - timedelta(days=1))).total.calls == count
    assert (await infra_usage(call, since=today + timedelta(days=1))).total.calls == 0


def test_the_tool_takes_a_date_and_a_known_grouping() -> None:
    built = build_tool(infra_usage, "infra")
    assert built.validate({"since": "2026-03-01"}) == {"by": "tool", "since": date(2026, 3, 1)}
    for wrong in ({"by": "hour"}, {"since": "yesterday"}):
        with pytest.raises(VrError, match=next(iter(wrong))):
            built.validate(wrong)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
async def test_a_file_that_may_only_be_read_is_not_set_aside(tmp_path: Path) -> None:
    path = tmp_path / "usage.db"
    with closing(UsageLedger(SqliteUsage(path), _fail)) as ledger:
        await pay(ledger, 5)
    path.chmod(0o400)
    with closing(UsageLedger(SqliteUsage(path), _fail)) as ledger:
        with pytest.raises(VrError, match=r"usage\.db"):
            await pay(ledger, 6)
        assert [row.input_tokens for row in await ledger.report("tool")] == [5]
    assert not await asyncio.to_thread(lambda: list(tmp_path.glob("*.damaged-*")))
