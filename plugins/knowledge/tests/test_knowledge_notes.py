"""The notes folder: results become pages, what people write is found, nothing of theirs goes."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import re
import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, closing
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from knowledge_samples import CARDS, SampleKinds
from vr_kernel import (
    Check,
    Code,
    Config,
    Kernel,
    StoredRecord,
    VrError,
    load_config,
    visible,
)
from vr_kernel.views import as_markdown
from vr_plugin_knowledge import plugin as knowledge
from vr_plugin_knowledge.notes.commands import notes as notes_command
from vr_plugin_knowledge.notes.folder import Notes
from vr_plugin_knowledge.notes.page import read_seal
from vr_testing import TrialKernel, open_kernel

Open = Callable[[], AbstractAsyncContextManager[TrialKernel]]
FOX = {"text": "A fox runs through the forest.", "category": "animals"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The notes folder."""
    made = tmp_path / "my notes"
    made.mkdir()
    return made


@pytest.fixture
def opened(tmp_path: Path, folder: Path) -> Open:
    """Opens kernels of one installation; each looks through the folder at its first search."""

    @asynccontextmanager
    async def opener() -> AsyncIterator[TrialKernel]:
        settings = {"plugins.knowledge.notes_folder": str(folder), "store.backend": "embedded"}
        plugins = {"knowledge": knowledge, "sample": SampleKinds()}
        async with open_kernel(plugins, folder=tmp_path / "home", settings=settings) as kernel:
            yield kernel

    return opener


async def ingest(kernel: Kernel, collection: str, *objects: dict[str, Any]) -> list[str]:
    """Record objects; their ids."""
    done: Any = await kernel.call(
        "knowledge_ingest", collection=collection, properties=list(objects)
    )
    return list(done.object_ids)


async def search(kernel: Kernel, query: str, **more: Any) -> Any:
    """Hits of a keyword search."""
    return await kernel.call("knowledge_search", query=query, search_type="keyword", **more)


def pages(folder: Path, kind: str = "Cards") -> list[Path]:
    """The files of a kind, by name."""
    return sorted((folder / kind).glob("*.md"))


async def found(opened: Open, query: str) -> list[str]:
    """The texts that a fresh process finds in notes."""
    async with opened() as kernel:
        hits = (await search(kernel, query, collections=["DocumentPassages"])).results
        return [hit.properties["text"] for hit in hits]


def checks(kernel: Kernel) -> dict[str, Check]:
    """The doctor's checks of the knowledge plugin."""
    services = kernel.services.providers.owner_of(Notes, "folder").services
    return {check.name: check for check in knowledge.vr_health(services)}


async def examine(kernel: Kernel) -> tuple[str, str]:
    """The doctor's finding about the notes folder: level and message."""
    found: Any = checks(kernel)["notes folder"].examine()
    diagnosis = await found
    return diagnosis.level.value, diagnosis.what


def hidden(folder: Path) -> list[Path]:
    return list(folder.rglob(".*"))


def make(folder: Path) -> None:
    folder.mkdir()


def remove(folder: Path) -> None:
    folder.rmdir()


def unplug(folder: Path) -> None:
    folder.rename(folder.with_name("unplugged"))


def permit(folder: Path, mode: int) -> None:
    folder.chmod(mode)


def is_there(folder: Path) -> bool:
    return folder.exists()


# Records become pages.


async def test_a_result_is_written_as_a_page(opened: Open, folder: Path) -> None:
    analysis = {
        "title": "Foxes <script>at night</script>",
        "text": "They hunt.\n\n![spy](https://example.org/x.png)",
        "tags": ["red", "quick"],
        "stars": 5,
        "raw": json.dumps({"blob": "x" * 500}),
    }
    async with opened() as kernel:
        (concept,) = await ingest(
            kernel,
            "ConceptKnowledge",
            {"concept_name": "Fox", "state": "know", "source_url": "https://example.org/fox"},
        )
        await ingest(kernel, "Notes", analysis)
        await ingest(kernel, "RelationshipEdges", {"from_concept": "Fox", "to_concept": "Owl"})
    assert pages(folder, "Notes") == [], "kinds of places in a source are left out"
    assert pages(folder, "RelationshipEdges") == [], "and what has no words of its own"
    (page,) = pages(folder, "ConceptKnowledge")
    assert page.name.endswith(f"-fox-{concept[:8]}.md")
    text = page.read_text("utf-8")
    front, body = text.split("---\n")[1:]
    names = [line.partition(":")[0] for line in front.splitlines()]
    assert names == [*("kind", "key", "created_at", "derived", "source_tool", "source", "checksum")]
    assert 'source: "https://example.org/fox"' in front
    assert body.startswith("\n# Fox\n\n- State: know\n")


