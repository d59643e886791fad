"""Parts of tests of this plugin: kernels with it, and documents that they read."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pydantic import BaseModel
from vr_kernel import READ_ONLY, Call, Document, hookimpl, tool
from vr_plugin_content import plugin
from vr_testing import open_kernel

DATA = Path(os.environ.get("VR_TEST_DATA", "/nowhere"))
HAS_DATA = DATA.is_dir()
needs_data = pytest.mark.skipif(not HAS_DATA, reason="VR_TEST_DATA names no test data")


class Loaded(BaseModel):
    """The result of the kit's tool."""

    title: str


class Desk:
    """A kernel with the plugin, and a folder that it may read."""

    def __init__(self, kernel: Any, folder: Path, loaded: list[Document]) -> None:
        self.kernel = kernel
        self.folder = folder
        self._loaded = loaded

    async def load(self, source: str | Path, *, pictures: bool = False) -> Document:
        """Load a document as any other plugin does."""
        await self.kernel.call("kit_load", source=str(source), pictures=pictures)
        return self._loaded[-1]

    async def read(self, source: str | Path, **arguments: Any) -> Any:
        """Call `content_read`."""
        return await self.kernel.call("content_read", source=str(source), **arguments)

    def write(self, name: str, content: str | bytes) -> Path:
        """Write a file below the folder."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path


@asynccontextmanager
async def open_desk(
    folder: Path,
    *,
    plugins: Mapping[str, object] | None = None,
    settings: Mapping[str, object] | None = None,
    roots: Sequence[Path] = (),
    **more: Any,
) -> AsyncIterator[Desk]:
    """Open a kernel with the plugin, in a folder."""
    loaded: list[Document] = []

    @tool(effects=READ_ONLY)
    async def kit_load(call: Call, source: str, pictures: bool = False) -> Loaded:
        """Load a document."""
        document = await call.services.documents.load(call, source, pictures=pictures)
        loaded.append(document)
        return Loaded(title=document.title)

    @hookimpl
    def vr_tools() -> list[object]:
        return [kit_load]

    given = {"content": plugin, "kit": SimpleNamespace(vr_tools=vr_tools), **(plugins or {})}
    real, roots = _real(folder), [*roots, *([DATA] if HAS_DATA else [])]
    async with open_kernel(given, settings=settings, folder=real, roots=roots, **more) as kernel:
        yield Desk(kernel, real, loaded)


def _real(folder: Path) -> Path:
    return Path(os.path.realpath(folder))
