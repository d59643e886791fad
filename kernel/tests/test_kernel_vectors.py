"""Embeddings: computed once a text and embedder, never mixed, gone without harm."""

from __future__ import annotations

import asyncio
import sqlite3
from array import array
from collections.abc import Sequence
from contextlib import closing
from typing import Any

import pytest
from vr_kernel import Code, Config, Embedder, Kernel, Provider, VrError, load_config
from vr_kernel.jobs.leases import PAUSE_S
from vr_kernel.models.vectors import CLOSE_GRACE_S
from vr_kernel.state.vectors import QUESTIONS
from waiting import always


class CountingEmbedder:
    """Says how often it was asked; a vector is the text's length and the embedder's number."""

    accepts = frozenset({"text"})
    dimension = 3

    def __init__(self, number: int) -> None:
        self.id = f"counting-{number}"
        self.number = number
        self.documents: list[str] = []
        self.queries: list[str] = []

    async def embed(self, items: Sequence[str], purpose: str) -> list[list[float]]:
        (self.documents if purpose == "document" else self.queries).extend(items)
        return [[float(len(item)), float(self.number), 0.1] for item in items]


@pytest.fixture
def embedder() -> CountingEmbedder:
    return CountingEmbedder(1)


@pytest.fixture
def begin(start: Any, make_plugin: Any, config: Config) -> Any:
    """Opens a kernel with the given embedder as its `minilm`."""

    async def begin(embedder: CountingEmbedder, config: Config = config) -> Kernel:
        provider = Provider(Embedder, "minilm", lambda _services: embedder)
        return await start({"embedder": make_plugin(providers=[provider])}, config=config)

    return begin


def _close(one: list[list[float]], other: list[list[float]]) -> bool:
    return len(one) == len(other) and all(
        left == pytest.approx(right) for left, right in zip(one, other, strict=True)
    )


async def test_a_text_is_embedded_once(begin: Any, embedder: CountingEmbedder) -> None:
    kernel = await begin(embedder)
    first = await kernel.services.vectors.embed_documents(["a", "bb", "a", "ccc", ""])
    assert _close(first, [[1, 1, 0.1], [2, 1, 0.1], [1, 1, 0.1], [3, 1, 0.1], [0, 1, 0.1]])
    assert sorted(embedder.documents) == ["", "a", "bb", "ccc"]
    again = await kernel.services.vectors.embed_documents(["ccc", "a", "new", "a"])
    assert _close(again, [[3, 1, 0.1], [1, 1, 0.1], [3, 1, 0.1], [1, 1, 0.1]])
    assert sorted(embedder.documents) == ["", "a", "bb", "ccc", "new"]
    assert await kernel.services.vectors.embed_documents([]) == []


async def test_a_later_process_embeds_nothing_anew(begin: Any) -> None:
    texts = [f"text {number} 🎬" for number in range(300)]
    before, after = CountingEmbedder(1), CountingEmbedder(1)
    kernel = await begin(before)
    made = await kernel.services.vectors.embed_documents(texts)
    await kernel.aclose()
    kernel = await begin(after)
    assert _close(await kernel.services.vectors.embed_documents(texts), made)
    assert (len(before.documents), after.documents) == (300, [])


async def test_a_closed_kernel_embeds_nothing(begin: Any, embedder: CountingEmbedder) -> None:
    kernel = await begin(embedder)
    await kernel.services.vectors.embed_query("a")
    await kernel.aclose()
    for ask in (
        kernel.services.vectors.embed_query("b"),
        kernel.services.vectors.embed_documents(["a"]),
    ):
        with pytest.raises(VrError, match="closed") as refused:
            await ask
        assert refused.value.code is Code.CONFLICT
    assert (embedder.documents, embedder.queries) == ([], ["a"])


async def test_another_embedder_shares_nothing(begin: Any, embedder: CountingEmbedder) -> None:
    other = CountingEmbedder(2)
    for _ in range(2):
        assert _close(
            await (await begin(embedder)).services.vectors.embed_documents(["a"]), [[1, 1, 0.1]]
        )
        assert _close(
            await (await begin(other)).services.vectors.embed_documents(["a"]), [[1, 2, 0.1]]
        )
    assert embedder.documents == other.documents == ["a"]


