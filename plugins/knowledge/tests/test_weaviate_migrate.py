"""To a Weaviate server and back: what one side has, the other gets, once and as it was."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from migration_samples import config_in, invoke, report_of
from vr_kernel import Config, Kernel
from vr_plugin_knowledge.transfer.commands import import_records
from vr_plugin_knowledge.weaviate_store.connection import Connection
from vr_plugin_knowledge.weaviate_store.settings import WeaviateSettings
from weaviate_server import WeaviateServer

pytestmark = [pytest.mark.slow]
PASSAGES = 600


def variables_of(server: WeaviateServer, prefix: str) -> dict[str, str]:
    """Settings that name a server to an installation, and leave it at the embedded store."""
    return {
        "VR_KNOWLEDGE__WEAVIATE_URL": server.url,
        "WEAVIATE_GRPC_PORT": str(server.grpc_port),
        "VR_KNOWLEDGE__WEAVIATE_PREFIX": prefix,
    }


def with_passages(folder: Path, variables: dict[str, str], count: int = PASSAGES) -> Config:
    folder.mkdir(exist_ok=True)
    config = config_in(folder, **variables)
    rows = ({"id": f"{folder.name}-{n}", "text": f"fox number {n}"} for n in range(count))
    (folder / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)), "utf-8")
    done = invoke(config, import_records, folder / "rows.jsonl", "--format", "jsonl")
    assert done.exit_code == 0, done.output
    return config


def at_server(server: WeaviateServer, work: Any) -> Any:
    """Do something with the server's own client."""

    async def run() -> Any:
        settings = {"weaviate_url": server.url, "weaviate_grpc_port": server.grpc_port}
        connection = Connection(WeaviateSettings(**settings))
        try:
            return await work(await connection.client())
        finally:
            await connection.aclose()

    return asyncio.run(run())


def test_a_store_is_full_before_one_switches(weaviate: WeaviateServer, tmp_path: Path) -> None:
    config = with_passages(tmp_path / "one", variables_of(weaviate, "Mto_"))
    report = report_of(config, "--to", "weaviate")
    (row,) = report["collections"]
    assert (report["store"], report["same"], report["sent"]) == ("weaviate", True, PASSAGES)
    assert (row["journal"], row["store"]) == (PASSAGES, PASSAGES)
    assert config.store.backend == "embedded"
    assert report_of(config, "--to", "weaviate")["sent"] == 0

    async def remove(client: Any) -> str:
        handle = client.collections.use("Mto_DocumentPassages").with_tenant("default")
        (found,) = (await handle.query.fetch_objects(limit=1)).objects
        await handle.data.delete_by_id(found.uuid)
        return str(found.uuid)

    lost = at_server(weaviate, remove)
    report = report_of(config, "--to", "weaviate", code=1)
    (row,) = report["collections"]
    assert (row["store"], row["keys"]) == (PASSAGES - 1, [lost])


def test_a_killed_migration_goes_on(weaviate: WeaviateServer, tmp_path: Path) -> None:
    variables = variables_of(weaviate, "Mkill_")
    config = with_passages(tmp_path / "one", variables, 4000)
    program = (
        "import sys; from migration_samples import *;"
        "config = config_in(Path(sys.argv[1]), **json.loads(sys.argv[2]));"
        "invoke(config, migrate, '--to', 'weaviate')"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", program, str(tmp_path / "one"), json.dumps(variables)],
        cwd=Path(__file__).parent,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
    )

    async def count(client: Any) -> int:
        name = "Mkill_DocumentPassages"
        while child.poll() is None:
            if await client.collections.exists(name):
                handle = client.collections.use(name).with_tenant("default")
                if await client.collections.use(name).tenants.get():
                    return int((await handle.aggregate.over_all(total_count=True)).total_count)
        return 0

    while not at_server(weaviate, count) and child.poll() is None:
        pass
    child.send_signal(signal.SIGKILL)
    assert child.wait(30) == -signal.SIGKILL, "it was not killed but ended"
    report = report_of(config, "--to", "weaviate")
    (row,) = report["collections"]
    assert (report["same"], row["store"]) == (True, 4000)


