"""Pictures and drawings, and what a recogniser reads in them and on pages without text."""

from __future__ import annotations

import os
import struct
import time
import zlib
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from io import BytesIO
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from contentkit import DATA, Desk, needs_data, open_desk
from hypothesis import given
from hypothesis import strategies as st
from pdfkit import document, image, words
from vr_kernel import Code, Provider, TextLine, TextRecognizer, VrError, hookimpl
from vr_plugin_content.formats import picture, svg
from vr_plugin_content.formats.parsed import Asked, Bounds, ParseError
from vr_plugin_content.reading.recognition import recognize_pages
from vr_plugin_content.reading.text_columns import in_columns
from vr_plugin_content.settings import ContentSettings

WIDE = (300, 100)
UPRIGHT = 6  # of Exif: the camera was turned to the right
SCAN = b"q 612 0 0 792 0 0 cm /I Do Q "
GREY = {4: image(64, 64, bytes(range(64)) * 64)}
DRAWN = "/XObject<</I 4 0 R>>"


def encoded(form: str, size: tuple[int, int] = WIDE, mode: str = "RGB", **options: Any) -> bytes:
    from PIL import Image

    held = BytesIO()
    made = Image.new(mode, size, options.pop("color", "white"))
    made.save(held, form, **options)
    return held.getvalue()


def drawn(content: bytes, folder: Path, **asked: Any) -> Any:
    """Render a picture, and open what was written."""
    from PIL import Image

    (found,) = picture.render(BytesIO(content), Asked(folder=folder, **asked))
    with Image.open(folder / found.file) as opened:
        opened.load()
    assert opened.size == (found.width, found.height)
    return found, opened


def of_size(width: int, height: int) -> bytes:
    """A PNG that says to be of this size, without a pixel."""
    head = b"IHDR" + struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n\0\0\0\r"
        + head
        + struct.pack(">I", zlib.crc32(head))
        + bytes(4)
        + b"IDAT"
    )


@pytest.mark.parametrize(
    ("form", "mime"),
    [("PNG", "image/png"), ("JPEG", "image/jpeg"), ("GIF", "image/gif"), ("WEBP", "image/webp")],
)
def test_a_picture_is_a_page_without_words(form: str, mime: str) -> None:
    found = picture.parse(BytesIO(encoded(form)), Asked())
    assert (found.mime, found.wordless, found.pages) == (mime, [1], 1)
    assert (found.pieces, found.title, found.limits) == ([], "", [])


@pytest.mark.parametrize(
    ("content", "category"),
    [
        (b"", "DOCUMENT_EMPTY"),
        (of_size(100_000, 100_000), "PICTURE_TOO_LARGE"),
        (of_size(12_000, 10_000), "PICTURE_TOO_LARGE"),
        (encoded("PNG", color="red")[:-30], "DOCUMENT_DAMAGED"),
        (encoded("JPEG")[:300], "DOCUMENT_DAMAGED"),
        (encoded("WEBP")[:30], "DOCUMENT_DAMAGED"),
        (encoded("BMP"), "DOCUMENT_DAMAGED"),
    ],
)
def test_what_is_no_whole_picture_is_refused(content: bytes, category: str, tmp_path: Path) -> None:
    for work in (picture.parse, picture.render):
        if work is picture.render and category == "DOCUMENT_EMPTY":
            continue
        with pytest.raises(ParseError) as caught:
            work(BytesIO(content), Asked(folder=tmp_path))
        assert caught.value.category == category
        assert caught.value.hint


@given(st.binary(max_size=60), st.integers(0, 400))
def test_damaged_pictures_are_read_or_refused(junk: bytes, at: int) -> None:
    content = bytearray(encoded("GIF") if at % 2 else encoded("JPEG"))
    content[at : at + len(junk)] = junk
    try:
        found = picture.parse(BytesIO(content), Asked())
    except ParseError:
        return
    assert found.wordless == [1]


def test_a_turned_photograph_is_held_upright(tmp_path: Path) -> None:
    from PIL import Image

    turned = Image.Exif()
    turned[0x0112] = UPRIGHT
    found, opened = drawn(encoded("JPEG", exif=turned), tmp_path)
    assert opened.size == (100, 300)
    assert found.place == {"page": 1, "box": [0, 0, 100, 300]}
    assert not opened.getexif()