async def test_a_page_reads_from_short_to_long_and_loads_nothing(
    opened: Open, folder: Path
) -> None:
    long = "It runs. <img src=x> ![spy](https://example.org/x.png) " + "word " * 30
    given = {
        "concept_name": "Fox\x1b[31m\u202e",
        "description": long,
        "aliases": ["Vulpes", "Reynard"],
    }
    async with opened() as kernel:
        await ingest(kernel, "ConceptKnowledge", {**given, "state": "fuzzy"})
    text = pages(folder, "ConceptKnowledge")[0].read_text("utf-8")
    assert text == visible(text)
    assert "# Fox\n" in text
    assert "\\<img" in text
    assert "![spy]" not in text
    parts = ("- State: fuzzy", "- Also called: Vulpes, Reynard", "It runs.")
    places = [text.index(part) for part in parts]
    assert places == sorted(places)


async def test_a_new_version_takes_the_place_of_the_old(opened: Open, folder: Path) -> None:
    async with opened() as kernel:
        await ingest(kernel, "ConceptKnowledge", {"concept_name": "Fox", "state": "unknown"})
        before = pages(folder, "ConceptKnowledge")
        await ingest(kernel, "ConceptKnowledge", {"concept_name": "foxes", "state": "know"})
    assert pages(folder, "ConceptKnowledge") == before
    assert "- State: know" in before[0].read_text("utf-8")


async def test_a_page_of_the_version_before_that_nobody_changed_is_replaced(
    opened: Open, folder: Path
) -> None:
    async with opened() as kernel:
        await ingest(kernel, "ConceptKnowledge", {"concept_name": "Fox", "state": "unknown"})
        (page,) = pages(folder, "ConceptKnowledge")
        former = re.sub(r'checksum: ".*"\n', "", page.read_text("utf-8")) + "\n## Of before\n"
        seal = hashlib.sha256(former.encode()).hexdigest()[:16]
        page.write_text(former.replace("\n---\n", f'\nchecksum: "{seal}"\n---\n', 1), "utf-8")
        await ingest(kernel, "ConceptKnowledge", {"concept_name": "Fox", "state": "know"})
    assert pages(folder, "ConceptKnowledge") == [page]
    assert "Of before" not in page.read_text("utf-8")
    assert "- State: know" in page.read_text("utf-8")


async def test_a_page_is_what_the_view_of_its_record_shows(opened: Open, folder: Path) -> None:
    fields = {"text": "A fox.\n\n- one\n- two", "category": "Drawer <b>"}
    async with opened() as kernel:
        for _ in range(2):
            await ingest(kernel, "Cards", fields)
        (change, _) = await kernel.services.journal.changes(0, 10, ["Cards"])
        record = StoredRecord("Cards", change.key, {"created_at": change.created_at, **fields})
        shown = as_markdown(await kernel.services.views.of_records([record]))
    bodies = [page.read_text("utf-8").split("---\n", 2)[2] for page in pages(folder)]
    assert f"\n{shown}" in bodies


async def test_a_forgotten_record_takes_its_page_along(opened: Open, folder: Path) -> None:
    async with opened() as kernel:
        first, _second = await ingest(kernel, "Cards", FOX, {"text": "An owl."})
        assert len(pages(folder)) == 2
        await kernel.call("knowledge_forget", object_ids=[first], confirm=True)
        assert [path.name[11:17] for path in pages(folder)] == ["an-owl"]


