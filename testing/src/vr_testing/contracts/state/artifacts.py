"""The contract of artifacts: tests that the tests of each `ArtifactStore` inherit."""

from __future__ import annotations

import asyncio
import hashlib
import time
from abc import ABC, abstractmethod
from collections.abc import Awaitable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import pytest
from vr_kernel import Code, VrError
from vr_kernel.state import ArtifactStore

UNKNOWN = f"{'0' * 64}.png"
NOT_NAMES = {
    "nothing": "",
    "itself": ".",
    "above": "..",
    "file above": "../secret.png",
    "known file above": f"../{UNKNOWN}",
    "below": f"a/{UNKNOWN}",
    "absolute": "/etc/passwd",
    "backslash": f"..\\{UNKNOWN}",
    "escaped": f"..%2f{UNKNOWN}",
    "nul": f"{UNKNOWN}\0",
    "nul before": f"\0{UNKNOWN}",
    "half a pair": f"{UNKNOWN}\ud800",
    "line": f"{UNKNOWN}\n",
    "no ending": "0" * 64,
    "capitals": f"{'A' * 64}.PNG",
    "4 kB": "0" * 4096,
    "4 kB ending": f"{'0' * 64}.{'a' * 4096}",
    "unknown": UNKNOWN,
}
RANGES = ((0, None), (0, 0), (0, 3), (2, 3), (4, None), (8, 5), (10, 1), (10, None), (2**70, 2**70))
LARGE = bytes(range(256)) * 20_000
"""More than one piece, in whatever pieces a store reads."""


class ArtifactStoreContract(ABC):
    """The tests of `vr_kernel.state.ArtifactStore`, for pytest with asyncio's auto mode.

    A subclass says how a store is opened; each test opens its own, which is empty.
    """

    @abstractmethod
    def opened(self) -> AbstractAsyncContextManager[ArtifactStore]:
        """Open an empty store."""

    @abstractmethod
    async def change(self, store: ArtifactStore, name: str, content: bytes) -> None:
        """Replace the content of an artifact behind the store's back."""

    async def test_what_was_added_is_found(self, tmp_path: Path) -> None:
        """By name, with type, size and time: bytes, and the copy of a file."""
        async with self.opened() as store:
            source = tmp_path / "frame"
            await asyncio.to_thread(source.write_bytes, LARGE)
            for content, data, mime in ((b"", b"", "text/plain"), (source, LARGE, "image/png")):
                before = time.time() - 5
                made = await store.add(content, mime)
                assert made.name.startswith(hashlib.sha256(data).hexdigest() + ".")
                assert (made.mime, made.size) == (mime, len(data))
                assert before < made.modified < time.time() + 5
                assert await store.find(made.name) == made
                assert await store.read(made.name) == data
                assert b"".join([piece async for piece in store.stream(made.name)]) == data
                async with store.local(made.name) as file:
                    assert await asyncio.to_thread(file.read_bytes) == data
                    assert file.name == made.name

    async def test_equal_content_is_one(self) -> None:
        """However many add it at once; of another type it is another one."""
        async with self.opened() as store:
            made = await asyncio.gather(*(store.add(LARGE, "image/png") for _ in range(8)))
            assert len({it.name for it in made}) == 1
            await store.add(LARGE, "text/plain")
            assert {it.name async for it in store.list()} > {made[0].name}
            assert [it.size async for it in store.list()] == [len(LARGE)] * 2

    @pytest.mark.parametrize("mime", ["", "x/unknown", "../../x", "text/plain; charset=utf-8"])
    async def test_any_type_can_be_kept(self, mime: str) -> None:
        """An unknown one is found as that of bytes."""
        async with self.opened() as store:
            made = await store.add(b"content", mime)
            assert await store.find(made.name) == made
            assert "/" not in made.name

    @pytest.mark.parametrize(("start", "length"), RANGES)
    async def test_ranges_end_where_the_content_ends(self, start: int, length: int | None) -> None:
        """Past the end there is nothing, and no error."""
        async with self.opened() as store:
            made = await store.add(b"0123456789", "text/plain")
            expected = b"0123456789"[start:][:length]
            assert await store.read(made.name, start, length) == expected

    @pytest.mark.parametrize("name", NOT_NAMES.values(), ids=NOT_NAMES)
    async def test_nothing_is_found_under_other_names(self, name: str) -> None:
        """By no way in, and no file outside is touched."""
        async with self.opened() as store:
            await store.add(b"content", "image/png")
            for work in (
                store.find(name),
                store.read(name),
                store.link(name, 60),
                _streamed(store, name),
                _held(store, name),
            ):
                await refused(work, Code.NOT_FOUND)
            assert not await store.delete(name)
            assert len([it async for it in store.list()]) == 1

    async def test_ranges_and_times_that_cannot_be_are_refused(self) -> None:
        """Before the artifact is looked for."""
        async with self.opened() as store:
            made = await store.add(b"content", "text/plain")
            for start, length in ((-1, None), (0, -1), (-1, -1)):
                await refused(store.read(made.name, start, length), Code.INVALID_INPUT)
            for seconds in (0, -1, float("nan"), float("inf")):
                await refused(store.link(made.name, seconds), Code.INVALID_INPUT)

    async def test_a_link_is_an_address_or_none(self) -> None:
        """Many stores have none."""
        async with self.opened() as store:
            made = await store.add(b"content", "text/plain")
            link = await store.link(made.name, 60)
            assert link is None or made.name in link

    async def test_a_deleted_artifact_is_gone_until_it_is_added_again(self) -> None:
        """Others stay."""
        async with self.opened() as store:
            made, other = await store.add(LARGE, "image/png"), await store.add(b"b", "image/png")
            assert await store.delete(made.name)
            assert not await store.delete(made.name)
            await refused(store.find(made.name), Code.NOT_FOUND)
            assert [it.name async for it in store.list()] == [other.name]
            assert (await store.add(LARGE, "image/png")).name == made.name

    async def test_changed_content_is_refused_before_its_end(self) -> None:
        """A reader who comes to the end has what was added."""
        async with self.opened() as store:
            for content, other in ((b"content", b"foreign"), (LARGE, LARGE[::-1]), (b"x", b"")):
                made = await store.add(content, "text/plain")
                await self.change(store, made.name, other)
                await refused(_streamed(store, made.name), Code.CONFLICT, "ARTIFACT_CHANGED")

    async def test_a_file_that_cannot_be_read_is_not_kept(self, tmp_path: Path) -> None:
        """Its own error tells why."""
        async with self.opened() as store:
            for source in (tmp_path / "none", tmp_path):
                with pytest.raises(OSError):  # noqa: PT011 - its kind is the system's
                    await store.add(source, "text/plain")
            assert [it async for it in store.list()] == []


async def refused(work: Awaitable[Any], code: Code, category: str = "") -> None:
    """Await work that must be refused with that code, and that category if one is named."""
    with pytest.raises(VrError) as error:
        await work
    assert error.value.code is code
    assert error.value.category == category or not category


async def _streamed(store: ArtifactStore, name: str) -> None:
    async for _ in store.stream(name):
        pass


async def _held(store: ArtifactStore, name: str) -> None:
    async with store.local(name):
        pass