async def make_seed_concepts(client: Any, name: str) -> list[str]:
    """Concepts as another program made them: other types, more properties, vectors of its own."""
    from weaviate.classes.config import Configure, DataType, Property
    from weaviate.classes.data import DataObject

    texts = ("concept_name", "state", "aliases", "source_tool", "note_of_another")
    await client.collections.create(
        name,
        properties=[
            *(Property(name=each, data_type=DataType.TEXT) for each in texts),
            Property(name="created_at", data_type=DataType.DATE),
            Property(name="quotes", data_type=DataType.INT),
        ],
        vector_config=Configure.Vectors.self_provided(),
    )
    uuids = [str(uuid4()) for _ in range(450)]
    objects = [
        DataObject(
            uuid=uuid,
            properties={
                "concept_name": f"concept {number}",
                "state": "know",
                "aliases": "alias",
                "source_tool": "seed",
                "note_of_another": "mine",
                "created_at": "2025-05-05T05:05:05Z",
            },
            vector=[float(number), 1.0],
        )
        for number, uuid in enumerate(uuids)
    ]
    objects.append(DataObject(properties={"note_of_another": "nothing else"}, vector=[0.0, 1.0]))
    assert not (await client.collections.use(name).data.insert_many(objects)).has_errors
    return uuids


@pytest.mark.parametrize("backend", ["embedded", "weaviate"])
def test_what_only_the_server_has_is_recorded(
    weaviate: WeaviateServer, tmp_path: Path, backend: str
) -> None:
    prefix = f"Mfrom{backend.capitalize()}_"
    name = f"{prefix}ConceptKnowledge"
    uuids = at_server(weaviate, lambda client: make_seed_concepts(client, name))
    config = config_in(tmp_path, **variables_of(weaviate, prefix), VR_STORE__BACKEND=backend)
    report = report_of(config, "--from", "weaviate")
    assert report["recorded"] == {name: len(uuids)}
    assert report["left_out"] == {f"{name}.note_of_another": len(uuids) + 1}
    assert (report["unfit"], len(report["unfit_objects"]), report["known"]) == (1, 1, 0)
    again = report_of(config, "--from", "weaviate")
    assert (again["recorded"], again["known"]) == ({}, len(uuids))
    compared = report_of(config)
    (row,) = compared["collections"]
    assert (row["journal"], row["differing"]) == (len(uuids), 0)
    record = stored(config, uuids[7])
    assert record["fields"]["aliases"] == ["alias"]
    assert record["fields"]["created_at"] == "2025-05-05T05:05:05.000000+00:00"
    assert record["fields"]["source_tool"] == "seed"
    assert record["provenance"]["pulled_from"].endswith(f"/{name}/{uuids[7]}")

    async def look(client: Any) -> Any:
        handle = client.collections.use(name)
        return await handle.query.fetch_object_by_id(uuids[7], include_vector=True)

    found = at_server(weaviate, look)
    assert found.properties["note_of_another"] == "mine"
    assert found.vector["default"] == [7.0, 1.0]


def stored(config: Config, key: str) -> dict[str, Any]:
    async def read() -> dict[str, Any]:
        from vr_kernel import Kernel

        async with Kernel.open(config) as kernel:
            await kernel.services.store.catch_up()
            record = await kernel.services.store.get("ConceptKnowledge", key, "default")
            assert record is not None
            return {"fields": dict(record.fields), "provenance": dict(record.provenance)}

    return asyncio.run(read())


def test_another_machines_records_come_once(weaviate: WeaviateServer, tmp_path: Path) -> None:
    variables = variables_of(weaviate, "Mtwo_")
    first = with_passages(tmp_path / "one", variables, 30)
    second = with_passages(tmp_path / "two", variables, 20)
    report_of(first, "--to", "weaviate")
    assert report_of(second, "--to", "weaviate")["same"], "what others sent is no difference"
    report = report_of(second, "--from", "weaviate")
    assert report["recorded"] == {"Mtwo_DocumentPassages": 30}
    assert (report["known"], report["left_out"]) == (20, {})
    assert report_of(second, "--from", "weaviate")["recorded"] == {}
    (row,) = report_of(second)["collections"]
    assert (row["journal"], row["store"], row["same"]) == (50, 50, True)


def test_collections_of_similar_names_when_asked_for(
    weaviate: WeaviateServer, tmp_path: Path
) -> None:
    name = "Msimilar_ConceptKnowledge"
    at_server(weaviate, lambda client: make_seed_concepts(client, name))
    config = config_in(tmp_path, **variables_of(weaviate, "Msimilar2_"))
    first = report_of(config, "--from", "weaviate")
    assert first["recorded"] == {}
    assert name in first["other_collections"]
    second = report_of(config, "--from", "weaviate", "--all")
    assert second["recorded"][name] == 450
    assert name not in second["other_collections"]
    assert report_of(config, "--from", "weaviate", "--all")["recorded"] == {}


