"""The store on a Weaviate server, where the contract of all stores does not reach."""

from __future__ import annotations

import asyncio
import random
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from knowledge_samples import CARDS, NOTES, Ledger, WordVectors, all_plugins
from vr_kernel import Code, Config, Kernel, Query, RecordField, RecordKind, VrError, load_config
from vr_kernel.stores import Filter
from vr_testing import MemoryStore
from weaviate_samples import deliver, found, opened, settings_of, settle
from weaviate_server import WeaviateServer

pytestmark = [pytest.mark.slow]
FOLDERS = ("STATE", "CACHE", "CONFIG")
SEED = RecordKind(
    "VideoAnalyses",
    "Analyses.",
    (
        RecordField("video_id", filterable=True),
        RecordField("title", vectorised=True, searchable=True),
        RecordField("key_points", "text[]", vectorised=True, searchable=True),
        RecordField("stars", "int", filterable=True, range=True),
        RecordField("duration", description="In words"),
    ),
    rerank="title",
)


async def make_seed_collection(store) -> dict[str, list[float]]:
    """A collection as the first seed made it, with its own vectors; returns these by UUID."""
    from weaviate.classes.config import Configure, DataType, Property
    from weaviate.classes.data import DataObject

    client = await store._connection.client()
    name = store._layout._name(SEED.name)
    await client.collections.create(
        name,
        properties=[
            Property(name="video_id", data_type=DataType.TEXT),
            Property(name="title", data_type=DataType.TEXT),
            Property(name="key_points", data_type=DataType.TEXT_ARRAY),
            Property(name="stars", data_type=DataType.INT),
            Property(name="duration", data_type=DataType.NUMBER),
            Property(name="created_at", data_type=DataType.DATE),
            Property(name="note_of_another", data_type=DataType.TEXT),
        ],
        vector_config=Configure.Vectors.self_provided(),
    )
    vectors = {str(uuid4()): [float(number), 1.0, 0.0] for number in range(40)}
    objects = [
        DataObject(
            uuid=uuid,
            properties={
                "video_id": f"vid-{number}",
                "title": f"fox number {number}",
                "key_points": ["running foxes"],
                "stars": number,
                "created_at": "2025-05-05T05:05:05Z",
                "note_of_another": "mine",
            },
            vector=vector,
        )
        for number, (uuid, vector) in enumerate(vectors.items())
    ]
    done = await client.collections.use(name).data.insert_many(objects)
    assert not done.has_errors
    return vectors


async def test_collections_of_the_seed_are_taken_over(weaviate: WeaviateServer, tmp_path: Path):
    settings = settings_of(weaviate, "Seed_")
    async with opened(settings, tmp_path, kinds=()) as store:
        theirs = await make_seed_collection(store)
        first = next(iter(theirs))
        await store.open([SEED])
        await settle(store)
        assert await store.count(SEED.name, "default") == {"": 40}
        assert await found(store, "running", limit=99)
        assert first in await found(store, "fox", "semantic", limit=99)
        assert await found(store, "fox", "hybrid", Filter("video_id", "=", "vid-0")) == [first]
        assert await found(store, "fox", "keyword", Filter("stars", ">", 37), limit=9)
        record = await store.get(SEED.name, first, "default")
        assert record is not None
        assert record.fields == {
            "video_id": "vid-0",
            "title": "fox number 0",
            "key_points": ["running foxes"],
            "stars": 0,
            "created_at": "2025-05-05T05:05:05.000000+00:00",
        }
        assert len(await store.near(SEED.name, first, "default", 5)) == 5
        assert await store.count(SEED.name, "default", "created_at") == {"2025-05-05": 40}
        ledger = Ledger()
        ledger.write(SEED.name, "ours", {"title": "fox of ours", "duration": "long"})
        ledger.write(SEED.name, first, {"title": "fox, written again"})
        ledger.write(SEED.name, "x", {"title": "fox elsewhere"}, workspace="team")
        await deliver(store, ledger)
        assert await store.count(SEED.name, "default") == {"": 41}
        assert await found(store, "elsewhere", workspace="team") == ["x"]
        assert await found(store, "elsewhere") == []
        ours = await store.get(SEED.name, "ours", "default")
        assert ours is not None
        assert ours.fields["duration"] == "long", "a property of another type is kept beside it"
        client = await store._connection.client()
        names = await client.collections.list_all()
        assert {"Seed_VideoAnalyses", "Seed_VideoAnalyses_Workspaces"} <= set(names)
        handle = client.collections.use("Seed_VideoAnalyses")
        for uuid in list(theirs)[1:]:
            kept = await handle.query.fetch_object_by_id(uuid, include_vector=True)
            assert kept.vector["default"] == theirs[uuid]
            assert kept.properties["note_of_another"] == "mine"
    async with opened(settings, tmp_path / "another", kinds=(SEED,)) as again:
        assert await found(again, "elsewhere", workspace="team") == ["x"]


