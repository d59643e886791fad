"""Promises of the embedder: order, unit length, one space, questions first."""

from __future__ import annotations

import asyncio
import hashlib
import math
from pathlib import Path

import pytest
from vr_embedder_minilm.checksums import CHECKSUM_FILE, MODEL_FILE, TOKENIZER_FILE
from vr_embedder_minilm.embedder import TURN, MiniLmEmbedder
from vr_kernel import Code, Purpose, VrError

PAIRS = [
    ("How do I cook rice?", "Boil the grains in twice as much water.", "The motor needs new oil."),
    ("symptoms of flu", "Fever, cough and tired limbs", "Interest rates rose in March"),
    ("fast nearest neighbour search", "HNSW is a graph index for vectors", "A recipe for bread"),
    ("the cat sat on the mat", "a kitten rested on the rug", "the parliament passed a law"),
]


def cosine(left: list[float], right: list[float]) -> float:
    return math.fsum(a * b for a, b in zip(left, right, strict=True))


@pytest.mark.parametrize(("question", "related", "unrelated"), PAIRS)
async def test_related_text_is_nearer(minilm, question, related, unrelated):
    (query,) = await minilm.embed([question], "query")
    near, far = await minilm.embed([related, unrelated], "document")
    assert cosine(query, near) > cosine(query, far) + 0.15


async def test_order_is_kept_and_neighbours_do_not_matter(minilm):
    texts = [f"sentence number {n} " + "about vectors " * (n % 7) for n in range(3 * TURN + 1)]
    together = await minilm.embed(texts, "document")
    alone = [(await minilm.embed([text], "query"))[0] for text in reversed(texts)]
    assert together == alone[::-1]


async def test_no_texts_give_no_vectors(minilm):
    assert await minilm.embed([], "document") == []


async def finishing_order(embedder: MiniLmEmbedder, document_runs: list[int]) -> list[str | int]:
    """Start runs of so many documents each, then a question; who is done, one by one."""
    finished: list[str | int] = []

    async def run(name: str | int, texts: list[str], purpose: Purpose) -> None:
        await embedder.embed(texts, purpose)
        finished.append(name)

    runs = [
        run(number, ["a long document about wings " * 20] * size, "document")
        for number, size in enumerate(document_runs)
    ]
    await asyncio.gather(*runs, run("question", ["what are wings?"], "query"))
    return finished


async def test_a_question_does_not_wait_for_a_long_run(minilm):
    assert (await finishing_order(minilm, [3 * TURN, 3 * TURN]))[0] == "question"


async def test_a_question_does_not_wait_for_many_runs(minilm):
    assert (await finishing_order(minilm, [1] * 9)).index("question") <= 1


async def test_concurrent_calls_get_their_own_vectors(minilm):
    texts = [f"topic {n}" for n in range(12)]
    expected = await minilm.embed(texts, "document")
    got = await asyncio.gather(*(minilm.embed([text], "query") for text in texts))
    assert [vectors[0] for vectors in got] == expected


async def test_a_cancelled_run_leaves_the_embedder_usable(minilm):
    run = asyncio.ensure_future(minilm.embed(["some text " * 20] * (4 * TURN), "document"))
    (before,) = await minilm.embed(["still here"], "query")
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run
    (after,) = await minilm.embed(["still here"], "document")
    assert after == before


def _write_model(folder: Path) -> None:
    lines = []
    for name in (MODEL_FILE, TOKENIZER_FILE):
        (folder / name).write_bytes(name.encode())
        lines.append(f"{hashlib.sha256(name.encode()).hexdigest()}  {name}\n")
    (folder / CHECKSUM_FILE).write_text("".join(lines), encoding="ascii")


@pytest.mark.parametrize("name", [MODEL_FILE, TOKENIZER_FILE, CHECKSUM_FILE])
@pytest.mark.parametrize("damage", ["changed", "missing"])
async def test_a_damaged_model_is_refused(tmp_path, name, damage):
    _write_model(tmp_path)
    if damage == "changed":
        (tmp_path / name).write_bytes(b"\xff\xfe other bytes")
    else:
        (tmp_path / name).unlink()
    embedder = MiniLmEmbedder(folder=tmp_path)
    with pytest.raises(VrError, match=name) as caught:
        await embedder.embed(["text"], "query")
    await embedder.aclose()
    assert caught.value.code is Code.UNAVAILABLE
    assert caught.value.category == "MODEL_DAMAGED"
    assert "pip install" in caught.value.hint
