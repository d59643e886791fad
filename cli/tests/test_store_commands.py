"""`vr store`, with a store that does not take everything."""

from __future__ import annotations

import asyncio
from contextlib import closing
from pathlib import Path

import pytest
from command_fork import FreshVr
from gemini_service import rows_of
from plugin_zoo import Animal, Zoo
from vr_kernel import Change
from vr_kernel.journal.dead_letters import NAMESPACE, DeadLetters
from vr_kernel.state.sqlite.rows import SqliteRows

PICKY = '''
import os

from pydantic import BaseModel
from vr_kernel import Call, Code, Provider, Record, RecordField, RecordKind, Store, VrError
from vr_kernel import WRITES_LOCAL, hookimpl, tool
from vr_testing import MemoryStore


class Done(BaseModel):
    """Nothing to say."""


@tool(effects=WRITES_LOCAL)
async def picky_write(call: Call, text: str) -> Done:
    """Record a note."""
    call.record(Record("Notes", {"text": text}, key=text))
    return Done()


class PickyStore(MemoryStore):
    name = "picky"

    async def apply(self, changes):
        bad = any(change.fields and "bad" in change.fields["text"] for change in changes)
        if bad and "TAKES_ALL" not in os.environ:
            raise VrError("Not to my taste.", Code.INVALID_INPUT)
        if any(change.fields and "down" in change.fields["text"] for change in changes):
            raise VrError("Out of order.", Code.UNAVAILABLE)
        await super().apply(changes)


@hookimpl
def vr_tools():
    return [picky_write]


@hookimpl
def vr_record_kinds():
    return [RecordKind("Notes", "Notes.", (RecordField("text"),), rerank="text")]


@hookimpl
def vr_providers():
    return [Provider(Store, "embedded", lambda services: PickyStore(services.vectors))]
'''


@pytest.fixture
def zoo(tmp_path: Path) -> Zoo:
    return Zoo(tmp_path / "zoo").add(Animal("picky", PICKY))


@pytest.fixture
def vr(zoo: Zoo) -> FreshVr:
    return FreshVr(zoo.environment(), zoo.work)


def refuse_more(zoo: Zoo, count: int) -> None:
    """List as many records more, named `n0` and so on, as the one that was refused."""

    async def refuse() -> None:
        with closing(SqliteRows(zoo.folder / "state" / "rows.db")) as space:
            letters = DeadLetters(rows_of(space, NAMESPACE))
            for number in range(count):
                change = Change(number, "default", "Notes", f"n{number}", {}, {}, "")
                await letters.add("picky", change, ValueError("Not to my taste."), 5)

    asyncio.run(refuse())


def test_what_is_refused_is_listed_and_given_up_or_sent_again(vr: FreshVr, zoo: Zoo) -> None:
    assert vr.run("store", "failed").stdout == "The store took everything.\n"
    for text in ("good", "bad", "better"):
        assert vr.run("picky", "write", text).code == 0
    status = vr.run("store", "status", "--json").data
    assert (status["store"], status["refused"], status["pending"]) == ("picky", 1, 0)
    assert status["recorded"] == status["delivered"] == 3
    (refused,) = vr.run("store", "failed", "--json").data["refused"]
    assert (refused["kind"], refused["key"], refused["tries"]) == ("Notes", "bad", 5)
    assert refused["reason"] == "Not to my taste."
    assert "Not to my taste." in vr.run("store", "failed").stdout
    refuse_more(zoo, 1)
    assert vr.run("store", "drop", "n0", "--json").data == {"dropped": 1}
    sent = FreshVr(zoo.environment(TAKES_ALL="1"), zoo.work).run("store", "retry", "bad", "--json")
    assert sent.data == {"sent": 1, "refused": 0}
    assert vr.run("store", "failed").stdout == "The store took everything.\n"


@pytest.mark.slow
def test_a_long_list_is_sent_again_whole_and_may_be_refused_again(vr: FreshVr, zoo: Zoo) -> None:
    vr.run("picky", "write", "bad")
    assert vr.run("store", "status", "--json").data["refused"] == 1
    refuse_more(zoo, 1100)
    failed = vr.run("store", "failed")
    assert failed.stdout.count("Not to my taste.") == 1000
    assert "not shown: 101;" in failed.stderr
    assert len(vr.run("store", "failed", "--json").data["refused"]) == 1101
    assert vr.run("store", "retry", "--all", "--json").data == {"sent": 1101, "refused": 1}


@pytest.mark.slow
def test_a_store_that_takes_nothing_is_not_waited_for(vr: FreshVr) -> None:
    vr.run("picky", "write", "down")
    status = vr.run("store", "status")
    assert "pending: 1" in status.stdout
    assert "does not take what is pending: Out of order." in status.stderr


@pytest.mark.parametrize("verb", ["retry", "drop"])
def test_what_is_not_on_the_list_is_an_error(verb: str, vr: FreshVr) -> None:
    unknown = vr.run("store", verb, "nobody")
    assert (unknown.code, "did not refuse 'nobody'" in unknown.stderr) == (1, True)
    for arguments in ((), ("key", "--all")):
        wrong = vr.run("store", verb, *arguments)
        assert (wrong.code, "--all" in wrong.stderr) == (2, True)