async def test_a_kind_that_changes_is_indexed_anew(weaviate: WeaviateServer, tmp_path: Path):
    settings = settings_of(weaviate, "Grown_")
    ledger = Ledger()
    ledger.write(CARDS.name, "a", {"text": "fox", "category": "violin"})
    async with opened(settings, tmp_path) as store:
        await deliver(store, ledger)
        assert await found(store, "violin") == []
    drawer = replace(CARDS.field("category"), searchable=True, vectorised=True)
    changed = replace(CARDS, fields=(CARDS.fields[0], drawer))
    async with opened(settings, tmp_path, kinds=(changed,)) as store:
        await settle(store)
        assert await found(store, "violin") == ["a"]


async def test_records_of_a_kind_whose_plugin_was_away_are_found_when_it_is_back(
    weaviate: WeaviateServer, tmp_path: Path
):
    settings = settings_of(weaviate, "Away_")
    ledger = Ledger()
    ledger.write(NOTES.name, "n", {"title": "fox", "stars": 4})
    ledger.write(NOTES.name, "no date", {"title": "fox", "stars": 5, "due": "not a date"})
    async with opened(settings, tmp_path, kinds=(CARDS,)) as store:
        await deliver(store, ledger)
    async with opened(settings, tmp_path) as store:
        await settle(store)
        for mode in ("keyword", "semantic"):
            assert await found(store, "fox", mode, Filter("stars", "=", 4)) == ["n"]
        assert set(await found(store, "fox")) == {"n", "no date"}


async def test_another_embedder_makes_vectors_of_its_own(weaviate: WeaviateServer, tmp_path: Path):
    settings = settings_of(weaviate, "Model_")
    ledger = Ledger()
    for number in range(70):
        ledger.write(CARDS.name, f"k{number}", {"text": f"fox {number}"})
    async with opened(settings, tmp_path) as store:
        await deliver(store, ledger)
    other = WordVectors("words-2")
    async with opened(settings, tmp_path, other) as store:
        assert await store.pending_vectors() > 0
        await settle(store)
        assert len(set(other.embedded)) == 70
        assert len(await found(store, "fox", "semantic", limit=99)) == 70


async def test_text_is_found_while_the_embedder_is_away(weaviate: WeaviateServer, tmp_path: Path):
    vectors = WordVectors()
    vectors.outage = True
    ledger = Ledger()
    ledger.write(CARDS.name, "a", {"text": "fox"})
    async with opened(settings_of(weaviate, "Late_"), tmp_path, vectors) as store:
        await store.apply(ledger.after(0))
        assert await found(store, "fox") == ["a"]
        assert await store.pending_vectors() == 1
        assert await found(store, "fox", "semantic") == []
        vectors.outage = False
        await settle(store)
        assert await found(store, "fox", "semantic") == ["a"]


async def test_a_text_that_cannot_be_embedded_holds_up_nothing(
    weaviate: WeaviateServer, tmp_path: Path
):
    vectors = WordVectors()
    vectors.refused = {"poison"}
    ledger = Ledger()
    for number, text in enumerate(["fox", "poison", "owl"]):
        ledger.write(CARDS.name, f"k{number}", {"text": text})
    async with opened(settings_of(weaviate, "Poison_"), tmp_path, vectors) as store:
        await deliver(store, ledger)
        assert await found(store, "poison") == ["k1"]
        assert set(await found(store, "fox", "semantic")) == {"k0", "k2"}


async def test_two_programs_deliver_one_journal(weaviate: WeaviateServer, tmp_path: Path):
    """Each with batches of its own; a stale one turns nothing back, nor does the cursor go back."""
    settings = settings_of(weaviate, "Two_")
    ledger = Ledger()
    old = [ledger.write(CARDS.name, f"k{n}", {"text": "fox"}) for n in range(60)]
    new = [ledger.write(CARDS.name, f"k{n}", {"text": "owl"}) for n in range(0, 60, 2)]
    async with opened(settings, tmp_path) as one, opened(settings, tmp_path) as two:
        await asyncio.gather(one.apply([*old, *new]), two.apply(old), two.apply(old[:9]))
        assert await one.cursor() == await two.cursor() == len(old) + len(new)
        assert len(await found(two, "owl", limit=99)) == 30
        await two.apply(old)
        assert len(await found(one, "fox", limit=99)) == 30
        assert await one.count(CARDS.name, "default") == {"": 60}


