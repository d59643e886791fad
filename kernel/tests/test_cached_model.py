"""Results kept by model: another shape is a miss that heals, an old key is found once."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, Field
from vr_kernel.calls.result_cache import ResultCache
from vr_kernel.state.sqlite.cache import SqliteCache


class Scene(BaseModel):
    """A part."""

    start: float
    title: str = ""


class Scenes(BaseModel):
    """Everything has a default: an empty row would pass for one."""

    scenes: tuple[Scene, ...] = ()
    found: int = 0


class Words(BaseModel):
    """One field is required."""

    text: str
    notes: list[str] = []


SCENES = Scenes(scenes=(Scene(start=1.0, title="One"),), found=1)
WORDS = Words(text="said")
OTHERS: list[tuple[type[BaseModel], dict[str, Any]]] = [
    (Scenes, {}),
    (Scenes, {"other": 1}),
    (Scenes, {"found": 3}),
    (Scenes, {"scenes": [{"start": 1.0, "text": "of an older one"}], "found": 1}),
    (Scenes, {"scenes": [{"title": "no start"}], "found": 1}),
    (Scenes, {"scenes": None, "found": 1}),
    (Words, {}),
    (Words, {"text": None}),
    (Words, {"text": "said", "segments": []}),
    (Words, {"notes": []}),
]


@pytest.fixture
def cache(tmp_path: Path) -> Iterator[ResultCache]:
    with closing(
        ResultCache(SqliteCache(tmp_path / "results.db"), ttl_days=30, warn=_fail)
    ) as cache:
        yield cache


async def test_what_was_put_comes_back_until_it_is_deleted(cache: ResultCache) -> None:
    place = cache.model("key", Scenes)
    await place.put(SCENES, content_id="talk", tool="scenes", model="m")
    assert await place.get() == SCENES
    (entry,) = await cache.entries(9)
    assert (entry.content_id, entry.tool, entry.model) == ("talk", "scenes", "m")
    await place.delete()
    assert await place.get() is None


async def test_what_an_earlier_version_kept_is_moved_once_and_gets_no_younger(
    cache: ResultCache,
) -> None:
    await cache.set("key", SCENES.model_dump(mode="json"), content_id="talk", tool="t", model="m")
    before = await cache.entries(9)
    assert await cache.model("key", Scenes).get() == SCENES
    assert await cache.get("key") is None
    assert await cache.entries(9) == before
    assert await cache.model("key", Scenes).get() == SCENES


async def test_a_field_that_came_later_does_not_make_an_old_row_a_miss(cache: ResultCache) -> None:
    await cache.set("key", {"text": "said"})
    assert await cache.model("key", Words).get() == WORDS


@pytest.mark.parametrize("former", [True, False])
@pytest.mark.parametrize(("shape", "row"), OTHERS)
async def test_a_row_of_another_shape_is_a_miss_and_forgotten(
    cache: ResultCache, shape: type[BaseModel], row: dict[str, Any], former: bool
) -> None:
    place = cache.model("key", shape)
    await cache.set("key" if former else place.key, row)
    assert await place.get() is None
    assert await cache.entries(9) == []
    right = SCENES if shape is Scenes else WORDS
    await place.put(right)
    assert await place.get() == right


async def test_behind_a_row_that_does_not_fit_the_old_one_is_found(cache: ResultCache) -> None:
    place = cache.model("key", Words)
    await cache.set("key", WORDS.model_dump())
    await cache.set(place.key, {"other": 1})
    assert await place.get() == WORDS


async def test_a_model_that_changed_finds_nothing_and_leaves_the_other_alone(
    cache: ResultCache,
) -> None:
    class Changed(Words):
        text: str | None = None  # type: ignore[assignment]

    await cache.model("key", Words).put(WORDS)
    assert await cache.model("key", Changed).get() is None
    assert await cache.model("key", Words).get() == WORDS


async def test_words_that_explain_a_model_are_no_part_of_its_shape(cache: ResultCache) -> None:
    class Explained(BaseModel):
        """The same, in other words."""

        text: str = Field(title="What was said", description="All of it")
        notes: list[str] = []

    await cache.model("key", Words).put(WORDS)
    assert await cache.model("key", Explained).get() == Explained(text="said")


async def test_what_is_more_than_the_shape_is_left_out(cache: ResultCache) -> None:
    class More(Words):
        extra: int = 1

    place = cache.model("key", Words)
    await place.put(More(text="said"))
    assert await place.get() == WORDS


json_rows = st.dictionaries(
    st.sampled_from(["text", "notes", "scenes", "found", "other"]),
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.sampled_from(["start", "title", "x"]), inner, max_size=3)
        ),
        max_leaves=5,
    ),
)


@settings(max_examples=20)
@given(row=json_rows, shape=st.sampled_from([Scenes, Words]), former=st.booleans())
def test_no_row_is_a_wrong_answer(
    tmp_path_factory: pytest.TempPathFactory,
    row: dict[str, Any],
    shape: type[BaseModel],
    former: bool,
) -> None:
    path = tmp_path_factory.getbasetemp() / "any-row.db"

    async def check() -> None:
        with closing(ResultCache(SqliteCache(path), ttl_days=30, warn=_fail)) as cache:
            place = cache.model("key", shape)
            await place.delete()
            await cache.set("key" if former else place.key, row)
            found = await place.get()
            if found is None:
                assert await cache.get("key") is None
                assert await cache.get(place.key) is None
            else:
                assert set(row) <= set(found.model_dump())
                assert await place.get() == found

    asyncio.run(check())


def _fail(error: object) -> None:
    raise AssertionError(error)
