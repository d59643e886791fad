"""The workspace of a search, and the clients that may choose it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from refined_kernels import ingest, knowledge_kernel
from vr_kernel import Code, Embedder, Provider, Purpose, VrError, hookimpl
from vr_plugin_knowledge.results import KnowledgeSearchResult


async def test_the_owner_may_look_into_another_one(tmp_path: Path) -> None:
    async with knowledge_kernel({"store.workspace": "other"}, folder=tmp_path) as other:
        await ingest(other, "Notes", {"text": "fox of the other"})
    async with knowledge_kernel(folder=tmp_path) as kernel:
        await ingest(kernel, "Notes", {"text": "fox at home"})

        async def texts(workspace: str | None) -> list[str]:
            found = await kernel.call("knowledge_search", query="fox", workspace=workspace)
            assert isinstance(found, KnowledgeSearchResult)
            return [hit.properties["text"] for hit in found.results]

        assert await texts(None) == await texts("default") == ["fox at home"]
        assert await texts("other") == ["fox of the other"]
        assert await texts("nowhere") == []


async def test_what_was_found_there_is_fetched_and_related_there(tmp_path: Path) -> None:
    async with knowledge_kernel({"store.workspace": "other"}, folder=tmp_path) as other:
        first, second = await ingest(other, "Notes", {"text": "fox one"}, {"text": "fox two"})
    async with knowledge_kernel(folder=tmp_path) as kernel:
        given = {"object_id": first, "collection": "Notes"}
        there = {**given, "workspace": "other"}
        assert not (await kernel.call("knowledge_fetch", **given)).model_dump()["found"]
        found = (await kernel.call("knowledge_fetch", **there)).model_dump()
        assert found["properties"]["text"] == "fox one"
        related = (await kernel.call("knowledge_related", **there)).model_dump()
        assert [hit["object_id"] for hit in related["results"]] == [second]
        outcome = await kernel.run("knowledge_related", given)
        assert outcome.error is not None
        assert outcome.error.code is Code.NOT_FOUND
        for name in ("knowledge_fetch", "knowledge_related"):
            outcome = await kernel.run(name, there, principal="somebody")
            assert outcome.error is not None
            assert outcome.error.code is Code.NOT_ALLOWED


async def test_a_cursor_belongs_to_its_workspace(tmp_path: Path) -> None:
    async with knowledge_kernel(folder=tmp_path) as kernel:
        await ingest(kernel, "Notes", *({"text": f"fox {n} " + "x " * 300} for n in range(30)))
        page = await kernel.call("knowledge_search", query="fox", limit=30)
        assert isinstance(page, KnowledgeSearchResult)
        given = {"query": "fox", "limit": 30, "cursor": page.next_cursor, "workspace": "other"}
        outcome = await kernel.run("knowledge_search", given)
        assert outcome.error is not None
        assert "cursor" in outcome.error.message


CHOICES: list[tuple[str, str | None, Code | None]] = [
    ("other", "somebody", Code.NOT_ALLOWED),
    ("default", "somebody", Code.NOT_ALLOWED),
    ("somebody", "somebody", None),
    ("../x", None, Code.INVALID_INPUT),
    ("", None, Code.INVALID_INPUT),
    ("a" * 65, None, Code.INVALID_INPUT),
]


async def test_who_may_and_what_it_may_be_called() -> None:
    async with knowledge_kernel() as kernel:
        for workspace, principal, code in CHOICES:
            given = {"query": "fox", "workspace": workspace}
            outcome = await kernel.run("knowledge_search", given, principal=principal)
            assert (outcome.error.code if outcome.error else None) == code


class QuestionsOnly:
    """An embedder that texts wait for."""

    id, dimension, accepts = "questions", 2, frozenset({"text"})

    async def embed(self, items: Sequence[str], purpose: Purpose) -> list[list[float]]:
        if purpose == "document":
            raise VrError("Later.", Code.UNAVAILABLE)
        return [[1.0, 0.0] for _ in items]

    @hookimpl
    def vr_providers(self) -> list[Provider[Embedder]]:
        return [Provider(Embedder, "questions", lambda _services: self)]


async def test_how_many_records_of_all_wait_is_told_to_the_owner_alone() -> None:
    settings = {"store.embedder": "questions"}
    async with knowledge_kernel(settings, plugins={"questions": QuestionsOnly()}) as kernel:
        note = {"collection": "Notes", "properties": [{"text": "a fox"}]}
        for who, said in ((None, "records wait"), ("anna", "some records wait")):
            made = await kernel.run("knowledge_ingest", note, principal=who)
            (key,) = made.data["object_ids"]
            near = {"object_id": key, "collection": "Notes"}
            for tool, given in (
                ("knowledge_search", {"query": "fox"}),
                ("knowledge_related", near),
            ):
                outcome = await kernel.run(tool, given, principal=who)
                told = [note for note in outcome.data["notes"] if said in note]
                assert told, outcome
                assert ("some" in told[0]) == (who == "anna")
