"""The first seed's memory folders: concepts arrive with how well they are known."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner
from vr_kernel import Config, Kernel, load_config
from vr_plugin_knowledge import plugin as knowledge
from vr_plugin_knowledge.transfer.commands import export_records, import_records

Run = Callable[..., Any]
TALK = """---
source: https://youtu.be/abc
analyzed: 2026-01-01T10:00:00Z
updated: 2026-01-02T10:00:00Z
concepts:
  - name: Heat pump
    state: fuzzy
    timestamp: "12:15"
  - name: Latent heat
    state: unknown
    timestamp: 30:26
  - name: Compressor
    state: mastered
---

# How a heat pump works

## Relationship Map  <!-- 2026-01-02 10:00 -->

### Concepts
- **Heat Pumps** (device) — moves heat from cold to warm. Timestamp: 12:15
- **Latent heat** (physics) — taken up when a liquid boils.

### Relationships
- Latent heat → *enables* → Heat pumps
- Heat pump → *driven by* → Compressor
- Heat pump → *enables* → Something that is no concept
"""
CHAT = """---
source: /videos/pump.mp4
updated: 2026-03-01T10:00:00Z
session_id: s1
concepts:
  - name: heat pumps
    state: KNOW
  - plain name
---

# Pumps: Chat Session