def test_a_large_picture_is_made_smaller_and_keeps_its_measure(tmp_path: Path) -> None:
    found, opened = drawn(encoded("PNG", (6_000, 3_000), "L"), tmp_path)
    assert opened.size == (4_000, 2_000)
    assert found.place["box"] == [0, 0, 6_000, 3_000]


@pytest.mark.parametrize(("ink", "ground"), [(0, 255), (255, 0)])
def test_what_is_drawn_on_nothing_can_be_seen(ink: int, ground: int, tmp_path: Path) -> None:
    from PIL import Image

    made, held = Image.new("RGBA", (40, 40)), BytesIO()
    made.paste((ink, ink, ink, 255), (10, 10, 20, 20))
    made.save(held, "PNG")
    _, opened = drawn(held.getvalue(), tmp_path)
    assert opened.mode == "RGB"
    assert (opened.getpixel((0, 0))[0], opened.getpixel((15, 15))[0]) == (ground, ink)


def test_an_animation_is_its_first_picture(tmp_path: Path) -> None:
    from PIL import Image

    frames = [Image.new("RGB", (40, 40), colour) for colour in ("red", "blue")]
    held = BytesIO()
    frames[0].save(held, "GIF", save_all=True, append_images=frames[1:])
    assert picture.parse(BytesIO(held.getvalue()), Asked()).limits
    _, opened = drawn(held.getvalue(), tmp_path)
    assert opened.convert("RGB").getpixel((0, 0)) == (255, 0, 0)


DRAWING = """<?xml version="1.0"?>
<svg xmlns="http://www.w3.org/2000/svg"><title>Flow</title>
<style>text { fill: red }</style>
<g><desc>From left &amp; right</desc>
<text>Ask<tspan>ing</tspan> <tspan x="0" dy="1em">again</tspan></text></g>
<switch><foreignObject><div xmlns="http://www.w3.org/1999/xhtml"><p>First</p><p>Next</p></div>
</foreignObject><text>First...</text></switch>
</svg>"""


def test_a_drawing_has_its_words_and_their_lines() -> None:
    found = svg.parse(BytesIO(DRAWING.encode()), Asked())
    (piece,) = found.pieces
    assert piece.text.split("\n") == [
        *("Flow", "From left & right", "Asking", "again", "First", "Next"),
    ]
    assert piece.place == {"first_line": 2, "last_line": 7}
    assert (found.title, found.mime) == ("Flow", "image/svg+xml")


def test_many_labels_are_pieces_of_some_length() -> None:
    labels = "\n".join(f"<text>label {number}</text>" for number in range(500))
    pieces = svg.parse(BytesIO(f"<svg>{labels}</svg>".encode()), Asked()).pieces
    assert 4 < len(pieces) < 12
    for before, after in pairwise(pieces):
        assert before.place["last_line"] + 1 == after.place["first_line"]


ENTITIES = "<!DOCTYPE svg [<!ENTITY {}>]><svg><text>&x;</text></svg>"


@pytest.mark.parametrize(
    ("markup", "category"),
    [
        (ENTITIES.format('x "aaaa"'), "DOCUMENT_UNSAFE"),
        (ENTITIES.format('x SYSTEM "file:///etc/passwd"'), "DOCUMENT_UNSAFE"),
        (ENTITIES.format('% x SYSTEM "http://127.0.0.1/"> %x; <!ENTITY y "b"'), "DOCUMENT_UNSAFE"),
        ("<svg><text>cut", "DOCUMENT_DAMAGED"),
        ("<svg><rect/></svg>", "DOCUMENT_EMPTY"),
        ("", "DOCUMENT_EMPTY"),
    ],
)
def test_unsafe_and_damaged_drawings_are_refused(markup: str, category: str) -> None:
    with pytest.raises(ParseError) as caught:
        svg.parse(BytesIO(markup.encode()), Asked())
    assert caught.value.category == category


