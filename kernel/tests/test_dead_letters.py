"""Records that a store will not take are set aside; the others arrive, and nothing is lost."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from pydantic import BaseModel
from vr_kernel import (
    WRITES_LOCAL,
    Call,
    Change,
    Code,
    Kernel,
    Provider,
    Record,
    RecordField,
    RecordKind,
    Store,
    VrError,
    tool,
)
from vr_kernel.journal.delivery import TRIES
from vr_testing import MemoryStore
from waiting import until

NOTES = RecordKind("Notes", "Notes.", (RecordField("text", searchable=True),), rerank="text")
PAUSE_S = 0.001


class Done(BaseModel):
    """Nothing to say."""


@tool(effects=WRITES_LOCAL)
async def note_write(call: Call, texts: list[str]) -> Done:
    """Record notes under their own text."""
    call.record(*(Record("Notes", {"text": text}, key=text) for text in texts))
    return Done()


class PickyStore(MemoryStore):
    """Takes no record for which `wrong` gives an error."""

    name = "picky"

    def __init__(self, vectors: Any) -> None:
        super().__init__(vectors)
        self.wrong: Callable[[Change], Exception | None] = lambda _change: None
        self.asked: list[int] = []

    async def apply(self, changes: Sequence[Change]) -> None:
        self.asked.append(len(changes))
        for change in changes:
            if error := self.wrong(change):
                raise error
        await super().apply(changes)


def refuse(error: Exception) -> Callable[[Change], Exception | None]:
    return lambda change: error if change.fields and "bad" in change.fields["text"] else None


@pytest.fixture
async def begin(start: Any, make_plugin: Any) -> Any:
    stores: list[PickyStore] = []

    def build(services: Any) -> PickyStore:
        # One store for all kernels of a test, as a server would be.
        if not stores:
            stores.append(PickyStore(services.vectors))
        return stores[0]

    async def begin() -> Kernel:
        provider = Provider(Store, "embedded", build)
        kernel: Kernel = await start({"note": make_plugin([note_write], [NOTES], [provider])})
        kernel.services.store.follower.first_pause_s = PAUSE_S
        return kernel

    return begin


async def stored(kernel: Kernel, *keys: str) -> list[str]:
    found = [await kernel.services.store.get("Notes", key, "default") for key in keys]
    return [record.key for record in found if record]


REFUSED = VrError("Too long.", Code.TOO_LARGE, hint="Cut it.")


@pytest.mark.parametrize("error", [REFUSED, RuntimeError("boom")], ids=["typed", "crash"])
async def test_what_is_refused_again_and_again_is_set_aside(error: Exception, begin: Any) -> None:
    kernel: Kernel = await begin()
    store: PickyStore = kernel.services.providers.get(Store)
    store.wrong = refuse(error)
    await kernel.call("note_write", texts=["a", "b", "bad", "c", "d"])
    assert await kernel.services.store.catch_up(30) == 0
    assert await stored(kernel, "a", "b", "bad", "c", "d") == ["a", "b", "c", "d"]
    (refusal,) = await kernel.services.store.dead_letters()
    assert (refusal.kind, refusal.key, refusal.tries) == ("Notes", "bad", TRIES)
    assert ("Too long. Cut it." if error is REFUSED else "boom") in refusal.reason
    status = await kernel.services.store.status()
    assert (status.store, status.refused) == ("picky", 1)
    assert status.delivered == status.recorded
    assert len(await kernel.services.journal.changes(0)) == 5, "the journal has it still"


async def test_a_refused_record_is_sent_again_when_asked(begin: Any) -> None:
    kernel: Kernel = await begin()
    store: PickyStore = kernel.services.providers.get(Store)
    store.wrong = refuse(REFUSED)
    await kernel.call("note_write", texts=["bad", "worse and bad", "good"])
    await kernel.services.store.catch_up(30)
    store.wrong = lambda _change: None
    refused = await kernel.services.store.dead_letters()
    assert [each.key for each in refused] == ["worse and bad", "bad"], "the latest first"
    await kernel.services.store.retry(refused[1:])
    await kernel.services.store.catch_up(30)
    assert await stored(kernel, "bad", "worse and bad", "good") == ["bad", "good"]
    await kernel.services.store.give_up(await kernel.services.store.dead_letters())
    assert await kernel.services.store.dead_letters() == []
    assert await stored(kernel, "worse and bad") == []


async def test_a_newer_version_that_is_taken_leaves_the_list(begin: Any) -> None:
    kernel: Kernel = await begin()
    store: PickyStore = kernel.services.providers.get(Store)
    store.wrong = refuse(REFUSED)
    await kernel.call("note_write", texts=["bad"])
    await kernel.services.store.catch_up(30)
    store.wrong = lambda _change: None
    await kernel.call("note_write", texts=["bad"])
    await kernel.services.store.catch_up(30)
    assert (await stored(kernel, "bad"), await kernel.services.store.dead_letters()) == (
        ["bad"],
        [],
    )


async def test_an_outage_is_no_refusal(begin: Any) -> None:
    kernel: Kernel = await begin()
    store: PickyStore = kernel.services.providers.get(Store)
    store.wrong = lambda _change: VrError("Away.", Code.UNAVAILABLE, retryable=True)
    await kernel.call("note_write", texts=["a", "b"])
    await until(lambda: len(store.asked) > TRIES - 2)
    assert set(store.asked) == {2}, "what is no fault of the records is not tried one by one"
    assert await kernel.services.store.dead_letters() == []
    store.wrong = lambda _change: None
    assert await kernel.services.store.catch_up(30) == 0
    assert await stored(kernel, "a", "b") == ["a", "b"]


async def test_an_outage_is_told_once(begin: Any, capfd: pytest.CaptureFixture[str]) -> None:
    kernel: Kernel = await begin()
    store: PickyStore = kernel.services.providers.get(Store)
    for outage in ("Away.", "Gone."):
        reason = VrError(outage, Code.UNAVAILABLE, retryable=True)
        store.wrong = lambda _change, reason=reason: reason
        tried = len(store.asked)
        await kernel.call("note_write", texts=[outage])
        await until(lambda before=tried: len(store.asked) > before + 2)
    logged = capfd.readouterr().err
    assert (logged.count("Away."), logged.count("Gone.")) == (1, 1)


async def test_a_store_that_takes_nothing_at_all_is_not_the_records_fault(begin: Any) -> None:
    kernel: Kernel = await begin()
    store: PickyStore = kernel.services.providers.get(Store)
    store.wrong = lambda _change: RuntimeError("I am broken")
    await kernel.call("note_write", texts=["a", "b", "c"])
    await until(lambda: len(store.asked) > 2 * TRIES)
    assert len(await kernel.services.store.dead_letters()) <= 1
    store.wrong = lambda _change: None
    assert await kernel.services.store.catch_up(60) == 0
    assert await stored(kernel, "a", "b", "c") == ["a", "b", "c"]
    assert await kernel.services.store.dead_letters() == []
