"""The stores of artifacts: a folder, and memory."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from vr_kernel import VrError
from vr_kernel.files.artifact_folder import LISTED, ArtifactFolder
from vr_kernel.state import ArtifactStore
from vr_testing import ArtifactStoreContract, MemoryArtifacts


class TestMemoryArtifacts(ArtifactStoreContract):
    """Artifacts in memory."""

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[ArtifactStore]:
        """Open an empty store."""
        yield MemoryArtifacts()

    async def change(self, store: ArtifactStore, name: str, content: bytes) -> None:
        """Replace the content of an artifact."""
        assert isinstance(store, MemoryArtifacts)
        store.kept[name] = content, store.kept[name][1]


class TestArtifactFolder(ArtifactStoreContract):
    """Artifacts in a folder."""

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[ArtifactStore]:
        """Open an empty store, beside a file that it must not find."""
        with tempfile.TemporaryDirectory() as above:
            secret = Path(above) / f"{'0' * 64}.png"
            await asyncio.to_thread(secret.write_bytes, b"secret")
            yield ArtifactFolder(Path(above) / "artifacts")
            assert await asyncio.to_thread(secret.read_bytes) == b"secret"

    async def change(self, store: ArtifactStore, name: str, content: bytes) -> None:
        """Replace the content of a file."""
        assert isinstance(store, ArtifactFolder)
        await asyncio.to_thread((store.folder / name).write_bytes, content)


async def test_a_link_in_the_folder_is_no_artifact(tmp_path: Path) -> None:
    store = ArtifactFolder(tmp_path / "artifacts")
    made = await store.add(b"content", "text/plain")
    (tmp_path / "outside").write_bytes(b"outside")
    for name, target in ((f"{'1' * 64}.png", "outside"), (f"{'2' * 64}.png", ".")):
        (store.folder / name).symlink_to(tmp_path / target)
        with pytest.raises(VrError, match="No artifact"):
            await store.read(name)
    (store.folder / f"{'3' * 64}.png").mkdir()
    (store.folder / ".part-x").write_bytes(b"")
    assert [it async for it in store.list()] == [made]


async def test_many_artifacts_are_listed_each_once(tmp_path: Path) -> None:
    store = ArtifactFolder(tmp_path)
    names = {f"{number:064}.png" for number in range(2 * LISTED + 1)}
    for name in names:
        (tmp_path / name).touch()
    listed = [it.name async for it in store.list()]
    assert len(listed) == len(names)
    assert {*listed} == names


async def test_a_file_in_the_place_of_the_folder_is_a_typed_error(tmp_path: Path) -> None:
    (tmp_path / "artifacts").write_bytes(b"")
    store = ArtifactFolder(tmp_path / "artifacts")
    assert [it async for it in store.list()] == []
    with pytest.raises(VrError) as error:
        await store.add(b"content", "text/plain")
    assert error.value.code == "UNAVAILABLE"
