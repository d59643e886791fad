"""`vr knowledge migrate`: the store is filled in the foreground, and compared with the journal."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from hypothesis import given, settings
from hypothesis import strategies as st
from knowledge_samples import NOTES, WordVectors
from migration_samples import config_in, invoke, report_of
from refined_kernels import ingest, knowledge_kernel
from vr_kernel import Change, Code, Config, Provider, Store, StoredRecord, VrError, hookimpl
from vr_plugin_knowledge.embedded_store.items import checksum
from vr_plugin_knowledge.transfer.commands import import_records, reindex
from vr_plugin_knowledge.transfer.comparing import Comparison
from vr_plugin_knowledge.transfer.delivery import deliver, watch
from vr_plugin_knowledge.transfer.fitting import fit_fields
from vr_plugin_knowledge.transfer.migration import migrate
from vr_testing import MemoryStore

Migrate = Callable[..., Result]
KIND = "DocumentPassages"


@pytest.fixture
def config(tmp_path: Path) -> Config:
    """An installation with three passages."""
    made = config_in(tmp_path)
    rows = [{"id": name, "title": name, "text": f"{name} text"} for name in ("a", "b", "c")]
    (tmp_path / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)), "utf-8")
    invoke(made, import_records, tmp_path / "rows.jsonl", "--format", "jsonl")
    return made


def change_stored(folder: Path, title: str, statement: str) -> None:
    """Change what the store has of one passage, as no damage would: its checksum fits."""
    with closing(sqlite3.connect(folder / "state" / "knowledge.db")) as store, store:
        number, key, fields, origin = store.execute(
            "SELECT id, key, fields, provenance FROM item WHERE fields ->> 'title' = ?",
            (title,),
        ).fetchone()
        if statement == "change":
            text = json.dumps({**json.loads(fields), "text": "another"})
            store.execute(
                "UPDATE item SET fields = ?, checksum = ? WHERE id = ?",
                (text, checksum(key, text, origin), number),
            )
        else:
            store.execute("DELETE FROM item WHERE id = ?", (number,))
            store.execute("UPDATE scope SET items = items - 1 WHERE id = ?", (number >> 40,))


def test_a_store_is_filled_and_compared(config: Config, tmp_path: Path) -> None:
    for file in (tmp_path / "state").glob("knowledge.db*"):
        file.unlink()
    report = report_of(config)
    (row,) = report["collections"]
    assert (report["store"], report["sent"], report["same"]) == ("embedded", 3, True)
    assert (row["collection"], row["workspace"]) == (KIND, "default")
    assert (row["journal"], row["store"], row["differing"]) == (3, 3, 0)
    assert row["journal_checksum"] == row["store_checksum"] != "0" * 32
    again = report_of(config)
    assert (again["sent"], again["collections"]) == (0, [row])


def test_each_workspace_is_compared(config: Config, tmp_path: Path) -> None:
    other = config_in(tmp_path, VR_STORE__WORKSPACE="team")
    invoke(other, import_records, tmp_path / "rows.jsonl", "--format", "jsonl")
    rows = report_of(config)["collections"]
    assert [(row["workspace"], row["store"]) for row in rows] == [("default", 3), ("team", 3)]


@pytest.mark.parametrize("statement", ["change", "delete"])
def test_what_differs_is_named_and_mended(config: Config, tmp_path: Path, statement: str) -> None:
    report_of(config)
    change_stored(tmp_path, "b", statement)
    report = report_of(config, code=1)
    (row,) = report["collections"]
    assert (report["same"], row["same"], row["differing"]) == (False, False, 1)
    assert row["store"] == (3 if statement == "change" else 2)
    assert row["journal_checksum"] != row["store_checksum"]
    done = invoke(config, migrate)
    assert done.exit_code == 1
    assert row["keys"][0] in done.stdout
    assert f"vr knowledge reindex --collection {KIND}" in done.stdout
    invoke(config, reindex, "--collection", KIND)
    assert report_of(config)["same"]


def test_a_table_for_people(config: Config) -> None:
    lines = invoke(config, migrate).stdout.splitlines()
    assert lines[0].startswith("embedded: ")
    assert lines[1].split() == ["workspace", "collection", "journal", "store", "checksum"]
    assert lines[2].split()[:5] == ["default", KIND, "3", "3", "same"]


def test_what_cannot_be_migrated_to_is_named(config: Config) -> None:
    with pytest.raises(VrError) as caught:
        invoke(config, migrate, "--to", "nowhere")
    assert "embedded, weaviate" in caught.value.hint
    with pytest.raises(VrError) as caught:
        invoke(config, migrate, "--to", "weaviate")
    assert "WEAVIATE_URL" in caught.value.hint
    with pytest.raises(VrError, match="not said where"):
        invoke(config, migrate, "--from", "weaviate")


@pytest.mark.parametrize("arguments", [["--to", "a", "--from", "weaviate"], ["--all"]])
def test_options_that_do_not_go_together(config: Config, arguments: list[str]) -> None:
    done = invoke(config, migrate, *arguments)
    assert done.exit_code == 2
    assert "Give --to, or --from" in done.output


async def test_no_headway_ends_the_waiting(capsys: pytest.CaptureFixture[str]) -> None:
    numbers = iter([9, 5, 4, 4, 4])

    async def left() -> int:
        return next(numbers, 4)

    assert await watch("Records", left, patience=0.01) == 4

    async def nothing() -> int:
        return 0

    assert await watch("Records", nothing) == 0
    assert "Records" in capsys.readouterr().err


class StuckStore(MemoryStore):
    """A store that is there, and never gets done with what it is given."""

    name = "stuck"

    async def apply(self, changes: Sequence[Change]) -> None:
        assert changes
        await asyncio.get_running_loop().create_future()

    @hookimpl
    def vr_providers(self) -> list[Provider[Any]]:
        return [Provider(Store, self.name, lambda _services: self)]


async def test_a_store_that_takes_no_more_is_told() -> None:
    store = StuckStore(WordVectors())
    async with knowledge_kernel({"store.backend": "stuck"}, plugins={"stuck": store}) as kernel:
        await ingest(kernel, "Notes", {"text": "fox"})
        with pytest.raises(VrError) as caught:
            await deliver(kernel, patience=0.01)
    assert (caught.value.code, caught.value.retryable) == (Code.UNAVAILABLE, True)
    assert "1 changes are left" in caught.value.message
    assert "goes on where it stopped" in caught.value.hint


def change(key: str, fields: dict[str, Any] | None) -> Change:
    return Change(1, "default", "Notes", key, fields, {}, "2026-01-01T00:00:00+00:00")


@settings(max_examples=30)
@given(st.dictionaries(st.text(min_size=1), st.text(), min_size=1), st.randoms())
def test_checksums_know_no_order_and_miss_nothing(texts: dict[str, str], random: Any) -> None:
    created = "2026-01-01T00:00:00+00:00"
    pairs = [
        (
            change(key, {"text": text}),
            StoredRecord("Notes", key, {"created_at": created, "text": text}),
        )
        for key, text in texts.items()
    ]
    first, second, less = (Comparison("default", "Notes") for _ in range(3))
    for pair in pairs:
        first.add(*pair)
    random.shuffle(pairs)
    for pair in pairs:
        second.add(*pair)
    assert (first.journal_sum, first.differing) == (second.journal_sum, 0)
    assert first.store_sum == second.store_sum == first.journal_sum
    less.add(pairs[0][0], None)
    assert (less.differing, less.keys) == (1, [pairs[0][0].key])
    gone = Comparison("default", "Notes")
    gone.add(change("k", None), pairs[0][1])
    assert (gone.journal, gone.differing) == (0, 1)


@pytest.mark.parametrize(
    ("field", "value", "fits"),
    [
        ("tags", "one", ["one"]),
        ("tags", ["a", 2], ["a", "2"]),
        ("title", 3, "3"),
        ("title", ["a", "b"], "a\nb"),
        ("title", {"a": 1}, '{"a": 1}'),
        ("stars", 3.0, 3),
        ("stars", "3", 3),
        ("stars", 2**62 + 1, 2**62 + 1),
        ("stars", 3.5, None),
        ("stars", "many", None),
        ("stars", True, None),
        ("stars", float("inf"), None),
        ("start", "1.5", 1.5),
        ("start", 2, 2.0),
        ("done", "Yes", True),
        ("done", 0, False),
        ("done", "maybe", None),
        ("due", datetime(2026, 1, 31, 12, tzinfo=UTC), "2026-01-31T12:00:00.000000+00:00"),
        ("due", "2026-01-31", "2026-01-31T00:00:00.000000+00:00"),
        ("due", "soon", None),
        ("colour", "red", None),
    ],
)
def test_foreign_values_become_fields(field: str, value: Any, fits: Any) -> None:
    fitted = fit_fields(NOTES, {field: value})
    assert fitted.fields == ({} if fits is None else {field: fits})
    assert fitted.left == ([field] if fits is None else [])


def test_what_only_the_store_has_is_said(config: Config, tmp_path: Path) -> None:
    report_of(config)
    with closing(sqlite3.connect(tmp_path / "state" / "journal.db")) as journal, journal:
        journal.execute("DELETE FROM record WHERE fields ->> 'title' = 'b'")
    report = report_of(config, code=1)
    (row,) = report["collections"]
    assert (row["journal"], row["store"], row["differing"]) == (2, 3, 0)
    said = invoke(config, migrate).stdout
    assert "1 is only in the store" in said
    assert "reindex" not in said