def test_a_drawing_nested_without_end_is_read_to_its_bound() -> None:
    depth = 200_000
    markup = "<g>" * depth + "<text>deep inside</text>" + "</g>" * depth
    found = svg.parse(BytesIO(f"<svg>{markup}</svg>".encode()), Asked(bounds=Bounds(chars=4)))
    assert [piece.text for piece in found.pieces] == ["deep"]
    assert found.limits


def line(text: str, left: float, top: float, width: float = 0) -> TextLine:
    return TextLine(text, (left, top, width or 8.0 * len(text), 12), 0.9)


def test_columns_of_prose_are_read_one_after_another() -> None:
    prose = "words of a column {}"
    left = [line(prose.format(f"A{row}"), 0, 40 + 20 * row, 200) for row in range(5)]
    right = [line(prose.format(f"B{row}"), 240, 41 + 20 * row, 200) for row in range(5)]
    title, foot = line("A title over both", 0, 0, 440), line("A line below both", 0, 160, 440)
    parts = in_columns([*right, foot, *left, title])
    assert [[it.text[-2:] for it in part] for part in parts] == [
        ["th"],
        ["A0", "A1", "A2", "A3", "A4"],
        ["B0", "B1", "B2", "B3", "B4"],
        ["th"],
    ]


def test_cells_of_a_table_stay_in_their_rows() -> None:
    cells = [line(f"{row}{at}", 100 * at, 20 * row) for row in range(6) for at in range(4)]
    assert len(in_columns(cells)) == 1


class Reader:
    """A recogniser that reads what it is told to."""

    name = "reader"

    def __init__(self, read: Callable[[int], Sequence[TextLine]]) -> None:
        self.pictures: list[bytes] = []
        self._read = read

    async def recognize(self, image: bytes) -> list[TextLine]:
        """Read a picture."""
        self.pictures.append(image)
        return list(self._read(len(self.pictures)))


def reading(reader: Reader) -> Mapping[str, object]:
    @hookimpl
    def vr_providers() -> list[Provider[TextRecognizer]]:
        return [Provider(TextRecognizer, "reader", lambda _: reader)]

    return {"reader": SimpleNamespace(vr_providers=vr_providers)}


def fails(_: int) -> Sequence[TextLine]:
    raise VrError("The reader is broken.", Code.UNAVAILABLE, hint="Mend it.")


@pytest.fixture
def reader() -> Reader:
    return Reader(lambda _: [line("world", 44, 10), line("Hello", 0, 11), line("below", 0, 40)])


@pytest.fixture
async def reading_desk(tmp_path: Path, reader: Reader) -> AsyncIterator[Desk]:
    async with open_desk(tmp_path, plugins=reading(reader)) as desk:
        yield desk


def scan_of(pages: int) -> bytes:
    return document([SCAN] * pages + [words("Printed")], more=GREY, resources=DRAWN)


async def test_pages_without_text_are_recognised_in_their_place(reading_desk: Desk) -> None:
    document = await reading_desk.load(reading_desk.write("scan.pdf", scan_of(2)))
    assert [(it.text, it.locator.page) for it in document.segments] == [
        ("Hello world\nbelow", 1),
        ("Hello world\nbelow", 2),
        ("Printed", 3),
    ]
    assert document.limits == ()


async def test_lines_of_a_picture_have_boxes_in_its_own_pixels(reading_desk: Desk) -> None:
    path = reading_desk.write("sign.png", encoded("PNG", (8_000, 100), "L"))
    document = await reading_desk.load(path)
    assert [(it.text, it.locator.box) for it in document.segments] == [
        ("Hello world", (0.0, 20.0, 168.0, 26.0)),
        ("below", (0.0, 80.0, 80.0, 24.0)),
    ]


async def test_a_page_that_cannot_be_recognised_costs_itself(tmp_path: Path) -> None:
    reader = Reader(lambda nth: fails(nth) if nth == 2 else [line("read", 0, 0)])
    async with open_desk(tmp_path, plugins=reading(reader)) as desk:
        document = await desk.load(desk.write("scan.pdf", scan_of(6)))
    assert len(document.segments) == 6
    assert document.limits == ("1 page without text was not read: The reader is broken. Mend it.",)


