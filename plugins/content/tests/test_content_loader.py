"""Documents of every kind for other plugins: exact places, what they are, what is refused."""

from __future__ import annotations

import json
import struct
import zipfile
from pathlib import Path
from random import Random
from typing import ClassVar

import pdfkit
import pytest
from contentkit import DATA, Desk, needs_data
from vr_kernel import Code, VrError
from vr_plugin_content import plugin
from vr_testing import DocumentLoaderContract

NOTES = "# Notes\n\nThe first words.\n\n## Later\n\nThe last words.\n"


class TestContentLoader(DocumentLoaderContract):
    """Promises of every loader."""

    plugins: ClassVar = {"content": plugin}
    provider = "content"
    name = "notes.md"
    words = ("The first words.", "The last words.")

    def write(self, path: Path) -> None:
        path.write_text(NOTES)


async def test_sections_have_headings_and_lines(desk: Desk) -> None:
    document = await desk.load(desk.write("notes.md", NOTES))
    assert document.title == "Notes"
    places = [segment.locator for segment in document.segments]
    assert [(it.heading, it.first_line, it.last_line) for it in places] == [
        (("Notes",), 1, 4),
        (("Notes", "Later"), 5, 8),
    ]
    assert [(it.text, it.level) for it in document.outline] == [("Notes", 1), ("Later", 2)]


@needs_data
@pytest.mark.parametrize(
    ("name", "places", "words"),
    [
        ("mid_test.pptx", [f"slide {n}" for n in range(1, 7)], "A table to test parsing:"),
        ("mid_test.xlsx", ["Sheet1!A2:D24", "09060124-b5e7-4717-9d07-3c046eb!A2:D5"], "| 89 |"),
        ("mid_test.pdf", ["p. 1"], "AutoGen"),
        ("mid_test.epub", ["Chapter 1: Test Content", "Chapter 2: More Content"], "second chapter"),
    ],
)
async def test_places_of_real_documents(
    desk: Desk, name: str, places: list[str], words: str
) -> None:
    if name != "mid_test.pdf":
        pytest.importorskip("xberg")
    document = await desk.load(DATA / "media" / name)
    assert [segment.locator.label for segment in document.segments] == places
    assert any(words in segment.text for segment in document.segments)
    assert document.limits == ()


@pytest.mark.parametrize(
    ("name", "content", "code", "category"),
    [
        ("a.pdf", b"", Code.UNSUPPORTED, "DOCUMENT_EMPTY"),
        ("a.pdf", b"%PDF-1.7\nnothing", Code.UNSUPPORTED, "DOCUMENT_DAMAGED"),
        ("a.pdf", b"\x89PNG\r\n\x1a\n....", Code.UNSUPPORTED, "NOT_AS_NAMED"),
        ("a.txt", b"%PDF-1.7\n", Code.UNSUPPORTED, "NOT_AS_NAMED"),
        ("a.docx", b"PK\x03\x04 no archive", Code.UNSUPPORTED, "DOCUMENT_DAMAGED"),
        ("a.docx", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), Code.AUTH, "PASSWORD_NEEDED"),
        ("a.md", b"  \n \n", Code.UNSUPPORTED, "DOCUMENT_EMPTY"),
        ("a.ipynb", b"[1, 2", Code.UNSUPPORTED, "DOCUMENT_DAMAGED"),
        ("a.png", b"\x89PNG\r\n\x1a\n" + bytes(30), Code.UNSUPPORTED, "DOCUMENT_DAMAGED"),
        ("a", bytes(range(256)), Code.UNSUPPORTED, "FILE_UNSUPPORTED"),
    ],
)
async def test_bad_files_are_refused_with_a_hint(
    desk: Desk, name: str, content: bytes, code: Code, category: str
) -> None:
    path = desk.write(name, content)
    with pytest.raises(VrError) as caught:
        await desk.load(path)
    assert (caught.value.code, caught.value.category) == (code, category)
    assert caught.value.hint


