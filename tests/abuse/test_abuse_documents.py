"""Documents that were made to hurt: refused or cut, the server answers on, nothing is left."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import hostile_documents as documents
import pytest
import pytest_asyncio
import vr_plugin_content.plugin
from hostile_files import Elsewhere
from touch_watch import TouchWatch, watch_touches
from vr_kernel import Code
from vr_testing import open_kernel

pytestmark = [
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.skipif(sys.platform != "linux", reason="inotify, and limits of memory"),
]
TYPED = {Code.INVALID_INPUT, Code.NOT_ALLOWED, Code.UNSUPPORTED, Code.TOO_LARGE, Code.AUTH}
ALLOWED_S = "20"
"""Seconds for a parser: on a busy machine nothing here takes as long."""


class Reader:
    """A kernel that reads documents, a lure that they lead to, a folder for temporary files."""

    def __init__(self, kernel: Any, folder: Path, touches: TouchWatch, left: Path) -> None:
        self.kernel = kernel
        self.folder = folder
        self.touches = touches
        self.left = left

    async def read(self, name: str, makers: Any) -> Any:
        """Write a document, and read it; returns the outcome."""
        elsewhere = Elsewhere(self.touches.file, self.touches.url)
        (path,) = documents.write(self.folder, elsewhere, {name: makers[name]})
        outcome = await self.kernel.run("content_read", {"source": str(path)})
        path.unlink()
        return outcome


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def reader(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Reader]:
    folder = tmp_path_factory.mktemp("documents").resolve()
    lure, left = folder / "lure.txt", folder / "temporary"
    lure.write_text("quokka, not to be read", "utf-8")
    left.mkdir()
    root = folder / "root"
    root.mkdir()
    before = os.environ.get("TMPDIR")
    os.environ["TMPDIR"] = str(left)
    plugins = {"content": vr_plugin_content.plugin}
    settings = {
        "plugins.content.parser_timeout_s": ALLOWED_S,
        "plugins.content.max_chars": "500000",
    }
    try:
        with watch_touches(lure) as touches:
            async with open_kernel(plugins, settings=settings, folder=root) as kernel:
                yield Reader(kernel, root, touches, left)
            assert touches.touched() == []
    finally:
        os.environ.pop("TMPDIR") if before is None else os.environ.update(TMPDIR=before)
    assert [*left.iterdir()] == []


@pytest.mark.parametrize("name", documents.REFUSED)
async def test_it_is_refused_with_a_hint(reader: Reader, name: str) -> None:
    outcome = await reader.read(name, documents.REFUSED)
    error = outcome.error
    assert error is not None, outcome.data
    assert error.code in TYPED
    assert error.hint
    assert "quokka" not in f"{error.message} {error.hint}"


@pytest.mark.parametrize("name", documents.CAPPED)
async def test_it_is_refused_or_read_as_far_as_there_is_room(reader: Reader, name: str) -> None:
    outcome = await reader.read(name, documents.CAPPED)
    if outcome.error is not None:
        assert outcome.error.code in TYPED, outcome.error.message
        assert outcome.error.hint
    else:
        assert "quokka" not in outcome.data["text"]
        assert len(outcome.data["text"]) < 60_000
    good = reader.folder / "good.md"
    good.write_text("# Good\n\nIt is read.\n")
    after = await reader.kernel.run("content_read", {"source": str(good)})
    assert after.error is None
    good.unlink()


async def test_a_sparse_file_is_refused_by_its_size(reader: Reader) -> None:
    path = reader.folder / "sparse.pdf"
    with path.open("wb") as file:
        file.truncate(10 * 2**30)
    outcome = await reader.kernel.run("content_read", {"source": str(path)})
    path.unlink()
    assert outcome.error.category == "FILE_TOO_LARGE"