async def test_what_somebody_changed_is_theirs(opened: Open, folder: Path) -> None:
    async with opened() as kernel:
        await ingest(kernel, "ConceptKnowledge", {"concept_name": "Fox", "state": "unknown"})
        (page,) = pages(folder, "ConceptKnowledge")
        mine = page.read_text("utf-8") + "\nI saw one by the heron pond.\n"
        page.write_text(mine, "utf-8")
        for state in ("fuzzy", "know"):
            (key,) = await ingest(
                kernel, "ConceptKnowledge", {"concept_name": "Fox", "state": state}
            )
        assert page.read_text("utf-8") == mine
        (beside,) = set(pages(folder, "ConceptKnowledge")) - {page}
        assert "- State: know" in beside.read_text("utf-8"), "one page beside it, always the last"
        await kernel.call("knowledge_forget", object_ids=[key], confirm=True)
        assert pages(folder, "ConceptKnowledge") == [page]
    assert not await found(opened, "heron"), "a page of what a model wrote is no source"


async def test_what_was_recorded_before_is_written_too(
    opened: Open, folder: Path, tmp_path: Path
) -> None:
    async with open_kernel(
        {"knowledge": knowledge, "sample": SampleKinds()}, folder=tmp_path / "home"
    ) as kernel:
        await ingest(kernel, "Cards", *({"text": f"Card {n}."} for n in range(60)))
    assert pages(folder) == []
    async with opened() as kernel:
        await kernel.call("knowledge_stats")
    assert len(pages(folder)) == 60


async def test_without_its_ledger_nothing_is_written_twice(
    opened: Open, folder: Path, tmp_path: Path
) -> None:
    async with opened() as kernel:
        await ingest(kernel, "Cards", FOX, {"text": "An owl."})
        before = pages(folder)
        changed = before[0].read_text("utf-8") + "\nMine.\n"
        before[0].write_text(changed, "utf-8")
    ledger = tmp_path / "home" / "state" / "rows.db"
    for damage in (ledger.unlink, lambda: ledger.write_bytes(b"no database" * 500)):
        damage()
        async with opened() as kernel:
            await kernel.call("knowledge_stats")
        assert pages(folder) == before
        assert before[0].read_text("utf-8") == changed


async def test_the_ledger_of_the_version_before_is_taken_over(
    opened: Open, folder: Path, tmp_path: Path
) -> None:
    """A page that a person deleted is not written again, and a note that was read is not new."""
    state, mine = tmp_path / "home" / "state", folder / "mine.md"
    async with opened() as kernel:
        await ingest(kernel, "Cards", FOX, {"text": "An owl."})
        mine.write_text("A badger.", "utf-8")
        assert (await search(kernel, "badger")).total_results == 1
        last = await kernel.services.journal.last_seq()
    pages(folder)[0].unlink()
    (state / "rows.db").unlink()
    about, name = mine.stat(), f"{folder}\ndefault"
    with closing(sqlite3.connect(state / "notes.db")) as connection, connection:
        connection.execute("CREATE TABLE cursor (folder TEXT, seq INTEGER)")
        connection.execute("INSERT INTO cursor VALUES (?, ?)", (name, last))
        connection.execute("CREATE TABLE note (folder, path, size, mtime_ns, passages)")
        seen = (name, "mine.md", about.st_size, about.st_mtime_ns, 1)
        connection.execute("INSERT INTO note VALUES (?, ?, ?, ?, ?)", seen)
        connection.execute("INSERT INTO note VALUES (?, ?, ?, ?, ?)", (name, "odd.md", "x", 1, 1))
    async with opened() as kernel:
        assert "takes over" in (await examine(kernel))[1]
        await kernel.call("knowledge_stats")
        assert len(pages(folder)) == 1
        assert (await search(kernel, "badger")).total_results == 1
        assert await kernel.services.journal.last_seq() == last
    assert not (state / "notes.db").exists()
    assert (state / "notes.db.adopted").exists()


async def test_two_processes_write_each_page_once(opened: Open, folder: Path) -> None:
    async with opened() as one, opened() as other:
        await asyncio.gather(
            *(ingest(one, "Cards", {"text": f"One {n}."}) for n in range(8)),
            *(ingest(other, "Cards", {"text": f"Other {n}."}) for n in range(8)),
        )
        await ingest(one, "Cards", FOX)
    written = [path.read_text("utf-8") for path in pages(folder)]
    assert len(written) == 17
    assert all(seal is not None and seal.whole for seal in map(read_seal, written))
    assert hidden(folder) == [], "no half page is left"