async def test_a_question_is_not_a_document(begin: Any, embedder: CountingEmbedder) -> None:
    kernel = await begin(embedder)
    await kernel.services.vectors.embed_documents(["a"])
    for _ in range(2):
        assert _close([await kernel.services.vectors.embed_query("a")], [[1, 1, 0.1]])
    assert (embedder.documents, embedder.queries) == (["a"], ["a"])


async def test_the_latest_questions_are_remembered_also_by_a_later_process(begin: Any) -> None:
    before, after = CountingEmbedder(1), CountingEmbedder(1)
    kernel = await begin(before)
    for number in range(QUESTIONS + 3):
        await kernel.services.vectors.embed_query(str(number))
    await kernel.aclose()
    kernel = await begin(after)
    for kept in ("3", str(QUESTIONS + 2), "2"):
        await kernel.services.vectors.embed_query(kept)
    assert after.queries == ["2"]


@pytest.mark.parametrize("made", [[1.0, 1.0], [], [1.0, float("nan"), 0.1], [1.0, 1e39, 0.1]])
async def test_a_question_without_a_direction_is_its_embedders_failure(
    begin: Any, made: list[float]
) -> None:
    class Wrong(CountingEmbedder):
        async def embed(self, items: Sequence[str], purpose: str) -> list[list[float]]:
            return [made for _ in items]

    kernel = await begin(Wrong(1))
    for _ in range(2):
        with pytest.raises(VrError, match=r"Embedder .* of plugin .* failed unexpectedly") as told:
            await kernel.services.vectors.embed_query("a")
        assert told.value.code is Code.INTERNAL


async def test_a_document_without_a_direction_is_embedded_again(begin: Any) -> None:
    class Wrong(CountingEmbedder):
        wrong = True

        async def embed(self, items: Sequence[str], purpose: str) -> list[list[float]]:
            made = await super().embed(items, purpose)
            return [[float("nan"), 1.0, 0.1] for _ in made] if self.wrong else made

    embedder = Wrong(1)
    kernel = await begin(embedder)
    await kernel.services.vectors.embed_documents(["a"])
    embedder.wrong = False
    assert _close(await kernel.services.vectors.embed_documents(["a"]), [[1.0, 1.0, 0.1]])


class HeldEmbedder(CountingEmbedder):
    """Embeds when it is let."""

    def __init__(self) -> None:
        super().__init__(1)
        self.asked, self.let = asyncio.Event(), asyncio.Event()

    async def embed(self, items: Sequence[str], purpose: str) -> list[list[float]]:
        self.asked.set()
        made = await super().embed(items, purpose)
        await self.let.wait()
        return made


async def test_two_processes_embed_a_text_once(begin: Any) -> None:
    held, other = HeldEmbedder(), CountingEmbedder(1)
    one, two = await begin(held), await begin(other)
    first = asyncio.create_task(one.services.vectors.embed_documents(["a", "bb"]))
    await held.asked.wait()
    second = asyncio.create_task(two.services.vectors.embed_documents(["bb", "ccc"]))
    await always(lambda: other.documents == [], 3 * PAUSE_S)
    held.let.set()
    assert _close(await first, [[1, 1, 0.1], [2, 1, 0.1]])
    assert _close(await second, [[2, 1, 0.1], [3, 1, 0.1]])
    assert (held.documents, other.documents) == (["a", "bb"], ["ccc"])


async def test_an_embedder_that_fails_keeps_no_other_process_waiting(begin: Any) -> None:
    class Failing(HeldEmbedder):
        async def embed(self, items: Sequence[str], purpose: str) -> list[list[float]]:
            await super().embed(items, purpose)
            raise SystemExit(1)

    failing, other = Failing(), CountingEmbedder(1)
    one, two = await begin(failing), await begin(other)
    first = asyncio.create_task(one.services.vectors.embed_documents(["a"]))
    await failing.asked.wait()
    second = asyncio.create_task(two.services.vectors.embed_documents(["a"]))
    failing.let.set()
    with pytest.raises(VrError, match=r"Embedder .* of plugin .* failed unexpectedly"):
        await first
    assert _close(await second, [[1, 1, 0.1]])


