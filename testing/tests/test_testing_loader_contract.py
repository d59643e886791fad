"""The contract of document loaders notices those that do not keep it."""

from __future__ import annotations

import asyncio
import hashlib
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from vr_kernel import Call, Document, DocumentLoader, Locator, Provider, Segment, VrError, hookimpl
from vr_testing import DocumentLoaderContract

CARELESS = (AssertionError, pytest.fail.Exception, VrError, UnicodeDecodeError, OSError)


class Lines:
    """Reads text files, a segment a line."""

    name = "lines"

    def takes(self, source: str) -> bool:
        return source.endswith(".lines")

    async def load(self, call: Call, source: str) -> Document:
        content = await asyncio.to_thread(self.read, call, source)
        return Document(
            source=source,
            title=Path(source).stem,
            mime="text/plain",
            sha256=hashlib.sha256(content).hexdigest(),
            segments=self.segments(self.decode(content)),
        )

    def read(self, call: Call, source: str) -> bytes:
        with call.services.policy.open_file(source) as file:
            return file.read()

    def decode(self, content: bytes) -> str:
        return content.decode("utf-8", "replace")

    def segments(self, text: str) -> list[Segment]:
        lines = enumerate(text.splitlines(), 1)
        return [Segment(line, Locator(first_line=n)) for n, line in lines if line.strip()]


class Greedy(Lines):
    def takes(self, source: str) -> bool:
        return bool(source)


class Reversing(Lines):
    def segments(self, text: str) -> list[Segment]:
        return super().segments(text)[::-1]


class Placeless(Lines):
    def segments(self, text: str) -> list[Segment]:
        return [Segment(text, Locator())]


class Nameless(Lines):
    async def load(self, call: Call, source: str) -> Document:
        whole = await super().load(call, source)
        return Document("", "", whole.mime, whole.sha256, whole.segments)


class Lawless(Lines):
    def read(self, call: Call, source: str) -> bytes:
        del call
        return Path(source).read_bytes()


class Strict(Lines):
    def decode(self, content: bytes) -> str:
        return content.decode()


BROKEN = [
    (Greedy, "test_it_takes_by_the_name_alone"),
    (Greedy, "test_a_document_of_nobody_is_refused"),
    (Reversing, "test_words_come_in_their_order_with_their_places"),
    (Placeless, "test_words_come_in_their_order_with_their_places"),
    (Nameless, "test_a_document_says_what_it_is"),
    (Lawless, "test_a_file_outside_the_allowed_folders_is_refused"),
    (Lawless, "test_a_file_that_is_not_there_is_not_found"),
    (Strict, "test_bytes_that_are_not_what_the_name_says_are_no_crash"),
]
PROMISES = sorted({name for name in dir(DocumentLoaderContract) if name.startswith("test_")})


def contract(build: type[Lines]) -> Any:
    """The contract of a loader, as its plugin's tests have it."""

    @hookimpl
    def vr_providers() -> list[Provider[Any]]:
        return [Provider(DocumentLoader, "ours", lambda _services: build())]

    class Sample(DocumentLoaderContract):
        plugins = {"ours": SimpleNamespace(vr_providers=vr_providers)}  # noqa: RUF012 - a test's
        provider = "ours"
        name = "sample.lines"
        words = ("one", "two", "three")

        def write(self, path: Path) -> None:
            path.write_text("one\ntwo\n\nthree\n")

    return Sample()


@pytest.mark.parametrize("promise", PROMISES)
async def test_a_sound_loader_passes(promise: str) -> None:
    await getattr(contract(Lines), promise)()


@pytest.mark.parametrize(("build", "promise"), BROKEN)
async def test_a_careless_loader_fails(build: type[Lines], promise: str) -> None:
    with pytest.raises(CARELESS):
        await getattr(contract(build), promise)()


def test_every_promise_has_a_careless_loader() -> None:
    assert sorted({promise for _, promise in BROKEN}) == PROMISES