### Q: What is it?
"""


@pytest.fixture
def config(tmp_path: Path) -> Config:
    folders = {f"VR_{name}_DIR": str(tmp_path / name.lower()) for name in ("STATE", "CACHE")}
    environ = {"HOME": str(tmp_path), "VR_CONFIG_DIR": str(tmp_path), "VR_PLUGINS": "knowledge"}
    return load_config({**environ, **folders}, working_folder=tmp_path)


@pytest.fixture
def run(config: Config) -> Run:
    def invoke(command: click.Command, *arguments: object) -> Any:
        texts = [*map(str, arguments), "--json"]
        done = CliRunner().invoke(command, texts, obj=config, catch_exceptions=False)
        assert done.exit_code == 0, done.output
        return json.loads(done.stdout)

    return invoke


@pytest.fixture
def memories(tmp_path: Path) -> Path:
    """A memory folder with an analysis and a chat about it."""
    for place, text in (("video/heat-pump", TALK), ("video-chat/pumps", CHAT)):
        folder = tmp_path / "memory" / "gr" / place
        folder.mkdir(parents=True)
        (folder / "analysis.md").write_text(text, "utf-8")
    return tmp_path / "memory"


def records(run: Run, folder: Path, kind: str) -> list[dict[str, Any]]:
    run(export_records, folder / "export.jsonl")
    rows = map(json.loads, (folder / "export.jsonl").read_text("utf-8").splitlines())
    return [row for row in rows if row["collection"] == kind]


def concepts(run: Run, folder: Path) -> dict[str, dict[str, Any]]:
    rows = records(run, folder, "ConceptKnowledge")
    return {row["properties"]["concept_name"]: row["properties"] for row in rows}


def test_concepts_come_with_their_state(run: Run, memories: Path, tmp_path: Path) -> None:
    counts = run(import_records, memories, "--format", "notes")["imported"]
    assert (counts["ConceptKnowledge"], counts["RelationshipEdges"]) == (4, 2)
    found = concepts(run, tmp_path)
    pump = found["Heat pump"]
    assert pump["state"] == "know", "what was said last, and not unknown, holds"
    assert pump["description"] == "moves heat from cold to warm. Timestamp: 12:15"
    assert (pump["source_url"], pump["source_category"], pump["source_title"]) == (
        "https://youtu.be/abc",
        "video",
        "How a heat pump works",
    )
    assert found["Latent heat"]["state"] == "unknown"
    assert found["Latent heat"]["description"].endswith("boils. Timestamp: 30:26")
    assert found["Compressor"]["state"] == "unknown", "mastered is no state"
    assert found["plain name"]["source_category"] == "video-chat"
    edges = [row["properties"] for row in records(run, tmp_path, "RelationshipEdges")]
    assert {(e["from_concept"], e["relationship_type"], e["to_concept"]) for e in edges} == {
        ("Latent heat", "enables", "Heat pumps"),
        ("Heat pump", "related_to", "Compressor"),
    }


def test_the_text_is_found_without_its_front_matter(
    run: Run, memories: Path, tmp_path: Path
) -> None:
    run(import_records, memories, "--format", "notes")
    texts = [row["properties"]["text"] for row in records(run, tmp_path, "DocumentPassages")]
    assert any("moves heat" in text for text in texts)
    assert not any("session_id" in text or "state: fuzzy" in text for text in texts)


def test_importing_again_changes_nothing(run: Run, memories: Path, tmp_path: Path) -> None:
    found = []
    for _ in range(2):
        run(import_records, memories, "--format", "notes")
        found.append(concepts(run, tmp_path))
        for fields in found[-1].values():
            fields.pop("created_at")
    assert found[0] == found[1]


@pytest.mark.parametrize("known_as", ["heat pumps", '"Heat Pump"'])
async def test_what_is_known_of_a_concept_stays(
    config: Config, memories: Path, known_as: str
) -> None:
    async with Kernel.open(config, {"knowledge": knowledge}) as kernel:
        given = {
            "concept_name": known_as,
            "description": "My words.",
            "aliases": ["HP"],
            "sources": ["Notes/one#1"],
        }
        await kernel.call("knowledge_ingest", collection="ConceptKnowledge", properties=given)
    done = await asyncio.to_thread(
        CliRunner().invoke,
        import_records,
        [str(memories), "--format", "notes"],
        obj=config,
        catch_exceptions=False,
    )
    assert done.exit_code == 0
    async with Kernel.open(config, {"knowledge": knowledge}) as kernel:
        changes = [c async for c in kernel.services.archive.records(["ConceptKnowledge"])]
        pumps = [c.fields for c in changes if c.fields and "HP" in c.fields.get("aliases", [])]
    assert len(pumps) == 1, "one record a concept, whoever wrote it"
    assert (pumps[0]["state"], pumps[0]["description"]) == ("know", "My words.")
    assert pumps[0]["sources"] == ["Notes/one#1"]


def test_front_matter_that_says_nothing_is_passed_over(run: Run, tmp_path: Path) -> None:
    fronts = [
        "concepts: {a: b",
        "concepts: 7",
        "concepts:\n  - [1]\n  - ''\n  - {state: know}",
        "- a\n- b",
        "a: &a [*a]",
        "[" * 1200,
    ]
    folder = tmp_path / "notes"
    folder.mkdir()
    for number, front in enumerate(fronts):
        (folder / f"{number}.md").write_text(f"---\n{front}\n---\n\nSome words.\n", "utf-8")
    counts = run(import_records, folder, "--format", "notes")["imported"]
    assert counts["DocumentPassages"] == len(fronts)


def test_dashes_that_are_no_front_matter_stay_text(run: Run, tmp_path: Path) -> None:
    (tmp_path / "note.md").write_text("---\n\nBetween lines.\n\n---\n\nAfter.\n", "utf-8")
    run(import_records, tmp_path / "note.md", "--format", "notes")
    texts = [row["properties"]["text"] for row in records(run, tmp_path, "DocumentPassages")]
    assert "Between lines." in texts[0]


async def test_a_state_is_set_again(config: Config) -> None:
    async with Kernel.open(config, {"knowledge": knowledge}) as kernel:

        async def ingest(kind: str, *properties: dict[str, Any]) -> list[str]:
            done: Any = await kernel.call(
                "knowledge_ingest", collection=kind, properties=list(properties)
            )
            return list(done.object_ids)

        first = await ingest("ConceptKnowledge", {"concept_name": "Owls", "description": "Birds."})
        again = {"concept_name": "owl", "state": "fuzzy"}
        last = {"concept_name": "OWL", "state": "know"}
        assert await ingest("ConceptKnowledge", again, last) == first * 2
        fields = [c.fields async for c in kernel.services.archive.records(["ConceptKnowledge"])]
        assert [(f["state"], f["description"]) for f in fields if f] == [("know", "Birds.")]
        edge = {"from_concept": "Owl", "to_concept": "Mouse", "relationship_type": "related_to"}
        back = {"from_concept": "mice", "to_concept": "owls", "relationship_type": "related_to"}
        mutual = {**back, "from_concept": "mouse"}
        assert await ingest("RelationshipEdges", edge) == await ingest("RelationshipEdges", mutual)
        assert await ingest("RelationshipEdges", back) != await ingest("RelationshipEdges", edge)
        unnamed = await ingest("ConceptKnowledge", {"description": "x"}, {"description": "x"})
        assert len(set(unnamed)) == 2, "without a name it is an event"
