"""The contract of document loaders: tests that the tests of each loader inherit."""

from __future__ import annotations

import asyncio
import hashlib
import os
from abc import abstractmethod
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import ClassVar

from pydantic import BaseModel
from vr_kernel import Document, DocumentLoader
from vr_kernel.call import Call
from vr_kernel.errors import Code, VrError
from vr_kernel.hookspecs import hookimpl
from vr_kernel.tools import READ_ONLY, tool

from vr_testing.contracts.outcomes import failure
from vr_testing.contracts.provider import ProviderContract
from vr_testing.kernels import TrialKernel, open_kernel


class Loaded(BaseModel):
    """The result of this contract's tool."""

    title: str


@dataclass(frozen=True, slots=True)
class Desk:
    """A kernel whose tool loads documents, the folder it may read, and the loaded documents."""

    kernel: TrialKernel
    folder: Path
    loaded: list[Document]

    async def load(self, source: str) -> Document:
        """Load a document for a call, as any other plugin does.

        Raises:
            VrError: as the loader does.
        """
        await self.kernel.call("contract_load", source=source)
        return self.loaded[-1]


class DocumentLoaderContract(ProviderContract[DocumentLoader]):
    r"""The tests of `vr_kernel.DocumentLoader`, for pytest with asyncio's auto mode.

    A loader's tests subclass it once, and write a sample document:

    ```python
    class TestNotes(DocumentLoaderContract):
        plugins: ClassVar = {"notes": plugin}
        provider = "notes"
        name = "note.txt"
        words = ("first line", "last line")

        def write(self, path: Path) -> None:
            path.write_text("The first line.\n\nThe last line.\n")
    ```

    Every test opens a kernel of its own. A test can be overridden where a loader has a reason
    to differ.
    """

    kind = DocumentLoader
    name: ClassVar[str]
    """A file name that this loader takes."""
    words: ClassVar[tuple[str, ...]]
    """Words of the sample, in its order."""
    foreign: ClassVar[str] = "page.of-no-known-kind"
    """A file name that this loader does not take."""

    @abstractmethod
    def write(self, path: Path) -> None:
        """Write the sample document to `path`; more files only next to it."""

    async def test_it_takes_by_the_name_alone(self) -> None:
        """A missing file, too, is taken or refused by its name."""
        async with self.opened() as loader:
            assert loader.name
            assert loader.takes(f"nowhere/{self.name}")
            assert not loader.takes(f"nowhere/{self.foreign}")

    async def test_words_come_in_their_order_with_their_places(self) -> None:
        """Every segment has text, and its place in the document."""
        async with self._at_desk() as desk:
            path = await self._sample(desk)
            document = await desk.load(str(path))
            text = "\n".join(segment.text for segment in document.segments)
            places = [text.find(word) for word in self.words]
            assert -1 not in places, f"not found: {self.words[places.index(-1)]!r}"
            assert places == sorted(places), "out of order"
            for segment in document.segments:
                assert segment.text.strip(), "an empty segment"
                assert segment.locator.as_dict(), f"no place: {segment.text[:80]!r}"

    async def test_a_document_says_what_it_is(self) -> None:
        """Source, title, media type, and the digest of its bytes."""
        async with self._at_desk() as desk:
            path = await self._sample(desk)
            document = await desk.load(str(path))
            assert document.source == str(path)
            assert document.title.strip()
            assert "/" in document.mime
            content = await asyncio.to_thread(path.read_bytes)
            assert document.sha256 == hashlib.sha256(content).hexdigest()

    async def test_a_file_outside_the_allowed_folders_is_refused(self) -> None:
        """NOT_ALLOWED, whether or not it exists."""
        async with self._at_desk() as desk:
            with TemporaryDirectory() as outside:
                path = Path(outside, self.name)
                await asyncio.to_thread(self.write, path)
                error = await failure(desk.load(str(path)))
            assert error.code is Code.NOT_ALLOWED, error
            assert not desk.loaded

    async def test_a_file_that_is_not_there_is_not_found(self) -> None:
        """NOT_FOUND."""
        async with self._at_desk() as desk:
            error = await failure(desk.load(str(desk.folder / self.name)))
            assert error.code is Code.NOT_FOUND, error

    async def test_bytes_that_are_not_what_the_name_says_are_no_crash(self) -> None:
        """They are read as what they are, or refused with a hint."""
        async with self._at_desk() as desk:
            path = desk.folder / self.name
            await asyncio.to_thread(path.write_bytes, bytes(range(256)) * 8)
            refused: VrError | None = None
            try:
                await desk.load(str(path))
            except VrError as error:
                refused = error
            assert refused is None or refused.code in {Code.UNSUPPORTED, Code.INVALID_INPUT}
            assert refused is None or refused.hint

    async def test_a_document_of_nobody_is_refused(self) -> None:
        """The kernel refuses it, and asks no loader."""
        async with self._at_desk() as desk:
            error = await failure(desk.load(str(desk.folder / self.foreign)))
            assert (error.code, error.category) == (Code.UNSUPPORTED, "NO_LOADER")

    async def _sample(self, desk: Desk) -> Path:
        path = desk.folder / self.name
        await asyncio.to_thread(self.write, path)
        return path

    @asynccontextmanager
    async def _at_desk(self) -> AsyncIterator[Desk]:
        loaded: list[Document] = []

        @tool(effects=READ_ONLY)
        async def contract_load(call: Call, source: str) -> Loaded:
            """Load a document."""
            document = await call.services.documents.load(call, source)
            loaded.append(document)
            return Loaded(title=document.title)

        @hookimpl
        def vr_tools() -> list[object]:
            return [contract_load]

        plugins: Mapping[str, object] = {
            **self.plugins,
            "contract": SimpleNamespace(vr_tools=vr_tools),
        }
        with TemporaryDirectory() as made:
            folder = Path(await asyncio.to_thread(os.path.realpath, made))
            async with open_kernel(plugins, settings=self.settings, folder=folder) as kernel:
                yield Desk(kernel, folder, loaded)
