"""`vr cost`: the usage of models as a table and as JSON."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from command_fork import run_vr
from command_host import Ended
from plugin_zoo import Zoo
from vr_kernel import Usage, VrError
from vr_kernel.models.usage import UsageLedger
from vr_kernel.state.sqlite.usage import SqliteUsage
from vr_kernel.state.usage import Attempt
from zoo_animals import GOOD

FIRST = Attempt("call", "video_analyze", "video", "me", "gemini", "flash", "generate", 1)


def _fail(error: VrError) -> None:
    raise error


async def pay(
    ledger: UsageLedger, tokens: int = 1, *, cost_usd: float | None = None, **changes: Any
) -> int:
    row = await ledger.begin(replace(FIRST, **changes))
    await ledger.paid(row, "flash-001", Usage(calls=1, input_tokens=tokens, cost_usd=cost_usd))
    return row


def cost(zoo: Zoo, *arguments: str, **variables: str) -> Ended:
    return run_vr(zoo.environment(**variables), zoo.work, "cost", *arguments)


@pytest.fixture
def zoo(tmp_path: Path) -> Zoo:
    """An installation with a plugin that must not be imported."""
    return Zoo(tmp_path / "zoo").add(GOOD)


@pytest.fixture
async def used(zoo: Zoo) -> Zoo:
    """An installation that used two models."""
    with closing(UsageLedger(SqliteUsage(zoo.folder / "state" / "usage.db"), _fail)) as ledger:
        await pay(ledger, 1_234_567, cost_usd=1.25, media_seconds=61.4)
        await pay(ledger, 5, provider="ollama", tool="x\x1b[31m_y")
        row = await ledger.begin(replace(FIRST, number=2))
        await ledger.failed(row, code="NETWORK_ERROR", usage=None, maybe_paid=True)
    return zoo


def test_cost_is_an_aligned_table(used: Zoo) -> None:
    ended = cost(used)
    assert (ended.code, ended.stderr) == (0, "")
    *lines, remark = ended.stdout.splitlines()
    assert len({len(line) for line in lines}) == 1
    assert [line.split() for line in lines] == [
        [*["tool", "cost", "calls", "attempts", "in", "out", "media", "s", "maybe", "paid"]],
        ["video_analyze", "$1.25", "1", "2", "1,234,567", "0", "61", "1"],
        ["x_y", "?", "1", "1", "5", "0", "0", "0"],
        ["total", "≥", "$1.25", "2", "3", "1,234,572", "0", "61", "1"],
    ]
    assert "not known" in remark


def test_cost_by_model_is_json_without_loading_plugins(used: Zoo) -> None:
    ended = cost(used, "--by", "model", "--since", "2020-01-01", "--json")
    assert ended.code == 0
    data = json.loads(ended.stdout)
    assert [row["key"] for row in data["rows"]] == [
        "gemini/flash-001",
        "ollama/flash-001",
        "gemini/flash",
    ]
    assert data["total"]["input_tokens"] == 1_234_572
    assert used.imported() == set()


def test_cost_with_a_damaged_row_says_so_in_a_note(used: Zoo) -> None:
    with closing(sqlite3.connect(used.folder / "state" / "usage.db")) as connection, connection:
        connection.execute("UPDATE attempt SET tool = CAST(x'ff' AS TEXT) WHERE id = 1")
    ended = cost(used)
    assert (ended.code, "x_y" in ended.stdout) == (0, True)
    assert "Note: A row of usage.db is damaged" in ended.stderr
    assert "Error" not in ended.stderr


def test_cost_of_nothing_is_one_line(used: Zoo) -> None:
    ended = cost(used, "--since", "2999-01-01")
    assert (ended.code, ended.stdout) == (0, "No model was used since 2999-01-01.\n")
    ended = cost(used, VR_STATE_DIR=str(used.folder / "new"))
    assert (ended.code, ended.stdout) == (0, "No model was used yet.\n")


@pytest.mark.parametrize("arguments", [("--since", "yesterday"), ("--by", "hour"), ("--usd",)])
def test_cost_of_the_wrong_thing_is_a_usage_error(zoo: Zoo, arguments: tuple[str, ...]) -> None:
    ended = cost(zoo, *arguments)
    assert (ended.code, ended.stdout) == (2, "")
    assert arguments[0] in ended.stderr


def test_cost_of_a_ledger_that_cannot_be_read_is_a_failure(zoo: Zoo, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    ended = cost(zoo, VR_STATE_DIR=str(tmp_path / "file"))
    assert (ended.code, ended.stdout) == (1, "")
    assert "usage.db cannot be used" in ended.stderr
    assert "Hint: " in ended.stderr
