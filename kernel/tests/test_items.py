"""Items: pictures are checked by their bytes, and nobody who takes texts alone is handed one."""

from __future__ import annotations

import base64
import hashlib
import sqlite3
import struct
import zlib
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from gemini_service import gemini_at
from hypothesis import given
from hypothesis import strategies as st
from vr_kernel import (
    Code,
    Embedder,
    Embeddings,
    Kernel,
    ModelInfo,
    ModelProvider,
    Picture,
    Provider,
    Reranker,
    VrError,
    load_config,
    rerank,
    texts_of,
)
from vr_testing import FakeGemini
from vr_testing.gemini.request import look_up


def png(width: int = 3, height: int = 2, *, filler: int = 0) -> bytes:
    """A small picture that says it has that size."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        crc = zlib.crc32(kind + data)
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", crc)

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    lines = zlib.compress(b"\0" * 20, 0) + b"\0" * filler
    chunks = chunk(b"IHDR", header), chunk(b"IDAT", lines), chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


def gif(width: int, height: int) -> bytes:
    return b"GIF89a" + struct.pack("<HH", width, height) + b"\0\0\0;"


def jpeg(width: int, height: int, before: bytes = b"\xff\xe0\x00\x04ab") -> bytes:
    frame = b"\xff\xc2" + struct.pack(">HBHHB", 8, 8, height, width, 1)
    return b"\xff\xd8" + before + frame + b"\xff\xd9"


def webp(form: bytes, body: bytes) -> bytes:
    return b"RIFF" + struct.pack("<I", 12 + len(body)) + b"WEBP" + form + b"\0\0\0\0" + body


def lossless(width: int, height: int) -> bytes:
    return webp(b"VP8L", b"\x2f" + struct.pack("<I", width - 1 | height - 1 << 14))


def lossy(width: int, height: int) -> bytes:
    return webp(b"VP8 ", b"\0\0\0\x9d\x01\x2a" + struct.pack("<HH", width, height))


def extended(width: int, height: int) -> bytes:
    sides = (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little")
    return webp(b"VP8X", b"\0\0\0\0" + sides)


MADE = {png: "png", gif: "gif", jpeg: "jpeg", lossless: "webp", lossy: "webp", extended: "webp"}
FORMATS = pytest.mark.parametrize(("make", "kind"), MADE.items(), ids=lambda it: str(it)[:12])


@FORMATS
def test_a_picture_is_known_by_its_bytes(make: Any, kind: str) -> None:
    data = make(8000, 5000)
    picture = Picture(data)
    assert picture == Picture(data, f"image/{kind}")
    assert (picture.mime, picture.digest) == (f"image/{kind}", hashlib.sha256(data).hexdigest())
    assert len(repr(picture)) < 100, "its bytes would flood a log"


@FORMATS
def test_too_many_pixels_are_refused_unseen(make: Any, kind: str) -> None:
    with pytest.raises(VrError) as caught:
        Picture(make(8001, 5000))
    assert (caught.value.code, caught.value.category) == (Code.TOO_LARGE, "PICTURE_TOO_LARGE")


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"<svg/>",
        b"%PDF-1.7",
        png()[:20],
        b"\x89PNG\r\n\x1a\n" + b"\0" * 40,
        gif(0, 5),
        jpeg(3, 0),
        b"\xff\xd8\xff" + b"\xff" * 100_000,
        b"\xff\xd8" + b"\xff\xe0\x00\x02" * 2_000_000,
        lossless(3, 3)[:22],
        b"RIFF\0\0\0\0WEBPVP8X",
    ],
    ids=lambda data: repr(data[:14]),
)
def test_what_is_no_picture_is_refused(data: bytes) -> None:
    with pytest.raises(VrError) as caught:
        Picture(data)
    assert (caught.value.code, caught.value.category) == (
        Code.INVALID_INPUT,
        "PICTURE_UNREADABLE",
    )


def test_a_picture_of_another_type_than_was_said_is_refused() -> None:
    with pytest.raises(VrError, match=r"image/jpeg, but is image/png"):
        Picture(png(), "image/jpeg")


def test_an_enormous_picture_is_refused() -> None:
    with pytest.raises(VrError) as caught:
        Picture(png(filler=10_000_000))
    assert caught.value.code is Code.TOO_LARGE


@given(st.sampled_from([*MADE]), st.data())
def test_damaged_bytes_are_a_picture_or_a_typed_error(make: Any, data: st.DataObject) -> None:
    damaged = bytearray(make(30, 20))
    for _ in range(data.draw(st.integers(0, 4))):
        damaged[data.draw(st.integers(0, len(damaged) - 1))] = data.draw(st.integers(0, 255))
    try:
        outcome = Picture(bytes(damaged[: data.draw(st.integers(0, len(damaged)))])).mime
    except VrError as error:
        outcome = error.category
    assert outcome.startswith(("image/", "PICTURE_"))


class Texts:
    """An embedder and reranker written before there were pictures: it has no `accepts`."""

    id = name = "old-texts"
    dimension = 2

    async def embed(self, items: Sequence[str], purpose: str) -> list[list[float]]:
        return [[float(len(item.encode())), 1.0] for item in items]

    async def rerank(self, query: str, texts: Sequence[str]) -> list[float]:
        return [float(text.count(query)) for text in texts]


class Both(Texts):
    """One that sees, too: pictures lie elsewhere than texts of the same bytes."""

    id = name = "both"
    accepts = frozenset({"text", "image"})

    def __init__(self) -> None:
        self.seen: list[str | Picture] = []

    async def embed(self, items: Sequence[str | Picture], purpose: str) -> list[list[float]]:
        self.seen.extend(items)
        return [[1.0 if isinstance(item, Picture) else 0.0, 1.0] for item in items]

    async def rerank(self, query: str, texts: Sequence[str | Picture]) -> list[float]:
        return [1.0 if isinstance(text, Picture) else 0.0 for text in texts]


@pytest.fixture
def begin(start: Any, make_plugin: Any) -> Any:
    async def begin(embedder: Any) -> Kernel:
        provider = Provider(Embedder, "minilm", lambda _services: embedder)
        return await start({"embedder": make_plugin(providers=[provider])})

    return begin


async def test_an_embedder_of_texts_is_never_handed_a_picture(begin: Any) -> None:
    vectors = (await begin(Texts())).services.vectors
    assert vectors.accepts == {"text"}
    assert await vectors.embed_documents(["ab"]) == [[2.0, 1.0]]
    picture = Picture(png())
    for ask in (
        vectors.embed_documents(["a", picture]),
        vectors.packed_documents([picture]),
        vectors.embed_query(picture),
    ):
        with pytest.raises(VrError, match="old-texts does not take pictures") as caught:
            await ask
        assert (caught.value.code, caught.value.category) == (
            Code.UNSUPPORTED,
            "MEDIA_UNSUPPORTED",
        )
    with pytest.raises(VrError, match="bytes is no text and no Picture") as caught:
        await vectors.embed_documents([png()])
    assert caught.value.code is Code.INVALID_INPUT


async def test_pictures_are_embedded_once_and_never_mistaken_for_texts(begin: Any) -> None:
    both = Both()
    vectors = (await begin(both)).services.vectors
    words = gif(20, 20).decode()
    items = [Picture(words.encode()), words, Picture(png()), words]
    pictures = [[1.0, 1.0], [0.0, 1.0], [1.0, 1.0], [0.0, 1.0]]
    assert await vectors.embed_documents(items) == pictures
    assert await vectors.embed_documents(items[::-1]) == pictures[::-1]
    assert both.seen == items[:3]
    assert await vectors.embed_query(items[0]) == [1.0, 1.0]
    assert await vectors.embed_query(words) == [0.0, 1.0]


async def test_the_key_of_a_text_is_the_digest_of_its_words(begin: Any) -> None:
    kernel = await begin(Both())
    await kernel.services.vectors.embed_documents(["kept", Picture(png())])
    file = kernel.config.paths.state / "vectors.db"
    with closing(sqlite3.connect(file)) as connection:
        kept = {key for (key,) in connection.execute("SELECT sha256 FROM vector")}
    assert len(kept) == 2
    assert hashlib.sha256(b"kept").hexdigest() in kept
    assert Picture(png()).digest not in kept, "a text may have the same bytes"


async def test_a_reranker_of_texts_is_never_handed_a_picture() -> None:
    old: Any = Texts()
    assert await rerank(old, "a", ["banana", "b"]) == [3.0, 0.0]
    with pytest.raises(VrError, match="old-texts does not take pictures"):
        await rerank(old, "a", ["banana", Picture(png())])
    assert await rerank(Both(), "a", ["banana", Picture(png())]) == [0.0, 1.0]
    with pytest.raises(VrError, match="mine does not take pictures"):
        texts_of("mine", ["a", Picture(png())])


@pytest.mark.parametrize("scores", [[], [1.0], [1.0, float("nan")]])
async def test_a_reranker_that_does_not_score_each_item_has_failed(scores: list[float]) -> None:
    class Careless:
        name = "careless"

        async def rerank(self, query: str, items: Sequence[str | Picture]) -> list[float]:
            return scores

    reranker: Reranker = Careless()
    with pytest.raises(VrError, match="careless") as caught:
        await rerank(reranker, "a", ["b", "c"])
    assert (caught.value.code, caught.value.category) == (Code.UNAVAILABLE, "REPLY_INVALID")


async def test_gemini_sees_pictures_next_to_texts(tmp_path: Path) -> None:
    items = [Picture(png(n, 2)) if n % 2 else f"text {n}" for n in range(1, 18)]
    with FakeGemini() as fake:
        async with gemini_at(fake.url, tmp_path) as gemini:
            found = await gemini.models.embed("gemini-embedding-2", items, "document", 8)
    assert len({tuple(vector) for vector in found.vectors}) == len(items)
    sent = [[look_up(part, "inlineData") for part in each.media] for each in fake.requests]
    assert [len(pictures) for pictures in sent] == [6, 3]
    assert [
        (base64.urlsafe_b64decode(each["data"]), look_up(each, "mimeType"))
        for pictures in sent
        for each in pictures
    ] == [(item.data, "image/png") for item in items if isinstance(item, Picture)]


@pytest.mark.parametrize(
    ("model", "picture"),
    [
        ("gemini-embedding-001", png()),
        ("gemini-embedding-9", png()),
        ("gemini-embedding-2", gif(3, 3)),
    ],
)
async def test_gemini_is_sent_no_picture_that_its_model_does_not_take(
    tmp_path: Path, model: str, picture: bytes
) -> None:
    with FakeGemini() as fake:
        async with gemini_at(fake.url, tmp_path) as gemini:
            with pytest.raises(VrError, match=model) as caught:
                await gemini.models.embed(model, ["a", Picture(picture)], "document", 8)
    assert (caught.value.code, fake.requests) == (Code.UNSUPPORTED, [])


class Maker:
    """A maker of models, one of which embeds pictures."""

    name = "maker"

    def check(self) -> None:
        return

    def model_for(self, role: str) -> str | None:
        return "words" if role == "embedding" else None

    def models(self) -> Sequence[ModelInfo]:
        both = frozenset({"text", "image", "audio"})
        return [ModelInfo("words", embeds=True), ModelInfo("both", accepts=both, embeds=True)]

    async def embed(self, model: str, items: Sequence[Any], purpose: str, dimension: Any) -> Any:
        vectors = [[1.0 if isinstance(item, Picture) else 0.0] for item in items]
        return Embeddings(vectors=vectors, model=model)


@pytest.mark.parametrize(
    ("model", "takes"),
    [("words", {"text"}), ("both", {"text", "image"}), ("unknown", {"text"})],
)
async def test_the_models_door_hands_pictures_to_who_takes_them(
    environ: Mapping[str, str],
    start: Any,
    make_plugin: Any,
    tmp_path: Path,
    model: str,
    takes: set[str],
) -> None:
    maker = make_plugin(providers=[Provider(ModelProvider, "maker", lambda _services: Maker())])
    variables = {**environ, "VR_MODELS__EMBEDDING": f"maker/{model},maker/both"}
    config = load_config(environ=variables, working_folder=tmp_path)
    models = (await start({"maker": maker}, config=config)).services.models
    assert models.info("embedding").accepts & {"text", "image"} == takes
    if "image" in takes:
        made = await models.embed(["a", Picture(png())], "document")
        assert made.vectors == [[0.0], [1.0]]
    else:
        with pytest.raises(VrError, match=f"maker/{model} does not take pictures") as caught:
            await models.embed(["a", Picture(png())], "document")
        assert caught.value.code is Code.UNSUPPORTED
