"""`knowledge_conflicts` through a real kernel: claims that contradict, or only seem to."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hostile_texts import hostile_texts
from knowledge_samples import SampleKinds
from pydantic import BaseModel
from refined_kernels import EMBEDDED, ingest, knowledge_kernel
from vr_kernel import (
    WRITES_LOCAL,
    Call,
    Code,
    Record,
    RecordField,
    RecordKind,
    View,
    VrError,
    hookimpl,
    tool,
)
from vr_kernel.views import Claims, Prose, as_data, as_markdown, as_text
from vr_plugin_knowledge import plugin as knowledge
from vr_plugin_knowledge.results import KnowledgeConflict, KnowledgeConflicts
from vr_testing import TrialKernel, open_kernel

FINDINGS = RecordKind(
    "Findings",
    "Findings of a third party.",
    (
        RecordField("topic", searchable=True),
        RecordField("claim", vectorised=True, searchable=True),
        RecordField("evidence_tier", filterable=True),
        RecordField("source"),
        RecordField("link"),
        RecordField("page", "int"),
    ),
    rerank="claim",
    source="source",
    link="link",
    locator=("page",),
    derived=True,
)
TALKS = RecordKind(
    "Talks",
    "Talks, as a model sums them up.",
    (
        RecordField("name", vectorised=True, searchable=True),
        RecordField("summary", vectorised=True, searchable=True),
        RecordField("points", "text[]", vectorised=True, searchable=True),
        RecordField("keywords", "text[]", searchable=True),
        RecordField("address"),
    ),
    rerank="summary",
    source="address",
    title="name",
    derived=True,
)
FILM = "https://example.org/watch?v=1"


class Told(BaseModel):
    """Nothing."""


@tool(effects=WRITES_LOCAL)
async def talk_write(call: Call, points: list[str], links: dict[str, str]) -> Told:
    """Record a talk; the links are those of quotes on which it rests."""
    sources = [{"quote": quote, "link": link} for quote, link in links.items()]
    fields = {"name": "A talk on tea", "points": points, "address": FILM}
    call.record(Record("Talks", fields, None, {"sources": sources}))
    return Told()


OTHERS = {
    "others": SimpleNamespace(
        vr_record_kinds=hookimpl(lambda: [FINDINGS, TALKS]),
        vr_tools=hookimpl(lambda: [talk_write]),
    )
}
DOSE = "An adult may drink up to 400 milligrams of caffeine a day"
LESS = "An adult may drink up to 300 milligrams of caffeine a day"
HIGH = "The old harbour bridge is 120 metres high"
LOW = "The old harbour bridge is 90 metres high"


@asynccontextmanager
async def opened(
    settings: Mapping[str, Any] | None = None, folder: Path | None = None
) -> AsyncIterator[TrialKernel]:
    async with knowledge_kernel(settings, plugins=OTHERS, folder=folder) as kernel:
        yield kernel


async def conflicts(kernel: TrialKernel, **given: Any) -> KnowledgeConflicts:
    result = await kernel.call("knowledge_conflicts", **given)
    assert isinstance(result, KnowledgeConflicts)
    return result


async def found(kernel: TrialKernel, who: str, *claims: str) -> list[KnowledgeConflict]:
    """The contradictions among the claims of one client, who sees no others."""
    given = {"collection": "Findings", "properties": [{"claim": claim} for claim in claims]}
    assert (await kernel.run("knowledge_ingest", given, principal=who)).error is None
    outcome = await kernel.run("knowledge_conflicts", {}, principal=who)
    return KnowledgeConflicts.model_validate(outcome.data).conflicts


def texts(result: KnowledgeConflicts) -> list[tuple[str, str]]:
    return [(each.a.text, each.b.text) for each in result.conflicts]


CONTRADICTIONS = [
    ("number", DOSE, LESS),
    ("number", "A cold brew rests for twelve hours", "A cold brew rests for twenty hours"),
    ("number", "Die Brücke am Hafen ist 120 m hoch", "Die Brücke am Hafen ist 90 m hoch"),
    ("number", "这座旧港口大桥高120米", "这座旧港口大桥高90米"),
    ("date", "The harbour bridge was opened in 1998", "The harbour bridge was opened in 2001"),
    ("date", "The harbour bridge was opened in May", "The harbour bridge was opened in April"),
    ("scope", "Green tea harms the sleep of adults", "Green tea never harms the sleep of adults"),
]


async def test_numbers_dates_and_denials_that_cannot_both_hold_are_listed() -> None:
    async with opened() as kernel:
        for number, (kind, one, other) in enumerate(CONTRADICTIONS):
            (only,) = await found(kernel, f"client{number}", one, other)
            assert (only.kind, {only.a.text, only.b.text}) == (kind, {one, other})
            assert only.explanation


NEAR_MISSES = [
    ("The north tower is 120 metres high", "The south tower is 90 metres high"),
    ("In 2019 the city had 120,000 residents", "In 2020 the city had 140,000 residents"),
    ("The new tank holds 12.0 litres of water", "The new tank holds 12 litres of water"),
    ("The new tank holds 1000 litres of water", "The new tank holds 1,003 litres of water"),
    (f"{DOSE} [1].", f"{DOSE} [7, 12]."),
    (f"{DOSE} [C1].", f"{DOSE} [C7, C12]."),
    (f"{DOSE} (1:33).", f"{DOSE} (2:45)."),
    (f"{DOSE}: [study](https://example.org/12)", f"{DOSE}: [study](https://example.org/77)"),
    (f"[1:33] {DOSE}", f"[2:45] {DOSE}"),
    (f"1. {DOSE}", f"7. {DOSE}"),
    (f"# {HIGH}", f"# {LOW}"),
    (f"| {HIGH} |", f"| {LOW} |"),
    ("Is the old harbour bridge 120 metres high?", "Is the old harbour bridge 90 metres high?"),
    ("It costs students 12 euros a month", "It costs students 15 euros a month"),
    (DOSE, f"  {DOSE.upper()}. "),
    (DOSE, "Mice sleep for 300 minutes"),
    ("Tea costs 3", "Tea costs 4"),
]


async def test_claims_that_only_seem_to_contradict_are_not_listed() -> None:
    async with opened() as kernel:
        for number, (one, other) in enumerate(NEAR_MISSES):
            assert await found(kernel, f"client{number}", one, other) == [], (one, other)


async def test_a_claim_is_a_sentence_and_stands_where_its_record_says() -> None:
    async with opened() as kernel:
        sure = {"claim": f"Tea is old. {DOSE} [1]. See also approx. 12 others.", "page": 3}
        sure |= {"evidence_tier": "CONFIRMED", "source": "/a.pdf", "link": "file:///a.pdf#page=3"}
        (first,) = await ingest(kernel, "Findings", sure)
        (second,) = await ingest(kernel, "Talks", {"name": "Talk", "points": [LESS, "Tea is old"]})
        result = await conflicts(kernel)
    (only,) = result.conflicts
    assert (only.a.collection, only.a.object_id, only.a.text) == ("Findings", first, f"{DOSE} [1].")
    assert (only.a.evidence_tier, only.a.source) == ("CONFIRMED", "/a.pdf")
    assert (only.a.link, only.a.locator) == ("file:///a.pdf#page=3", {"page": 3})
    assert (only.b.collection, only.b.object_id, only.b.text) == ("Talks", second, LESS)
    assert only.a.created_at < only.b.created_at
    told = only.b.model_dump()
    assert not {"source", "link", "locator", "evidence_tier"} & told.keys()
    assert (result.compared, result.notes) == (4, [])


async def test_a_claim_that_a_record_rests_on_a_moment_for_opens_that_moment() -> None:
    links = {"Nothing of this kind": f"{FILM}&t=7s", LESS: "x:1"}
    async with opened() as kernel:
        await kernel.call("talk_write", points=[f"[1:33] {DOSE}", LESS], links=links)
        (only,) = (await conflicts(kernel)).conflicts
    opens = {only.a.text: only.a.link, only.b.text: only.b.link}
    assert opens == {DOSE: f"{FILM}&t=93s", LESS: "x:1"}


async def test_claims_of_one_record_are_compared_and_its_fields_may_repeat_each_other() -> None:
    async with opened() as kernel:
        (key,) = await ingest(kernel, "Talks", {"summary": f"{HIGH}. Tea is old.", "points": [LOW]})
        await ingest(kernel, "Talks", {"summary": f"{DOSE}.", "points": [DOSE], "keywords": [LESS]})
        (only,) = (await conflicts(kernel)).conflicts
    assert only.a.object_id == only.b.object_id == key


async def test_a_sentence_that_hangs_on_another_is_compared_within_its_source() -> None:
    one, other = "It costs students 12 euros a month", "It costs students 15 euros a month"
    async with opened() as kernel:
        await ingest(kernel, "Findings", {"claim": one, "source": "a"})
        await ingest(kernel, "Findings", {"claim": one, "source": "b"})
        await ingest(kernel, "Findings", {"claim": other, "source": "a"})
        (only,) = (await conflicts(kernel)).conflicts
    assert only.a.source == only.b.source == "a"


async def test_a_pair_is_told_once_however_many_records_repeat_it() -> None:
    async with opened() as kernel:
        for tier in ("INFERENCE", "CONFIRMED", "UNKNOWN"):
            await ingest(
                kernel,
                "Findings",
                {"claim": DOSE, "evidence_tier": tier},
                {"claim": LESS, "evidence_tier": tier},
            )
        (only,) = (await conflicts(kernel)).conflicts
    assert only.a.evidence_tier == only.b.evidence_tier == "CONFIRMED"


async def test_the_better_founded_come_first_then_the_newer_and_limit_says_what_is_left() -> None:
    pairs = [("Crows", "CONFIRMED"), ("Owls", None), ("Foxes", "SPECULATION"), ("Bears", None)]
    async with opened() as kernel:
        for name, tier in pairs:
            told = {"evidence_tier": tier} if tier else {}
            claim = f"{name} sleep for %s hours in the winter months"
            await ingest(kernel, "Findings", {"claim": claim % 3}, {"claim": claim % 9, **told})
        result = await conflicts(kernel)
        first = await conflicts(kernel, limit=1)
    order = [a.split()[0] for a, _ in texts(result)]
    assert order == ["Crows", "Foxes", "Bears", "Owls"]
    assert result.conflicts[0].a.evidence_tier == "CONFIRMED"
    assert texts(first) == texts(result)[:1]
    assert (result.notes, first.compared) == ([], 8)
    assert first.notes == ["Not shown: 3 more. Narrow it by query or collections."]


async def test_a_query_asks_about_a_subject(each_store: dict[str, Any]) -> None:
    async with opened(each_store) as kernel:
        await ingest(
            kernel,
            "Findings",
            {"topic": "coffee", "claim": DOSE},
            {"topic": "coffee", "claim": LESS},
            {"topic": "city", "claim": HIGH},
            {"topic": "city", "claim": LOW},
        )
        assert len((await conflicts(kernel)).conflicts) == 2
        await kernel.services.store.catch_up(60)  # a server under load makes a collection slowly
        coffee = await conflicts(kernel, query="coffee")
        nothing = await conflicts(kernel, query="submarine")
    (only,) = coffee.conflicts
    assert {only.a.text, only.b.text} == {DOSE, LESS}
    assert only.a.created_at
    assert coffee.compared == 2
    assert (nothing.conflicts, nothing.compared) == ([], 0)
    assert nothing.notes == ["No claims are recorded there."]


async def test_collections_choose_and_sources_are_compared_when_they_are_named() -> None:
    async with opened() as kernel:
        await ingest(kernel, "Findings", {"claim": DOSE})
        await ingest(kernel, "Talks", {"summary": HIGH, "points": [LOW]})
        await ingest(kernel, "Notes", {"title": "x", "text": f"{LESS}. {HIGH}."})
        assert {each.kind for each in (await conflicts(kernel)).conflicts} == {"number"}
        assert len((await conflicts(kernel)).conflicts) == 1
        assert not (await conflicts(kernel, collections=["Findings"])).conflicts
        both = await conflicts(kernel, collections=["Findings", "Notes"])
        every = await conflicts(kernel, collections=["all"])
        found_there = await conflicts(kernel, query="caffeine", collections=["Notes", "Findings"])
    assert len(both.conflicts) == len(found_there.conflicts) == 1
    assert {both.conflicts[0].a.collection, both.conflicts[0].b.collection} == {"Findings", "Notes"}
    assert len(every.conflicts) == 2


async def test_concepts_and_relations_are_no_claims_unless_they_are_asked_for() -> None:
    about = "A loop of the river that is %s km long"
    async with opened() as kernel:
        for number, name in enumerate(("Elbe", "Oder"), 3):
            concept = {"concept_name": name, "description": about % number}
            await ingest(kernel, "ConceptKnowledge", concept)
        assert (await conflicts(kernel)).compared == 0
        asked = await conflicts(kernel, collections=["ConceptKnowledge", "RelationshipEdges"])
    assert asked.compared == 2
    assert asked.notes == ["No field of these collections states claims: RelationshipEdges."]


REFUSED: list[dict[str, Any]] = [
    {"query": " "},
    {"query": "x" * 2001},
    {"collections": ["Findngs"]},
    {"limit": 0},
    {"limit": 101},
]


async def test_it_says_what_is_wrong_with_a_question() -> None:
    async with opened() as kernel:
        for given in REFUSED:
            with pytest.raises(VrError) as refused:
                await conflicts(kernel, **given)
            assert refused.value.code is Code.INVALID_INPUT
            assert refused.value.hint


async def test_an_empty_store_and_what_was_forgotten(each_store: dict[str, Any]) -> None:
    async with opened(each_store) as kernel:
        empty = await conflicts(kernel)
        assert (empty.conflicts, empty.compared) == ([], 0)
        assert empty.notes == ["No claims are recorded there."]
        keys = await ingest(kernel, "Findings", {"claim": DOSE}, {"claim": LESS})
        assert len((await conflicts(kernel)).conflicts) == 1
        await kernel.call("knowledge_forget", object_ids=keys[:1], collection="Findings")
        assert not (await conflicts(kernel)).conflicts


async def test_the_store_in_memory_and_no_store_at_all() -> None:
    plugins = {"knowledge": knowledge, "sample": SampleKinds(), **OTHERS}
    for settings in ({}, {**EMBEDDED, "store.embedder": "minilm"}):
        async with open_kernel(plugins, settings=settings) as kernel:
            await ingest(kernel, "Findings", {"claim": DOSE}, {"claim": LESS})
            for given in ({}, {"query": "caffeine"}):
                assert len((await conflicts(kernel, **given)).conflicts) == 1, (settings, given)


async def test_others_see_nothing_of_it(tmp_path: Path) -> None:
    async with opened({"store.workspace": "other"}, tmp_path) as other:
        await ingest(other, "Findings", {"claim": DOSE}, {"claim": LESS})
        assert len((await conflicts(other)).conflicts) == 1
    async with opened(folder=tmp_path) as kernel:
        await ingest(kernel, "Findings", {"claim": DOSE})
        given = {"collection": "Findings", "properties": [{"claim": LESS}, {"claim": HIGH}]}
        assert (await kernel.run("knowledge_ingest", given, principal="anna")).error is None
        for query in ({}, {"query": "caffeine bridge"}):
            mine = await conflicts(kernel, **query)
            theirs = (await kernel.run("knowledge_conflicts", query, principal="anna")).data
            assert (mine.conflicts, mine.compared) == ([], 1)
            assert (theirs["conflicts"], theirs["compared"]) == ([], 2)


async def test_the_newest_claims_are_compared_up_to_a_bound_and_a_query_reaches_the_rest() -> None:
    async with opened() as kernel:
        await ingest(kernel, "Talks", {"points": [DOSE]})
        for number in range(10):
            points = [f"{_word(500 * number + n)} is known to the zoo" for n in range(500)]
            await ingest(kernel, "Talks", {"points": points})
        await ingest(kernel, "Talks", {"points": [LESS, HIGH, LOW]})
        result = await conflicts(kernel)
        assert set(texts(await conflicts(kernel, query="caffeine"))) == {(HIGH, LOW), (LESS, DOSE)}
    assert result.compared == 5000
    assert texts(result) == [(HIGH, LOW)]
    assert result.notes[0].startswith("Only 5,000 claims were compared")


async def test_of_one_record_and_of_claims_that_are_all_alike_some_are_compared() -> None:
    long = " ".join(_word(number) for number in range(45))
    async with opened() as kernel:
        await ingest(
            kernel, "Talks", {"points": [f"{long} is {n} metres high" for n in range(600)]}
        )
        result = await conflicts(kernel, limit=3)
    assert result.compared == 500
    assert len(result.conflicts) == 3
    assert result.notes[0].startswith("Too many claims are alike")


async def test_many_records_of_others_in_the_journal_are_read_past() -> None:
    async with opened() as kernel:
        await ingest(kernel, "Findings", {"claim": DOSE})
        for _ in range(23):
            await ingest(kernel, "Cards", *({"text": f"card {n}"} for n in range(100)))
        await ingest(kernel, "Findings", {"claim": LESS})
        assert len((await conflicts(kernel)).conflicts) == 1


async def test_a_long_list_is_cut_to_what_an_answer_holds() -> None:
    async with opened() as kernel:
        for number in range(60):
            claim = f"{_word(number)} of the zoo sleeps for %s hours, {'and so on ' * 30}in winter"
            await ingest(kernel, "Talks", {"points": [claim % 3, claim % 9]})
        result = await conflicts(kernel, limit=100)
    assert 5 < len(result.conflicts) < 60
    assert result.notes == [
        f"Not shown: {60 - len(result.conflicts)} more. Narrow it by query or collections."
    ]
    assert len(result.model_dump_json()) < 20_000


async def test_hostile_texts_are_compared_and_shown_as_texts() -> None:
    bad = [text.encode(errors="ignore").decode() for text in hostile_texts()]
    walls = ["." * 100_000, "[" * 100_000, "- " * 50_000, f"{'a. ' * 30_000}", "1:33 " * 20_000]
    async with opened() as kernel:
        given = {"claim": f"{DOSE}\x1b]8;;x:y\x07\u202e", "source": "http://[::1", "link": bad[0]}
        await ingest(kernel, "Findings", given, {"claim": f"<b>{LESS}</b>"})
        for start in range(0, len(bad), 100):
            talks = ({"summary": each, "points": [each]} for each in bad[start : start + 100])
            await ingest(kernel, "Talks", *talks)
        await ingest(kernel, "Talks", {"points": walls})
        result = await conflicts(kernel, limit=100)
        view = await _view(kernel, result)
    assert "\x1b" not in result.model_dump_json()
    assert "\\u001b" not in result.model_dump_json()
    mine = [each for each in result.conflicts if "milligrams" in each.a.text]
    assert len(mine) == 1
    assert not any(sign in as_text(view) + as_markdown(view) for sign in "\x1b\x07\u202e")


async def test_a_view_has_both_claims_with_their_places() -> None:
    async with opened() as kernel:
        await kernel.call("talk_write", points=[LESS], links={LESS: f"{FILM}&t=93s"})
        link = "https://example.org/a.pdf#page=3"
        sure = {"claim": DOSE, "evidence_tier": "CONFIRMED", "source": "/docs/a.pdf", "link": link}
        (key,) = await ingest(kernel, "Findings", sure)
        await ingest(kernel, "Talks", {"points": [HIGH, LOW]})
        view = await _view(kernel, await conflicts(kernel))
        empty = await _view(kernel, await conflicts(kernel, collections=["Findings"]))
    assert (view.title, view.about) == ("2 contradictions", ("4 claims compared",))
    (block,) = view.blocks
    assert isinstance(block, Claims)
    first, second = block.items
    assert (first.text, first.tier) == (DOSE, "CONFIRMED")
    (place,) = [each.place for each in first.quotes]
    assert (place.address, place.label, place.page) == (link, "a.pdf", 3)
    (against,) = first.against
    assert (against.text, against.note) == (LESS, "another number")
    assert (against.place.label, against.place.start) == ("A talk on tea", 93)
    assert second.quotes[0].place.label.startswith("Talks/")
    assert key not in as_text(view)
    assert "a.pdf, page 3" in as_text(view)
    assert "A talk on tea, 1:33" in as_text(view)
    assert isinstance(empty.blocks[0], Prose)
    assert empty.title == "0 contradictions"


def _word(number: int) -> str:
    """A word that no other number has."""
    word = ""
    for _ in range(4):
        number, digit = divmod(number, 20)
        word += "bcdfghjklmnpqrstvwxz"[digit] + "aeiou"[digit % 5]
    return word.capitalize()


async def _view(kernel: TrialKernel, result: KnowledgeConflicts) -> View:
    view = await kernel.services.views.of_result(kernel.tools["knowledge_conflicts"], result)
    assert not [note for note in view.notes if "plain form" in note]
    assert as_data(view)["title"]
    return view
