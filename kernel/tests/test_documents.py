"""Documents of loaders: places in words, and pictures for those who ask for them."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest
from pydantic import BaseModel
from vr_kernel import (
    READ_ONLY,
    Call,
    Document,
    DocumentLoader,
    DocumentPicture,
    Heading,
    Locator,
    Provider,
    Segment,
    hookimpl,
    tool,
)
from vr_testing import open_kernel


@pytest.mark.parametrize(
    ("place", "words"),
    [
        (Locator(), ""),
        (Locator(page=7), "p. 7"),
        (Locator(slide=3), "slide 3"),
        (Locator(sheet="Costs", cells="A1:C9"), "Costs!A1:C9"),
        (Locator(first_line=3, last_line=3), "line 3"),
        (Locator(file="src/a.py", first_line=3, last_line=9), "src/a.py, lines 3-9"),
        (Locator(page=2, heading=("Part", "Chapter")), "p. 2, Part > Chapter"),
        (Locator(start=93.5, end=100.0), "1:33"),
        (Locator(cell=4), "cell 4"),
        (Locator(message=2), "message 2"),
        (Locator(box=(120.0, 48.5, 30.0, 9.0)), "at 120, 48.5"),
        (Locator(page=2, box=(120.0, 48.5, 30.0, 9.0)), "p. 2"),
    ],
)
def test_a_place_in_words(place: Locator, words: str) -> None:
    assert place.label == words


class Seen(BaseModel):
    """The number of pictures of a document that was loaded twice."""

    plain: int
    asked: int


@tool(effects=READ_ONLY)
async def album_load(call: Call, source: str) -> Seen:
    """Load a document without its pictures, and with them."""
    documents = call.services.documents
    plain = await documents.load(call, source)
    asked = await documents.load(call, source, pictures=True)
    return Seen(plain=len(plain.pictures), asked=len(asked.pictures))


class Album:
    """A loader of documents that have one picture."""

    name = "album"

    def takes(self, source: str) -> bool:
        """Take everything."""
        return source.endswith(".album")

    async def load(self, call: Call, source: str) -> Document:
        """Return a page with a heading."""
        page = Locator(page=1)
        segments, outline = [Segment("Words.", page)], [Heading("Title", 1, page)]
        return Document(source, "Title", "text/album", "", segments, outline=outline)


class PicturedAlbum(Album):
    """The same, with a picture."""

    async def pictures(self, call: Call, source: str) -> list[DocumentPicture]:
        """Keep the picture."""
        kept = call.artifact(b"\x89PNG", "image/png")
        return [DocumentPicture(kept.uri, "image/png", Locator(page=1), "A cat", 4, 3)]


@pytest.mark.parametrize(("loader", "pictures"), [(Album(), 0), (PicturedAlbum(), 1)])
async def test_pictures_come_when_they_are_asked_for(
    tmp_path: Path, loader: DocumentLoader, pictures: int
) -> None:
    @hookimpl
    def vr_providers() -> list[Provider[DocumentLoader]]:
        return [Provider(DocumentLoader, "album", lambda _services: loader)]

    @hookimpl
    def vr_tools() -> list[object]:
        return [album_load]

    plugin = SimpleNamespace(vr_tools=vr_tools, vr_providers=vr_providers)
    async with open_kernel({"album": plugin}, folder=tmp_path) as kernel:
        seen = await kernel.call("album_load", source="a.album")
        assert (seen.plain, seen.asked) == (0, pictures)