async def test_journals_of_two_machines_fill_one_server(weaviate: WeaviateServer, tmp_path: Path):
    """Each has a cursor of its own, whatever their sequence numbers are."""
    settings = settings_of(weaviate, "Machines_")
    here, there = Ledger(), Ledger()
    for number in range(30):
        here.write(CARDS.name, f"here{number}", {"text": "fox"})
    there.write(CARDS.name, "there", {"text": "fox"})
    async with (
        opened(settings, tmp_path / "here") as one,
        opened(settings, tmp_path / "there") as two,
    ):
        await deliver(one, here)
        assert await two.cursor() == 0
        await deliver(two, there)
        assert (await one.cursor(), await two.cursor()) == (30, 1)
        assert await one.count(CARDS.name, "default") == {"": 31}


async def test_one_machine_forgets_what_another_recorded(weaviate: WeaviateServer, tmp_path: Path):
    def machine(name: str) -> Config:
        folders = {f"VR_{part}_DIR": str(tmp_path / name / part) for part in FOLDERS}
        given = {
            "VR_STORE__BACKEND": "weaviate",
            "VR_STORE__EMBEDDER": "words",
            "VR_KNOWLEDGE__WEAVIATE_URL": weaviate.url,
            "WEAVIATE_GRPC_PORT": str(weaviate.grpc_port),
            "VR_KNOWLEDGE__WEAVIATE_PREFIX": "Forget_",
        }
        return load_config({**folders, **given}, working_folder=tmp_path)

    there, here = machine("there"), machine("here")
    async with Kernel.open(there, all_plugins()) as one, Kernel.open(here, all_plugins()) as two:
        note = {"title": "The fox", "text": "A fox.", "video_id": "v1"}
        made: Any = await one.call("knowledge_ingest", collection="Notes", properties=[note])
        assert await one.services.store.catch_up(30) == 0
        fetch = {"object_id": made.object_ids[0], "collection": "Notes"}
        seen: Any = await two.call("knowledge_fetch", **fetch)
        assert seen.found
        ids = [made.object_ids[0], "nobody"]
        other: Any = await two.call("knowledge_forget", object_ids=ids, source="v2")
        assert other.status == "nothing_found"
        result: Any = await two.call("knowledge_forget", object_ids=ids)
        assert (result.status, result.count, result.not_found) == ("deleted", 1, ["nobody"])
        assert "another machine" in result.notes[0]
        seen = await two.call("knowledge_fetch", **fetch)
        assert not seen.found


async def test_a_replay_after_a_lost_cursor_makes_no_second_record(
    weaviate: WeaviateServer, tmp_path: Path
):
    settings = settings_of(weaviate, "Replay_")
    ledger = Ledger()
    for number in range(20):
        ledger.write(CARDS.name, f"k{number}", {"text": "fox"})
    async with opened(settings, tmp_path) as store:
        await deliver(store, ledger)
    for file in (tmp_path / "state").glob("rows.db*"):
        file.unlink()
    async with opened(settings, tmp_path) as store:
        assert await store.cursor() == 0
        await deliver(store, ledger)
        assert await store.count(CARDS.name, "default") == {"": 20}


ODD = [
    "v1",
    "v*",
    "v?",
    "v\\",
    ' "v1" ',
    "}]) { Get",
    '"; DROP',
    "a|b=c",
    "",
    " ",
    "ä\n\t日本",
    "V1",
    "x" * 9_000,
]


async def test_filters_mean_what_they_mean_in_memory(weaviate: WeaviateServer, tmp_path: Path):
    """Random records and conditions, with signs that mean something in some language."""
    rng = random.Random(7)
    ledger = Ledger()
    for number in range(60):
        fields = {
            "title": "fox",
            "video_id": rng.choice(ODD),
            "tags": rng.sample(ODD, rng.randint(0, 3)),
            "stars": rng.choice([0, 1, -5, 2**53 + 1, 2**62]),
            "start": rng.choice([0.0, 0.1, -1e300, 2.5]),
            "done": rng.random() < 0.5,
            "due": f"2026-0{rng.randint(1, 9)}-01T00:00:00.000001Z",
        }
        kept = {k: v for k, v in fields.items() if k == "title" or rng.random() < 0.8}
        ledger.write(NOTES.name, f"k{number}", NOTES.validate(kept))
    values = {
        "video_id": ODD,
        "tags": ODD,
        "stars": [0, 1, 2**53 + 1, 7],
        "start": [0.1, 2.5, 9.0],
        "done": [True, False],
        "due": ["2026-05-01", "2026-03-01T00:00:00.000001Z"],
    }
    memory = MemoryStore(WordVectors())
    await memory.open([NOTES])
    await memory.apply(ledger.after(0))
    async with opened(settings_of(weaviate, "Odd_"), tmp_path) as store:
        await deliver(store, ledger)
        conditions = [
            Filter(name, sign, value)
            for name, given in values.items()
            for value in given
            for sign in ("=", "!=", "contains", "<", ">=")
            # Weaviate orders whole numbers as floating-point ones.
            if value != 2**53 + 1 or sign in ("=", "!=")
        ] + [Filter(name, "in", given[:2]) for name, given in values.items()]
        for condition in rng.sample(conditions, 110):
            expected = await memory.search(Query("fox", filters=(condition,), limit=99))
            got = await found(store, "fox", "keyword", condition, limit=99)
            assert set(got) == {hit.record.key for hit in expected}, condition