async def found_by(config: Config) -> tuple[int, list[str]]:
    """Search for passages on the server from an installation: their number, and its notes."""
    async with Kernel.open(config) as kernel:
        said: Any = await kernel.call("knowledge_search", query="fox", search_type="keyword")
        counted = await kernel.services.store.count("DocumentPassages", "default")
        return sum(counted.values()), said.notes


def made_by_the_version_before(
    server: WeaviateServer, state: Path, prefix: str, cursor: int
) -> None:
    """Neither journal nor ledger know of lines, and the cursor has the name of `weaviate.db`."""

    def one(file: str, *statements: str) -> str:
        with closing(sqlite3.connect(state / file, isolation_level=None)) as connection:
            first, *_ = [connection.execute(each).fetchone() for each in statements]
            return str(first[0])

    one("jobs.db", "SELECT name FROM journal", "DROP TABLE journal")
    journal = one("journal.db", "SELECT journal FROM lineage", "DROP TABLE lineage")
    one("rows.db", "SELECT 1", "DELETE FROM entry WHERE key = 'weaviate/journal'")
    name = str(uuid4())
    table = "CREATE TABLE journal (one INTEGER PRIMARY KEY, name TEXT NOT NULL)"
    one("weaviate.db", "SELECT 1", table, f"INSERT INTO journal VALUES (1, '{name}')")

    async def rename(client: Any) -> None:
        cursors = client.collections.use(f"{prefix}VrCursors")
        await cursors.data.delete_by_id(journal)
        await cursors.data.insert({"seq": cursor}, uuid=name)

    at_server(server, rename)


def test_a_lost_journal_is_told_and_filled_from_the_server(
    weaviate: WeaviateServer, tmp_path: Path
) -> None:
    """The cursor of a version before is adopted; another journal on the server is no loss."""
    variables = variables_of(weaviate, "Mlost_") | {"VR_STORE__BACKEND": "weaviate"}
    config = with_passages(tmp_path / "one", variables, 20)
    with_passages(tmp_path / "two", variables, 5)
    assert asyncio.run(found_by(config)) == (25, [])
    state = config.paths.state
    made_by_the_version_before(weaviate, state, "Mlost_", 20)
    report = report_of(config)
    assert (report["sent"], report["same"]) == (0, True), "it was adopted"
    for file in state.glob("journal.db*"):
        file.unlink()
    later = config_in(tmp_path / "one", **variables)
    rows = tmp_path / "one" / "rows.jsonl"
    rows.write_text('{"id": "new", "text": "fox of later"}\n', "utf-8")
    assert invoke(later, import_records, rows, "--format", "jsonl").exit_code == 0
    count, notes = asyncio.run(found_by(later))
    assert count == 26
    assert "emptied, deleted" in notes[0]
    pulled = report_of(later, "--from", "weaviate")
    assert sum(pulled["recorded"].values()) == 25
    assert asyncio.run(found_by(later)) == (26, [])


def test_a_restored_folder_is_older_than_the_server(
    weaviate: WeaviateServer, tmp_path: Path
) -> None:
    """All files were restored, so only the server knows what was recorded since."""
    variables = variables_of(weaviate, "Mold_") | {"VR_STORE__BACKEND": "weaviate"}
    config = with_passages(tmp_path / "one", variables, 10)
    assert asyncio.run(found_by(config)) == (10, [])
    shutil.copytree(config.paths.state, tmp_path / "copy")
    config = with_passages(tmp_path / "one", variables, 20)
    assert asyncio.run(found_by(config)) == (20, [])
    shutil.rmtree(config.paths.state)
    shutil.copytree(tmp_path / "copy", config.paths.state)
    rows = tmp_path / "one" / "rows.jsonl"
    rows.write_text('{"id": "new", "text": "fox of later"}\n', "utf-8")
    assert invoke(config, import_records, rows, "--format", "jsonl").exit_code == 0
    count, notes = asyncio.run(found_by(config))
    assert count == 21
    assert "older copy" in notes[0]
    asyncio.run(_begin_anew(config))
    assert asyncio.run(found_by(config)) == (21, []), "nothing is removed from a server"


async def _begin_anew(config: Config) -> None:
    """Do what `vr store begin-anew` does."""
    async with Kernel.open(config) as kernel:
        await kernel.services.store.status()
        await kernel.services.store.restart(empty=True)
        await kernel.services.store.catch_up(10)
