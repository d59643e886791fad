"""`knowledge_forget` through a real kernel: what goes, what stays, and what is asked."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from refined_kernels import EMBEDDED, ingest, knowledge_kernel
from vr_kernel import Code, VrError
from vr_kernel.questions import Action, Answer, Question, ask_nobody
from vr_kernel.state import Entry
from vr_plugin_knowledge import plugin as knowledge
from vr_plugin_knowledge.forgetting import MOST
from vr_plugin_knowledge.results import KnowledgeForgotten, KnowledgeObject
from vr_testing import TrialKernel, open_kernel

FOX = {
    "title": "The fox",
    "text": "A fox crossed the river.",
    "video_id": "v1",
    "url": "https://x/1",
}
OWL = {"title": "The owl", "text": "An owl slept.", "video_id": "v2"}
CARD = {"text": "The fox is a wild dog.", "category": "animals"}


class Person:
    """Answers what is asked, and remembers it."""

    def __init__(self, action: Action, **content: Any) -> None:
        self.answer = Answer(action, content)
        self.asked: list[str] = []

    async def __call__(self, question: Question, *, paid: bool) -> Answer:
        assert not paid
        self.asked.append(question.text)
        return self.answer


async def forget(
    kernel: TrialKernel, person: Person | None = None, **given: Any
) -> KnowledgeForgotten:
    outcome = await kernel.run("knowledge_forget", given, ask=person or ask_nobody)
    if outcome.error:
        raise outcome.error
    assert isinstance(outcome.result, KnowledgeForgotten)
    return outcome.result


async def exists(kernel: TrialKernel, collection: str, key: str) -> bool:
    found = await kernel.call("knowledge_fetch", object_id=key, collection=collection)
    assert isinstance(found, KnowledgeObject)
    return found.found


async def search(kernel: TrialKernel, query: str) -> list[str]:
    result = await kernel.call("knowledge_search", query=query)
    return [hit["object_id"] for hit in result.model_dump()["results"]]


async def backdate(kernel: TrialKernel, days: int, *keys: str) -> None:
    moment = (datetime.now(UTC) - timedelta(days=days)).isoformat(timespec="microseconds")
    entries = [Entry("Notes", key, {"text": f"old {key}", "created_at": moment}) for key in keys]
    seq = await kernel.services.journal.commit(entries, workspace="default", provenance={})
    kernel.services.store.wake(seq)


async def test_by_id_it_deletes_at_once_in_journal_and_store(tmp_path: Path) -> None:
    person = Person("accept", delete=False)
    async with knowledge_kernel(folder=tmp_path) as kernel:
        fox, owl = await ingest(kernel, "Notes", FOX, OWL)
        result = await forget(kernel, person, object_ids=[fox, "nobody"])
        assert (result.status, result.count, result.not_found) == ("deleted", 1, ["nobody"])
        assert result.collections[0].model_dump()["collection"] == "Notes"
        assert result.examples[0].title.startswith("The fox")
        assert result.examples[0].source == "v1"
        assert person.asked == []
        assert await search(kernel, "fox owl") == [owl]
        assert not await exists(kernel, "Notes", fox)
    async with knowledge_kernel(folder=tmp_path) as again:
        assert await search(again, "fox owl") == [owl]
        assert (await forget(again, object_ids=[fox])).status == "nothing_found"


@pytest.mark.parametrize("source", ["v1", "https://x/1"])
async def test_by_source_it_asks_first(source: str) -> None:
    async with knowledge_kernel() as kernel:
        fox, owl = await ingest(kernel, "Notes", FOX, OWL)
        no = Person("accept", delete=False)
        result = await forget(kernel, no, source=source)
        assert (result.status, result.count) == ("not_confirmed", 1)
        assert no.asked == ["Delete 1 record of Notes?"]
        assert await exists(kernel, "Notes", fox)
        yes = Person("accept", delete=True)
        assert (await forget(kernel, yes, source=source)).status == "deleted"
        assert not await exists(kernel, "Notes", fox)
        assert await exists(kernel, "Notes", owl)


async def test_who_declines_or_cannot_be_asked_loses_nothing() -> None:
    async with knowledge_kernel() as kernel:
        (fox,) = await ingest(kernel, "Notes", FOX)
        with pytest.raises(VrError) as declined:
            await forget(kernel, Person("decline"), source="v1")
        assert declined.value.code is Code.CANCELLED
        nobody = await forget(kernel, source="v1")
        assert nobody.status == "not_confirmed"
        assert "confirm=true" in nobody.notes[0]
        assert await exists(kernel, "Notes", fox)
        assert (await forget(kernel, source="v1", confirm=True)).status == "deleted"
        assert not await exists(kernel, "Notes", fox)


async def test_a_dry_run_shows_and_asks_nothing() -> None:
    person = Person("accept", delete=True)
    async with knowledge_kernel() as kernel:
        keys = await ingest(kernel, "Notes", *[FOX] * 7)
        result = await forget(kernel, person, source="v1", dry_run=True, confirm=True)
        assert (result.status, result.count, len(result.examples)) == ("dry_run", 7, 5)
        assert person.asked == []
        assert all([await exists(kernel, "Notes", key) for key in keys])
        assert (await forget(kernel, source="nowhere", dry_run=True)).status == "nothing_found"


async def test_by_age() -> None:
    async with knowledge_kernel() as kernel:
        for name, days in {"new": 0, "week": 7, "year": 365}.items():
            await backdate(kernel, days, name)
        steps = {"400d": {"new", "week", "year"}, "30d": {"new", "week"}, "3d": {"new"}}
        for older_than, left in steps.items():
            await forget(kernel, older_than=older_than, confirm=True)
            assert set(await search(kernel, "old")) == left


async def test_a_date_is_an_age_too() -> None:
    async with knowledge_kernel() as kernel:
        await ingest(kernel, "Notes", FOX)
        await backdate(kernel, 365, "year")
        yesterday = (datetime.now(UTC) - timedelta(days=1)).date().isoformat()
        assert (await forget(kernel, older_than=yesterday, confirm=True)).count == 1
        assert (await forget(kernel, older_than="2000-01-01", confirm=True)).count == 0


async def test_what_is_given_narrows_together() -> None:
    async with knowledge_kernel() as kernel:
        fox, owl = await ingest(kernel, "Notes", FOX, OWL)
        (card,) = await ingest(kernel, "Cards", CARD)
        assert (await forget(kernel, object_ids=[fox], source="v2")).count == 0
        assert (await forget(kernel, object_ids=[fox, card], collection="Cards")).count == 1
        assert await search(kernel, "fox owl") in ([fox, owl], [owl, fox])


async def test_another_workspace_keeps_its_records(tmp_path: Path) -> None:
    async with knowledge_kernel({"store.workspace": "other"}, folder=tmp_path) as other:
        (fox,) = await ingest(other, "Notes", FOX)
    async with knowledge_kernel(folder=tmp_path) as kernel:
        assert (await forget(kernel, source="v1", confirm=True)).count == 0
        assert (await forget(kernel, object_ids=[fox])).not_found == [fox]


async def test_records_of_a_plugin_that_is_gone_can_be_forgotten(tmp_path: Path) -> None:
    async with knowledge_kernel(folder=tmp_path) as kernel:
        (fox,) = await ingest(kernel, "Notes", FOX)
    plugins = {"knowledge": knowledge}
    async with open_kernel(plugins, settings=EMBEDDED, folder=tmp_path) as without:
        result = await forget(without, source="v1", confirm=True)
        assert (result.status, result.examples[0].object_id) == ("deleted", fox)


async def test_one_call_is_bounded() -> None:
    async with knowledge_kernel() as kernel:
        entries = [
            Entry("Notes", f"k{n}", {"text": "x", "video_id": "v1"}) for n in range(MOST + 3)
        ]
        await kernel.services.journal.commit(entries, workspace="default", provenance={})
        person = Person("accept", delete=False)
        result = await forget(kernel, person, source="v1")
        assert (result.count, result.remaining) == (MOST, 3)
        assert person.asked == [f"Delete {MOST:,} records of Notes?"]


UNSAID: list[tuple[dict[str, Any], str]] = [
    ({}, "which records"),
    ({"collection": "Notes"}, "which records"),
    ({"object_ids": [], "source": "", "confirm": True}, "which records"),
    ({"source": "v1", "collection": "Nots"}, "No collection"),
    ({"older_than": "yesterday"}, "no date"),
    ({"older_than": "-3d"}, "no date"),
    ({"object_ids": ["x"] * 201}, "object_ids"),
    ({"source": "x" * 3000}, "source"),
]


async def test_what_does_not_say_which_records() -> None:
    async with knowledge_kernel() as kernel:
        (fox,) = await ingest(kernel, "Notes", FOX)
        for arguments, message in UNSAID:
            with pytest.raises(VrError, match=message) as refused:
                await forget(kernel, **arguments)
            assert refused.value.code is Code.INVALID_INPUT
        assert await exists(kernel, "Notes", fox)