async def test_contents_and_index_of_a_manual_are_no_passages(desk: Desk) -> None:
    """A list of pages is found by no search; a page of other numbers is, and so is a short one."""
    contents = [f"Chapter {number} on pumps . . . . . . . {number + 3}" for number in range(1, 13)]
    prices = [f"Bolt number {number}, {7000 + number}" for number in range(1, 13)]
    texts = [contents, prices, *[[f"Chapter {number} tells of it."] for number in range(1, 22)]]
    desk.write("manual.pdf", pdfkit.document([lines(it) for it in texts]))
    desk.write("leaflet.pdf", pdfkit.document([lines(it) for it in texts[:3]]))
    found = {}
    for name in ("manual.pdf", "leaflet.pdf"):
        await desk.read(desk.folder / name)
        found[name] = {page for source, page in await recorded(desk) if source.endswith(name)}
    assert found["manual.pdf"] == set(range(2, 24))
    assert found["leaflet.pdf"] == {1, 2, 3}


def lines(said: list[str]) -> bytes:
    """Content of a page, line below line."""
    return b"".join(pdfkit.words(line, y=700 - 16 * at) for at, line in enumerate(said))


async def recorded(desk: Desk) -> list[tuple[str, int]]:
    """Source and page of each passage."""
    changes = await desk.kernel.services.journal.changes(0, 1_000)
    kept = [it.fields for it in changes if it.kind == "DocumentPassages"]
    return [(str(it["source"]), it["page"]) for it in kept]


async def test_a_text_without_spaces_is_cut_and_nothing_of_it_is_lost(desk: Desk) -> None:
    """A splitter that looks for words takes time that grows with the square of such a text."""
    signs = "".join(Random(7).choices([chr(0x4E00 + at) for at in range(20_000)], k=150_000))
    await desk.read(desk.write("signs.md", f"# Signs\n\n{signs}\n"))
    changes = await desk.kernel.services.journal.changes(0, 1_000)
    passages = sorted((it.fields["position"], it.fields["text"]) for it in changes if it.fields)
    assert "".join(text for _, text in passages).removeprefix("# Signs").strip() == signs


async def test_a_document_of_many_small_pieces_comes_in_parts(desk: Desk) -> None:
    """The places of its pieces are longer than they are, and count as well."""
    cells = [{"cell_type": "markdown", "source": f"h{number}"} for number in range(1_500)]
    book = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    path = desk.write("many.ipynb", json.dumps(book))
    found = await desk.read(path)
    texts = [found.text]
    while found.next_cursor:
        found = await desk.read(path, cursor=found.next_cursor)
        texts.append(found.text)
    assert len(texts) > 1
    words = [line for text in texts for line in text.splitlines() if line.startswith("h")]
    assert words == [f"h{number}" for number in range(1_500)]


async def test_a_directory_that_tells_too_few_files_is_counted(desk: Desk) -> None:
    """A library reads all that stands in it, whatever number it tells."""
    entry = struct.pack("<4s6H3L5H2L", b"PK\1\2", 20, 20, *[0] * 7, 1, *[0] * 6) + b"a"
    local = struct.pack("<4s5H3L2H", b"PK\3\4", 20, *[0] * 7, 1, 0) + b"a"
    for count in (30_000, 300_000):
        directory = entry * count
        end = struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 1, 1, len(directory), len(local), 0)
        with pytest.raises(VrError) as caught:
            await desk.read(desk.write("bomb.docx", local + directory + end))
        assert caught.value.category == "ARCHIVE_TOO_LARGE"


async def test_an_archive_is_no_document(desk: Desk) -> None:
    path = desk.folder / "files.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("notes.md", NOTES)
    with pytest.raises(VrError, match="not a kind of document") as caught:
        await desk.read(path)
    assert caught.value.hint == "Unpack it, and give the folder."