async def test_a_missing_folder_fails_no_call_and_is_told_once(
    opened: Open, folder: Path, tmp_path: Path
) -> None:
    remove(folder)
    async with opened() as kernel:
        told = []
        for _ in range(3):
            call = await kernel.record(
                "knowledge_ingest", collection="Cards", properties={"text": "A fox."}
            )
            assert call.error is None
            told += [line for line in call.log if line.level == "warning"]
        assert len(told) == 1
        assert (await search(kernel, "fox")).total_results == 3
        assert not is_there(folder), "it may be on a disk that is not there now"
        level, what = await examine(kernel)
        assert (level, "missing" in what) == ("warning", True)
        make(folder)
        assert "not in the notes folder" in (await examine(kernel))[1]
        await kernel.call("knowledge_stats")
        assert len(pages(folder)) == 3, "it catches up"
        assert (await examine(kernel))[0] == "ok"


async def test_nothing_is_written_outside(opened: Open, folder: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (folder / "Cards").symlink_to(outside, target_is_directory=True)
    async with opened() as kernel:
        await ingest(kernel, "Cards", {"text": "../../etc/passwd"})
        long = {"concept_name": "../" * 60 + "x", "state": "know"}
        await ingest(kernel, "ConceptKnowledge", long)
    assert list(outside.iterdir()) == []
    assert len(pages(folder, "ConceptKnowledge")) == 1, "what is wrong with one kind is its own"


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may write anywhere")
async def test_a_closed_folder_catches_up_when_it_opens(opened: Open, folder: Path) -> None:
    permit(folder, 0o500)
    async with opened() as kernel:
        await ingest(kernel, "Cards", FOX)
        permit(folder, 0o700)
        await ingest(kernel, "Cards", {"text": "An owl."})
    assert len(pages(folder)) == 2


async def test_without_a_folder_nothing_happens(tmp_path: Path) -> None:
    async with open_kernel(
        {"knowledge": knowledge, "sample": SampleKinds()}, folder=tmp_path
    ) as kernel:
        await ingest(kernel, CARDS.name, FOX)
        assert (await search(kernel, "fox")).total_results == 1
        assert not (tmp_path / "state" / "rows.db").exists()
        assert "notes folder" not in checks(kernel)


# What people write is found.


async def test_notes_and_results_are_found_together(opened: Open, folder: Path) -> None:
    (folder / "deep").mkdir()
    note = folder / "deep" / "walk.md"
    note.write_text("# Walk\n\nA fox crossed the meadow.\n", "utf-8")
    async with opened() as kernel:
        await ingest(kernel, "Cards", FOX)
        result = await search(kernel, "fox")
        assert {hit.collection for hit in result.results} == {"Cards", "DocumentPassages"}
        (hit,) = [hit for hit in result.results if hit.collection == "DocumentPassages"]
        assert (hit.source, hit.link) == (str(note), note.as_uri())
        assert hit.properties["title"] == "Walk"
        assert result.total_results == 2, "a page that nobody changed is its record's, not a note"


async def test_a_question_is_answered_from_a_note_that_was_just_written(
    opened: Open, folder: Path
) -> None:
    (folder / "walk.md").write_text("# Walk\n\nA fox crossed the meadow.\n", "utf-8")
    async with opened() as kernel:
        answer = await kernel.call("knowledge_ask", query="Which animal crossed the meadow?")
    assert str(folder / "walk.md") in answer.model_dump_json()


async def test_changed_notes_replace_their_passages(opened: Open, folder: Path) -> None:
    note = folder / "pond.md"
    note.write_text("# Pond\n\nA heron stands.\n\n## More\n\nA newt swims.\n", "utf-8")
    assert await found(opened, "heron newt") == ["A heron stands.", "A newt swims."]
    note.write_text("# Pond\n\nA heron flies off.\n", "utf-8")
    assert await found(opened, "heron newt") == ["A heron flies off."]
    note.rename(folder / "lake.MD")
    assert await found(opened, "heron") == ["A heron flies off."], "once, under its new name"
    (folder / "lake.MD").unlink()
    assert await found(opened, "heron") == []


async def test_what_is_hidden_or_elsewhere_is_no_note(
    opened: Open, folder: Path, tmp_path: Path
) -> None:
    (tmp_path / "secret.md").write_text("A heron elsewhere.", "utf-8")
    (folder / "link.md").symlink_to(tmp_path / "secret.md")
    (folder / "round").symlink_to(folder, target_is_directory=True)
    (folder / ".obsidian").mkdir()
    (folder / ".obsidian" / "a.md").write_text("A hidden heron.", "utf-8")
    (folder / "picture.png").write_bytes(b"heron")
    (folder / "latin.md").write_bytes("Ein Häher, a heron.".encode("latin-1"))
    (folder / "empty.md").touch()
    assert [text[-8:] for text in await found(opened, "heron")] == ["a heron."]


async def test_a_folder_that_went_away_forgets_nothing(opened: Open, folder: Path) -> None:
    (folder / "pond.md").write_text("A heron stands.", "utf-8")
    assert await found(opened, "heron")
    unplug(folder)
    assert await found(opened, "heron") == ["A heron stands."]


# The command.


def invoke(config: Config, *arguments: str) -> Any:
    done = CliRunner().invoke(
        notes_command, [*arguments, "--json"], obj=config, catch_exceptions=False
    )
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def config_of(tmp_path: Path, folder: str) -> Config:
    environ = {f"VR_{name}_DIR": str(tmp_path / name) for name in ("STATE", "CACHE", "CONFIG")}
    given = {"VR_PLUGINS": "knowledge", "VR_KNOWLEDGE__NOTES_FOLDER": folder}
    return load_config({**environ, **given}, working_folder=tmp_path)


def test_the_command_brings_both_ways_up_to_date(tmp_path: Path, folder: Path) -> None:
    (folder / "pond.md").write_text("# Pond\n\nA heron.\n\n# Lake\n\nA newt.\n", "utf-8")
    config = config_of(tmp_path, str(folder))
    counts = {"changes": 0, "read": 1, "passages": 2, "gone": 0, "unread": 0}
    counts |= {"derived": 0, "pending": 0}
    assert invoke(config, "sync") == counts
    again = invoke(config, "sync")
    assert (again["read"], again["passages"]) == (0, 0)
    (folder / "pond.md").unlink()
    assert invoke(config, "sync")["gone"] == 1


def test_the_command_says_why_not(tmp_path: Path, folder: Path) -> None:
    folder.rmdir()
    with pytest.raises(VrError) as caught:
        invoke(config_of(tmp_path, str(folder)), "sync")
    assert (caught.value.code, str(folder) in caught.value.message) == (Code.UNAVAILABLE, True)
    with pytest.raises(VrError) as caught:
        invoke(config_of(tmp_path, ""), "sync")
    assert caught.value.category == "CONFIG_INVALID"


def test_a_folder_has_a_whole_path(tmp_path: Path) -> None:
    kernel = Kernel(config_of(tmp_path, "notes"), {"knowledge": knowledge})
    (status,) = [each for each in kernel.plugins() if each.name == "knowledge"]
    assert (status.state.value, "whole path" in status.reason) == ("broken", True)


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
async def test_a_copied_page_of_a_derived_record_is_no_source(
    opened: Open, folder: Path, ends: str
) -> None:
    async with opened() as kernel:
        await ingest(kernel, "ConceptKnowledge", {"concept_name": "Fox", "state": "unknown"})
        (page,) = pages(folder, "ConceptKnowledge")
    text = page.read_text("utf-8") + "\nA heron invented this.\n"
    (folder / "copy.md").write_bytes(f"\n{text}".replace("\n", ends).encode())
    old = "---\nkind: 'ConceptKnowledge'\nsource_tool: x: y\n---\nA heron invented that.\n"
    (folder / "broken.md").write_text(old, "utf-8")
    (folder / "mine.md").write_text("---\nkind: heron\n---\nA heron stands there.\n", "utf-8")
    (only,) = await found(opened, "heron")
    assert "stands there" in only