async def test_a_broken_recogniser_is_given_up_and_said_once(tmp_path: Path) -> None:
    reader = Reader(fails)
    async with open_desk(tmp_path, plugins=reading(reader)) as desk:
        document = await desk.load(desk.write("scan.pdf", scan_of(30)))
    assert len(reader.pictures) == 4
    assert document.limits == (
        "30 pages without text were not read: The reader is broken. Mend it.",
    )


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({}, "pip install"),
        ({"plugins.content.ocr": "off"}, "ocr is off"),
        ({"plugins.content.ocr": "none-such"}, "none-such"),
    ],
)
async def test_without_a_recogniser_the_limits_say_what_to_do(
    tmp_path: Path, settings: dict[str, str], said: str
) -> None:
    async with open_desk(tmp_path, settings=settings) as desk:
        document = await desk.load(desk.write("scan.pdf", scan_of(3)))
    assert [it.text for it in document.segments] == ["Printed"]
    assert document.limits[0].startswith("3 pages without text were not read: ")
    assert said in document.limits[0]


async def test_no_more_pages_are_recognised_than_the_bound(tmp_path: Path, reader: Reader) -> None:
    section = {"plugins.content.max_ocr_pages": "2"}
    async with open_desk(tmp_path, plugins=reading(reader), settings=section) as desk:
        document = await desk.load(desk.write("scan.pdf", scan_of(5)))
    assert len(reader.pictures) == 2
    assert document.limits[0].startswith("3 pages without text were not read: raise max_ocr_pages")


async def test_a_page_that_cannot_be_drawn_costs_itself_and_nothing_is_left_behind(
    reader: Reader, tmp_path: Path
) -> None:
    folders: list[Path] = []

    async def render(pages: list[int], folder: Path) -> list[dict[str, Any]]:
        folders.append(folder)
        if 2 in pages:
            raise VrError("It takes too long.", Code.TOO_LARGE, hint="Split it.")
        for page in pages:
            (folder / f"{page}.png").write_bytes(b"a picture")
        return [{"file": f"{page}.png", "place": {"page": page}, "width": 9} for page in pages]

    said: list[float] = []
    call: Any = SimpleNamespace(
        settings=ContentSettings(),
        services=SimpleNamespace(
            providers=SimpleNamespace(get=lambda *_: reader), paths=SimpleNamespace(cache=tmp_path)
        ),
        progress=lambda done, *_: said.append(done),
    )
    found = await recognize_pages(call, render, [1, 2, 3, 7, 9])
    assert [page.number for page in found.pages] == [1, 3, 7, 9]
    assert found.limits == ("1 page without text was not read: It takes too long. Split it.",)
    assert (found.engine, found.failed, said) == ("reader", 1, [1, 2, 3, 4])
    assert not any(folder.exists() for folder in folders)


@needs_data
async def test_a_real_scan_is_read_by_an_installed_recogniser(tmp_path: Path) -> None:
    import shutil

    tesseract = pytest.importorskip("vr_ocr_tesseract.plugin")
    if not shutil.which("tesseract"):
        pytest.skip("no tesseract")
    path = DATA / "media/mid_MEDRPT-2024-PAT-3847_medical_report_scan.pdf"
    async with open_desk(tmp_path, plugins={"ocr-tesseract": tesseract}) as desk:
        document = await desk.load(path)
    assert [it.locator.page for it in document.segments] == [1, 2, 3]
    assert "COMPREHENSIVE MEDICAL REPORT" in document.segments[0].text
    assert "TREATMENT PLAN" in document.segments[2].text


async def test_what_a_killed_process_left_is_removed_a_day_later(desk: Desk) -> None:
    above = desk.kernel.config.paths.cache / "documents"
    for name, age_s in (("old", 25 * 3600), ("new", 3600)):
        (above / name).mkdir(parents=True)
        moment = time.time() - age_s
        os.utime(above / name, (moment, moment))
    path = desk.write("a.pdf", document([words("A pump")], more=GREY, resources=DRAWN))
    await desk.load(path, pictures=True)
    assert [it.name for it in above.iterdir()] == ["new"]