async def test_words_of_other_scripts_and_parts_of_words_are_found(
    weaviate: WeaviateServer, tmp_path: Path
):
    texts = {"zh": "知识库里的狐狸", "de": "Donaudampfschifffahrt", "ar": "كتاب الثعلب", "x": "owl"}
    ledger = Ledger()
    for key, text in texts.items():
        ledger.write(CARDS.name, key, {"text": text, "category": key})
    async with opened(settings_of(weaviate, "Scripts_"), tmp_path) as store:
        await deliver(store, ledger)
        for text, key in {"知识": "zh", "库": "zh", "dampfschiff": "de", "الثعلب": "ar"}.items():
            assert await found(store, text) == [key], text
            assert key in await found(store, text, "hybrid"), text
        for text in ("dampfschiff owl", "owl dampfschiff"):
            assert set(await found(store, text)) == {"de", "x"}
            assert {"de", "x"} <= set(await found(store, text, "hybrid"))
        assert await found(store, "dampfschiff", "keyword", Filter("category", "=", "x")) == []
        assert await found(store, "zzzz") == []


async def test_long_text_and_large_numbers_come_back_whole(
    weaviate: WeaviateServer, tmp_path: Path
):
    long = "fox and \u65e5 " * 120_000
    ledger = Ledger()
    ledger.write(NOTES.name, "a", {"text": long, "video_id": "y" * 200_000, "stars": 2**63 - 1})
    async with opened(settings_of(weaviate, "Long_"), tmp_path) as store:
        await deliver(store, ledger)
        record = await store.get(NOTES.name, "a", "default")
        assert record is not None
        assert record.fields["text"] == long
        assert record.fields["stars"] == 2**63 - 1
        assert await found(store, "fox") == ["a"]


async def test_a_record_that_the_server_refuses_is_named(weaviate: WeaviateServer, tmp_path: Path):
    settings = settings_of(weaviate, "Refused_", weaviate_insert_s=10)
    ledger = Ledger()
    ledger.write(CARDS.name, "good", {"text": "fox"})
    ledger.write(CARDS.name, "bad", {"text": "owl"})
    vectors = WordVectors()
    async with opened(settings, tmp_path, vectors) as store:
        await deliver(store, ledger)
        change = replace(ledger.write(CARDS.name, "worse", {"text": "owl"}), fields={"text": 5})
        with pytest.raises(VrError) as caught:
            await store.apply([change])
        assert caught.value.code is Code.INVALID_INPUT
        assert "worse" in caught.value.message
        assert await store.cursor() == 2


async def test_settings_of_collections_reach_the_server(weaviate: WeaviateServer, tmp_path: Path):
    """Without tenants a collection has the shards that were asked for."""
    settings = settings_of(
        weaviate, "Sharded_", weaviate_tenants=False, weaviate_shards=3, weaviate_consistency="ONE"
    )
    ledger = Ledger()
    ledger.write(CARDS.name, "a", {"text": "fox"})
    ledger.write(CARDS.name, "b", {"text": "fox"}, workspace="team")
    async with opened(settings, tmp_path) as store:
        await deliver(store, ledger)
        assert await found(store, "fox") == ["a"]
        assert await found(store, "fox", workspace="team") == ["b"]
        client = await store._connection.client()
        config = await client.collections.use("Sharded_Cards").config.get()
        assert config.sharding_config.desired_count == 3
        assert not config.multi_tenancy_config.enabled
        assert config.replication_config.factor == 1
    error = None
    try:
        async with opened(settings_of(weaviate, "Many_", weaviate_replicas=5), tmp_path):
            pass
    except VrError as caught:
        error = caught
    assert error is not None, "more replicas than nodes"
    assert error.code is not Code.INTERNAL