@pytest.mark.parametrize("purpose", ["document", "query"])
async def test_what_nobody_waits_for_any_more_is_remembered(begin: Any, purpose: str) -> None:
    held = HeldEmbedder()
    kernel = await begin(held)

    async def embed() -> None:
        if purpose == "document":
            await kernel.services.vectors.embed_documents(["a"])
        else:
            await kernel.services.vectors.embed_query("a")

    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await embed()
    again = asyncio.create_task(embed())
    held.let.set()
    await again
    assert held.documents + held.queries == ["a"]


async def test_an_embedder_that_hangs_keeps_no_kernel_open(begin: Any) -> None:
    held = HeldEmbedder()
    kernel = await begin(held)
    waiting = asyncio.create_task(kernel.services.vectors.embed_documents(["a"]))
    await held.asked.wait()
    async with asyncio.timeout(CLOSE_GRACE_S + 2):
        await kernel.aclose()
    with pytest.raises(asyncio.CancelledError):
        await waiting


async def test_it_says_which_embedder_it_uses(begin: Any, embedder: CountingEmbedder) -> None:
    vectors = (await begin(embedder)).services.vectors
    assert (vectors.available(), vectors.embedder_id, vectors.dimension) == (True, "counting-1", 3)


async def test_without_an_embedder_it_says_how_to_get_one(start: Any) -> None:
    kernel = await start()
    assert not kernel.services.vectors.available()
    for ask in (
        kernel.services.vectors.embed_documents(["a"]),
        kernel.services.vectors.embed_query("a"),
    ):
        with pytest.raises(VrError) as caught:
            await ask
        assert caught.value.code == "UNAVAILABLE"
        assert "Install" in caught.value.hint
    assert not kernel.config.paths.state.exists()


async def test_a_configured_embedder_that_is_missing_is_named(
    begin: Any, embedder: CountingEmbedder, environ: dict[str, str], working_folder: Any
) -> None:
    chosen = load_config(environ | {"VR_STORE__EMBEDDER": "other"}, working_folder=working_folder)
    kernel = await begin(embedder, chosen)
    assert not kernel.services.vectors.available()
    with pytest.raises(VrError, match="'other'") as caught:
        await kernel.services.vectors.embed_query("a")
    assert "Installed: minilm" in caught.value.hint


@pytest.mark.parametrize(
    "damage",
    ["x''", "x'00'", "NULL", "'text'", "1.5", "zeroblob(8)", "zeroblob(16)", "CAST(x'ff' AS TEXT)"],
)
async def test_a_damaged_vector_is_computed_again(
    begin: Any, embedder: CountingEmbedder, damage: str
) -> None:
    kernel = await begin(embedder)
    await kernel.services.vectors.embed_documents(["a"])
    file = kernel.config.paths.state / "vectors.db"
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("PRAGMA ignore_check_constraints = 1")
        connection.execute(f"UPDATE OR IGNORE vector SET value = {damage}")
    for _ in range(2):
        assert _close(await kernel.services.vectors.embed_documents(["a"]), [[1, 1, 0.1]])
    with closing(sqlite3.connect(file)) as connection:
        (row,) = connection.execute("SELECT value FROM vector")
    assert row[0] == array("f", [1, 1, 0.1]).tobytes()


@pytest.mark.parametrize("content", [b"", b"no database at all" * 50])
async def test_a_damaged_file_is_made_anew(
    begin: Any, embedder: CountingEmbedder, config: Config, content: bytes
) -> None:
    config.paths.state.mkdir()
    (config.paths.state / "vectors.db").write_bytes(content)
    kernel = await begin(embedder)
    for _ in range(2):
        assert _close(await kernel.services.vectors.embed_documents(["a"]), [[1, 1, 0.1]])
    assert embedder.documents == ["a"]


async def test_without_a_place_to_remember_it_computes_all_the_same(
    begin: Any, embedder: CountingEmbedder, config: Config
) -> None:
    config.paths.state.write_text("in the way")
    kernel = await begin(embedder)
    for _ in range(2):
        assert _close(await kernel.services.vectors.embed_documents(["a"]), [[1, 1, 0.1]])
    assert embedder.documents == ["a", "a"]
