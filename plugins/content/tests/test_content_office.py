"""Office documents through `content_read`: places, tables, notes, pictures; hostile packages."""

from __future__ import annotations

import re
import struct
import tempfile
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile

import pytest
import pytest_asyncio
from contentkit import Desk, open_desk
from vr_kernel import Code, VrError

pytest.importorskip("xberg")
pytestmark = pytest.mark.asyncio(loop_scope="module")

PACKAGE = "http://schemas.openxmlformats.org/package/2006"
RELATED = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
SCHEMAS = "http://schemas.openxmlformats.org"
TYPES = "application/vnd.openxmlformats-officedocument"
ODF = "urn:oasis:names:tc:opendocument:xmlns"
NAMES = (
    f'xmlns:a="{SCHEMAS}/drawingml/2006/main" xmlns:r="{RELATED}"'
    f' xmlns:p="{SCHEMAS}/presentationml/2006/main"'
    f' xmlns:w="{SCHEMAS}/wordprocessingml/2006/main"'
    f' xmlns:pic="{SCHEMAS}/drawingml/2006/picture"'
    f' xmlns:wp="{SCHEMAS}/drawingml/2006/wordprocessingDrawing"'
)
LAUGHS = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 12))
LAUGHS = f'<!DOCTYPE d [<!ENTITY l0 "haha">{LAUGHS}]>'
DRAWN = (
    '<a:graphic><a:graphicData uri="http://schemas.openxmlformats.org/drawingml/2006/picture">'
    '<pic:pic><pic:nvPicPr><pic:cNvPr id="1" name="x"/><pic:cNvPicPr/></pic:nvPicPr><pic:blipFill>'
    '<a:blip r:embed="rId2"/></pic:blipFill><pic:spPr/></pic:pic></a:graphicData></a:graphic>'
)
SECTOR = 512
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
FREE, END, FAT = 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFD


def packed(parts: Mapping[str, str | bytes]) -> bytes:
    """A zip file of these parts."""
    target = BytesIO()
    with ZipFile(target, "w", ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content, ZIP_STORED if name == "mimetype" else None)
    return target.getvalue()


def changed(whole: bytes, **parts: tuple[str, str]) -> bytes:
    """A package with other words in parts, whose names end so: `WORD` becomes what is given."""
    with ZipFile(BytesIO(whole)) as archive:
        found = {name: archive.read(name) for name in archive.namelist()}
    for ending, (before, word) in parts.items():
        name = next(each for each in found if each.endswith(f"{ending}.xml"))
        found[name] = before.encode() + found[name].replace(b"WORD", word.encode())
    return packed(found)


def relations(*targets: tuple[str, str]) -> str:
    inner = "".join(
        f'<Relationship Id="rId{number}" Type="{RELATED}/{kind}" Target="{target}"/>'
        for number, (kind, target) in enumerate(targets, 1)
    )
    return f'<Relationships xmlns="{PACKAGE}/relationships">{inner}</Relationships>'


def package(main: str, kinds: Mapping[str, str], parts: Mapping[str, str | bytes]) -> bytes:
    """An Office Open XML package of these parts, whose kinds are told."""
    overrides = "".join(
        f'<Override PartName="/{name}" ContentType="{TYPES}.{kind}+xml"/>'
        for name, kind in kinds.items()
    )
    types = (
        f'<Types xmlns="{PACKAGE}/content-types"><Default Extension="xml"'
        ' ContentType="application/xml"/><Default Extension="png" ContentType="image/png"/>'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.'
        f'relationships+xml"/>{overrides}</Types>'
    )
    root = relations(("officeDocument", main))
    return packed({"[Content_Types].xml": types, "_rels/.rels": root, **parts})


def paragraph(words: str, style: str = "") -> str:
    styled = f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>' if style else ""
    return f"<w:p>{styled}<w:r><w:t>{words}</w:t></w:r></w:p>"


def table(rows: Sequence[Sequence[str]]) -> str:
    cells = ("".join(f"<w:tc>{paragraph(cell)}</w:tc>" for cell in row) for row in rows)
    return f"<w:tbl>{''.join(f'<w:tr>{row}</w:tr>' for row in cells)}</w:tbl>"


def docx(body: str, **more: str | bytes) -> bytes:
    """A Word document; `more` are further parts, whose names may be any."""
    styles = "".join(
        f'<w:style w:type="paragraph" w:styleId="H{n}"><w:name w:val="heading {n}"/><w:pPr>'
        f'<w:outlineLvl w:val="{n - 1}"/></w:pPr></w:style>'
        for n in (1, 2)
    )
    parts = {
        "word/document.xml": f"<w:document {NAMES}><w:body>{body}</w:body></w:document>",
        "word/styles.xml": f"<w:styles {NAMES}>{styles}</w:styles>",
        "word/_rels/document.xml.rels": relations(
            ("styles", "styles.xml"), ("image", "media/one.png")
        ),
    }
    kinds = {
        "word/document.xml": "wordprocessingml.document.main",
        "word/styles.xml": "wordprocessingml.styles",
    }
    return package("word/document.xml", kinds, {**parts, **more})


def shape(kind: str, *lines: str) -> str:
    inner = "".join(f"<a:p><a:r><a:t>{line}</a:t></a:r></a:p>" for line in lines)
    return (
        f'<p:sp><p:nvSpPr><p:cNvPr id="2" name="s"/><p:cNvSpPr/><p:nvPr><p:ph type="{kind}"/>'
        f"</p:nvPr></p:nvSpPr><p:spPr/><p:txBody><a:bodyPr/>{inner}</p:txBody></p:sp>"
    )


def slide(tag: str, *shapes: str) -> str:
    return (
        f"<p:{tag} {NAMES}><p:cSld><p:spTree><p:nvGrpSpPr><p:cNvPr id='1' name=''/><p:cNvGrpSpPr/>"
        f"<p:nvPr/></p:nvGrpSpPr><p:grpSpPr/>{''.join(shapes)}</p:spTree></p:cSld></p:{tag}>"
    )


def pptx(slides: Mapping[int, Sequence[str]], **more: str | bytes) -> bytes:
    """A presentation; slides are shown in this order, from files with these numbers.

    Each has its title, its text, its notes, and further shapes.
    """
    kinds = {"ppt/presentation.xml": "presentationml.presentation.main"}
    parts: dict[str, str | bytes] = {}
    for number, (title, words, notes, *shapes) in slides.items():
        name, noted = f"slides/slide{number}.xml", f"notesSlides/notesSlide{number}.xml"
        kinds |= {f"ppt/{name}": "presentationml.slide"}
        kinds |= {f"ppt/{noted}": "presentationml.notesSlide"}
        own = relations(("notesSlide", f"../{noted}"), ("image", "../media/one.png"))
        parts |= {
            f"ppt/{name}": slide("sld", shape("title", title), shape("body", words), *shapes),
            f"ppt/slides/_rels/slide{number}.xml.rels": own,
            f"ppt/{noted}": slide("notes", shape("body", notes)),
        }
    files = sorted(slides)
    ids = "".join(f'<p:sldId id="{255 + n}" r:id="rId{files.index(n) + 1}"/>' for n in slides)
    listed = f"<p:presentation {NAMES}><p:sldIdLst>{ids}</p:sldIdLst></p:presentation>"
    targets = [("slide", f"slides/slide{number}.xml") for number in files]
    parts |= {
        "ppt/presentation.xml": listed,
        "ppt/_rels/presentation.xml.rels": relations(*targets),
    }
    return package("ppt/presentation.xml", kinds, {**parts, **more})


def cell(place: str, value: str | float | bool) -> str:
    if isinstance(value, str):
        return f'<c r="{place}" t="inlineStr"><is><t>{value}</t></is></c>'
    if isinstance(value, bool):
        return f'<c r="{place}" t="b"><v>{value:d}</v></c>'
    return f'<c r="{place}"><v>{value}</v></c>'


def xlsx(sheets: Mapping[str, Mapping[str, str | float | bool]]) -> bytes:
    """A workbook: the cells of each sheet by their places, in rows of their own."""
    names = f'xmlns="{SCHEMAS}/spreadsheetml/2006/main" xmlns:r="{RELATED}"'
    kinds, parts, listed = {"xl/workbook.xml": "spreadsheetml.sheet.main"}, {}, ""
    for number, (name, cells) in enumerate(sheets.items(), 1):
        rows: dict[int, str] = {}
        for place, value in cells.items():
            row = int(place.lstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZ"))
            rows[row] = rows.get(row, "") + cell(place, value)
        told = "".join(f'<row r="{row}">{inner}</row>' for row, inner in rows.items())
        part = f"xl/worksheets/sheet{number}.xml"
        kinds[part] = "spreadsheetml.worksheet"
        parts[part] = f"<worksheet {names}><sheetData>{told}</sheetData></worksheet>"
        listed += f'<sheet name="{name}" sheetId="{number}" r:id="rId{number}"/>'
    targets = [("worksheet", f"worksheets/sheet{n}.xml") for n in range(1, len(sheets) + 1)]
    parts["xl/workbook.xml"] = f"<workbook {names}><sheets>{listed}</sheets></workbook>"
    parts["xl/_rels/workbook.xml.rels"] = relations(*targets)
    return package("xl/workbook.xml", kinds, parts)


def odf(kind: str, inner: str, before: str = "") -> bytes:
    """An OpenDocument of a kind."""
    names = " ".join(
        f'xmlns:{name}="{ODF}:{name}:1.0"' for name in ("office", "text", "table", "presentation")
    )
    mime = f"application/vnd.oasis.opendocument.{kind}"
    content = (
        f'{before}<office:document-content {names} xmlns:draw="{ODF}:drawing:1.0"><office:body>'
        f"<office:{kind}>{inner}</office:{kind}></office:body></office:document-content>"
    )
    return packed({"mimetype": mime, "content.xml": content})


def epub(chapters: Mapping[str, str]) -> bytes:
    """A book whose first entry is packed, as careless programs do it; files are listed by name."""
    container = (
        '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container" version="1.0">'
        '<rootfiles><rootfile full-path="book.opf" media-type="application/oebps-package+xml"/>'
        "</rootfiles></container>"
    )
    items = "".join(
        f'<item id="{name}" href="{name}.xhtml" media-type="application/xhtml+xml"/>'
        for name in sorted(chapters)
    )
    spine = "".join(f'<itemref idref="{name}"/>' for name in chapters)
    book = (
        '<package xmlns="http://www.idpf.org/2007/opf" version="3.0"><metadata'
        ' xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>The Book</dc:title></metadata>'
        f"<manifest>{items}</manifest><spine>{spine}</spine></package>"
    )
    pages = {
        f"{name}.xhtml": f'<html xmlns="http://www.w3.org/1999/xhtml"><body>{body}</body></html>'
        for name, body in chapters.items()
    }
    parts = {"META-INF/container.xml": container, "book.opf": book, **pages}
    return packed({"Mimetype": "application/epub+zip", **parts})


def ole(streams: Mapping[str, bytes]) -> bytes:
    """A compound file, as old office programs wrote them, and new ones for what is encrypted."""
    chains, sectors = [FAT, END], b""
    entries = [("Root Entry", 5, END, 0)]
    for name, content in streams.items():
        entries.append((name, 2, len(chains), max(len(content), 4_096)))
        padded = content.ljust(4_096, b"\0")
        padded += bytes(-len(padded) % SECTOR)
        count = len(padded) // SECTOR
        chains += [*range(len(chains) + 1, len(chains) + count), END]
        sectors += padded
    folder = b""
    for at, (name, kind, first, size) in enumerate(entries):
        after = at + 1 if 0 < at < len(entries) - 1 else FREE
        folder += (name.encode("utf-16-le") + b"\0\0").ljust(64, b"\0")
        folder += struct.pack("<HBB3I", 2 * len(name) + 2, kind, 1, FREE, after, FREE if at else 1)
        folder += bytes(36) + struct.pack("<IQ", first, size)
    folder = folder.ljust(SECTOR, b"\0")
    head = OLE + bytes(16) + struct.pack("<5H6x", 0x3E, 3, 0xFFFE, 9, 6)
    head += struct.pack("<9I", 0, 1, 1, 0, 4_096, END, 0, END, 0)
    head += struct.pack("<109I", 0, *[FREE] * 108)
    table = struct.pack("<128I", *chains, *[FREE] * (128 - len(chains)))
    return head + table + folder + sectors


def record(kind: int, content: bytes) -> bytes:
    return struct.pack("<2H", kind, len(content)) + content


def xls(words: str, value: float, *, protected: bool = False) -> bytes:
    """A workbook of 1997 with a word in B3 and a number in C4."""
    begins = struct.pack("<HHHHII", 0x600, 5, 0, 0, 0, 6)
    inner = begins[:2] + struct.pack("<H", 16) + begins[4:]
    secret = record(0x2F, struct.pack("<HHH", 1, 1, 1)) if protected else b""
    head = record(0x809, begins) + secret
    listed = struct.pack("<IBBBB", len(head) + 14 + 4, 0, 0, 2, 0) + b"S1"
    cells = record(0x204, struct.pack("<4HB", 2, 1, 0, len(words), 0) + words.encode())
    cells += record(0x203, struct.pack("<3Hd", 3, 2, 0, value))
    sheet = record(0x809, inner) + cells + record(0x0A, b"")
    return ole({"Workbook": head + record(0x85, listed) + record(0x0A, b"") + sheet})


def picture() -> bytes:
    from PIL import Image

    target = BytesIO()
    Image.effect_noise((64, 48), 50).save(target, "PNG")
    return target.getvalue()


@pytest.fixture(scope="module")
def left(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder of temporary files of the desk and of its parsers; it is empty at the end."""
    folder = tmp_path_factory.mktemp("left")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TMPDIR", str(folder))
        patch.setattr(tempfile, "tempdir", None)
        yield folder
        assert names_below(folder) == []


def names_below(folder: Path, pattern: str = "*") -> list[str]:
    return [path.name for path in folder.rglob(pattern)]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def desk(left: Path, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Desk]:
    """One desk, and with it one parser, for all tests."""
    folder = tmp_path_factory.mktemp("office") / "a" / "b"
    folder.mkdir(parents=True)
    async with open_desk(folder) as opened:
        yield opened


async def pages_of(desk: Desk, path: Path) -> list[Any]:
    """All answers about a document, one after another."""
    pages = [await desk.read(path)]
    while pages[-1].next_cursor:
        pages.append(await desk.read(path, cursor=pages[-1].next_cursor))
    return pages


async def parts_of(desk: Desk, path: Path) -> list[tuple[str, str]]:
    """The places of a document, each with its text."""
    told = "\n\n".join(page.text for page in await pages_of(desk, path))
    found = re.split(r"(?:^|\n\n)\[([^]\n]+)\]\n\n", told)
    return [*zip(found[1::2], found[2::2], strict=True)]


async def refused(desk: Desk, path: Path) -> VrError:
    with pytest.raises(VrError) as caught:
        await desk.read(path)
    assert caught.value.hint
    return caught.value


async def test_six_of_six_slides_stand_at_their_numbers_though_their_files_were_moved(
    desk: Desk,
) -> None:
    files = (4, 12, 1, 6, 2, 3)
    deck = {file: (f"Title {n}", f"Words {n}", f"Notes {n}") for n, file in enumerate(files, 1)}
    path = desk.write("six.pptx", pptx(deck))
    found = await desk.read(path)
    assert (found.total, found.pages, found.limits) == (6, 6, [])
    assert [(it.title, it.place) for it in found.outline] == [
        (f"Title {n}", f"slide {n}") for n in range(1, 7)
    ]
    for n in range(1, 7):
        alone = await desk.read(path, locator=f"slide {n}")
        assert (alone.first, alone.last, alone.total) == (f"slide {n}", f"slide {n}", 1)
        assert alone.text == f"[slide {n}]\n\n## Title {n}\n\nWords {n}\n\nNotes: Notes {n}"


async def test_a_slide_keeps_its_table_and_the_words_of_its_picture(desk: Desk) -> None:
    rows = "".join(
        "<a:tr h='1'>"
        + "".join(
            f"<a:tc><a:txBody><a:bodyPr/><a:p><a:r><a:t>{cell}</a:t></a:r></a:p></a:txBody></a:tc>"
            for cell in row
        )
        + "</a:tr>"
        for row in (("Year", "Sum"), ("2024", "7"))
    )
    framed = (
        '<p:graphicFrame><p:nvGraphicFramePr><p:cNvPr id="7" name="T"/><p:cNvGraphicFramePr/>'
        "<p:nvPr/></p:nvGraphicFramePr><p:xfrm/><a:graphic><a:graphicData"
        f' uri="{SCHEMAS}/drawingml/2006/table"><a:tbl>{rows}</a:tbl></a:graphicData></a:graphic>'
        "</p:graphicFrame>"
    )
    bird = (
        '<p:pic><p:nvPicPr><p:cNvPr id="9" name="P" descr="A red bird"/><p:cNvPicPr/><p:nvPr/>'
        '</p:nvPicPr><p:blipFill><a:blip r:embed="rId2"/></p:blipFill><p:spPr/></p:pic>'
    )
    deck = {2: ("One", "x", "", framed), 1: ("Two", "y", "", bird)}
    path = desk.write("shown.pptx", pptx(deck, **{"ppt/media/one.png": picture()}))
    found = await desk.read(path, pictures=True)
    assert "| Year | Sum |\n| --- | --- |\n| 2024 | 7 |\n\n[slide 2]" in found.text
    assert found.text.endswith("[Picture: A red bird]")
    assert [(it.place, it.alt) for it in found.pictures] == [("slide 2", "A red bird")]


async def test_a_damaged_slide_costs_itself_alone_and_is_named(desk: Desk) -> None:
    deck = pptx({n: (f"Title {n}", "WORD" if n == 2 else "x", "") for n in (1, 2, 3)})
    found = await desk.read(desk.write("hurt.pptx", changed(deck, slide2=(LAUGHS, "&l11;"))))
    assert [it.place for it in found.outline] == ["slide 1", "slide 3"]
    assert found.limits == ["Slide 2 is damaged, and was left out."]


async def test_headings_of_a_text_are_its_outline_and_the_places_of_its_parts(
    desk: Desk,
) -> None:
    body = (
        paragraph("Above all")
        + paragraph("First", "H1")
        + paragraph("Words with *stars* &amp; a_b.")
        + paragraph("Deeper", "H2")
        + table([("Name", "Year"), ("Ada", "1815"), ("A|b", "")])
        + paragraph("Second", "H1")
        + paragraph("The end")
    )
    path = desk.write("told.docx", docx(body))
    found = await desk.read(path)
    assert [(it.title, it.level, it.place) for it in found.outline] == [
        ("First", 1, "First"),
        ("Deeper", 2, "First > Deeper"),
        ("Second", 1, "Second"),
    ]
    assert await parts_of(desk, path) == [
        ("told.docx", "Above all"),
        ("First", "# First\n\nWords with *stars* & a_b."),
        (
            "First > Deeper",
            "## Deeper\n\n| Name | Year |\n| --- | --- |\n| Ada | 1815 |\n| A\\|b |  |",
        ),
        ("Second", "# Second\n\nThe end"),
    ]


async def test_each_part_of_a_long_table_has_the_header_and_no_row_is_lost(desk: Desk) -> None:
    rows = [(f"n{number}", "some words of a note " * 3) for number in range(400)]
    path = desk.write("long.docx", docx(table([("Name", "Note"), *rows])))
    parts = await parts_of(desk, path)
    assert len(parts) > 3
    for _, text in parts:
        assert text.startswith("| Name | Note |\n| --- | --- |\n| n")
    told = "".join(text for _, text in parts)
    assert re.findall(r"^\| (n\d+) ", told, re.MULTILINE) == [name for name, _ in rows]


async def test_a_picture_in_a_text_is_given_with_its_words(desk: Desk, left: Path) -> None:
    inline = (
        '<w:p><w:r><w:drawing><wp:inline><wp:extent cx="1270000" cy="635000"/>'
        f'<wp:docPr id="1" name="P" descr="A green door"/>{DRAWN}</wp:inline></w:drawing></w:r>'
        "</w:p>"
    )
    content = docx(paragraph("Before") + inline, **{"word/media/one.png": picture()})
    found = await desk.read(desk.write("door.docx", content), pictures=True)
    assert found.text == "[door.docx]\n\nBefore\n\n[Picture: A green door]"
    assert [it.alt for it in found.pictures] == ["A green door"]
    assert names_below(left) == []


async def test_rows_of_each_sheet_have_their_cells_and_its_header(desk: Desk) -> None:
    many: dict[str, str | float | bool] = {"B3": "Name", "C3": "Sum"}
    for number in range(4, 404):
        many |= {f"B{number}": f"row {number}", f"C{number}": number + 0.5}
    small: dict[str, str | float | bool] = {"A1": "x", "B1": "y", "A2": True, "B2": 7.0}
    path = desk.write("rows.xlsx", xlsx({"Many": many, "Empty": {}, "Small": small}))
    *blocks, last = await parts_of(desk, path)
    assert last == ("Small!A2:B2", "| x | y |\n| --- | --- |\n| TRUE | 7 |")
    after = 4
    for place, text in blocks:
        assert re.fullmatch(r"Many!B\d+:C\d+", place)
        first, end = map(int, re.findall(r"\d+", place))
        lines = text.split("\n")
        assert lines[:2] == ["| Name | Sum |", "| --- | --- |"]
        assert lines[2:] == [f"| row {n} | {n + 0.5} |" for n in range(after, end + 1)]
        assert first == after
        after = end + 1
    assert (after, len(blocks) > 3) == (404, True)
    assert [it.title for it in (await desk.read(path)).outline] == ["Many", "Small"]


async def test_a_cell_in_the_last_corner_of_a_sheet_is_read_and_costs_little(desk: Desk) -> None:
    path = desk.write("corner.xlsx", xlsx({"Far": {"XFD1048576": "far away"}}))
    assert await parts_of(desk, path) == [("Far!XFD1048576:XFD1048576", "| far away |\n| --- |")]


async def test_a_sheet_that_spans_billions_of_cells_costs_itself_alone(desk: Desk) -> None:
    wide = {"A1": "near", "XFD1048576": "far"}
    both = desk.write("both.xlsx", xlsx({"Wide": wide, "Small": {"A1": "x", "A2": "kept"}}))
    found = await desk.read(both)
    assert (found.first, found.total) == ("Small!A2:A2", 1)
    assert found.limits == ["The sheet 'Wide' spans too many cells, and was left out."]
    error = await refused(desk, desk.write("wide.xlsx", xlsx({"Wide": wide})))
    assert (error.code, error.category) == (Code.TOO_LARGE, "SHEETS_UNREAD")


async def test_columns_that_are_left_out_are_told(desk: Desk) -> None:
    found = await desk.read(desk.write("row.xlsx", xlsx({"S": {"A1": "near", "XFD1": "far"}})))
    assert "near" in found.text
    assert found.limits == ["Only 500 columns of the sheet 'S' were read."]


async def test_an_old_workbook_is_read_with_its_cells(desk: Desk) -> None:
    path = desk.write("old.xls", xls("Sum", 4.5))
    assert await parts_of(desk, path) == [("S1!B4:C4", "| Sum |  |\n| --- | --- |\n|  | 4.5 |")]


async def test_open_documents_have_places_too(desk: Desk) -> None:
    heading = '<text:h text:outline-level="{}">{}</text:h>'
    cells = "".join(
        f"<table:table-cell><text:p>{each}</text:p></table:table-cell>" for each in ("Name", "Year")
    )
    body = f"{heading.format(1, 'Top')}<text:p>Words</text:p>{heading.format(2, 'Part')}"
    body += f"<table:table><table:table-row>{cells}</table:table-row></table:table>"
    assert await parts_of(desk, desk.write("a.odt", odf("text", body))) == [
        ("Top", "# Top\n\nWords"),
        ("Top > Part", "## Part\n\n| Name | Year |\n| --- | --- |"),
    ]
    shown = "".join(
        f'<draw:page draw:name="p{n}"><draw:frame presentation:class="title"><draw:text-box>'
        f"<text:p>Title {n}</text:p></draw:text-box></draw:frame><presentation:notes><draw:frame>"
        f"<draw:text-box><text:p>Notes {n}</text:p></draw:text-box></draw:frame>"
        "</presentation:notes></draw:page>"
        for n in (1, 2)
    )
    empty = '<draw:page draw:name="empty"/>'
    path = desk.write("a.odp", odf("presentation", empty + shown))
    assert await parts_of(desk, path) == [
        ("slide 2", "Title 1\n\nNotes 1"),
        ("slide 3", "Title 2\n\nNotes 2"),
    ]


async def test_chapters_of_a_book_come_in_the_order_of_reading(desk: Desk) -> None:
    chapters = {"b": "<h1>One</h1><p>first</p>", "a": "<h1>Two</h1><script>RUN</script><p>last</p>"}
    path = desk.write("a.epub", epub(chapters))
    assert await parts_of(desk, path) == [("One", "# One\n\nfirst"), ("Two", "# Two\n\nlast")]
    assert (await desk.read(path)).title == "The Book"


def claiming(content: bytes, size: int) -> bytes:
    """A package whose first part is said to unpack to so many bytes; unpacking it would fail."""
    found = bytearray(content)
    at = found.rfind(b"PK\x01\x02", 0, found.find(b"PK\x01\x02") + 4)
    struct.pack_into("<I", found, at + 24, size)
    found[60:64] = b"\xff" * 4
    return bytes(found)


ENCRYPTED = ole({"EncryptionInfo": b"\x04\0\x04\0", "EncryptedPackage": bytes(5_000)})
WORDS = docx(paragraph("words " * 500))
HOSTILE: Mapping[str, tuple[bytes, Code, str]] = {
    "encrypted.docx": (ENCRYPTED, Code.AUTH, "PASSWORD_NEEDED"),
    "encrypted.xlsx": (ENCRYPTED, Code.AUTH, "PASSWORD_NEEDED"),
    "encrypted.pptx": (ENCRYPTED, Code.AUTH, "PASSWORD_NEEDED"),
    "modern.xls": (ENCRYPTED, Code.AUTH, "PASSWORD_NEEDED"),
    "encrypted.xls": (xls("x", 1, protected=True), Code.AUTH, "PASSWORD_NEEDED"),
    "header.doc": (OLE + bytes(600), Code.UNSUPPORTED, "DOCUMENT_DAMAGED"),
    "header.xls": (OLE + bytes(600), Code.UNSUPPORTED, "DOCUMENT_DAMAGED"),
    "cut.docx": (WORDS[:-40], Code.UNSUPPORTED, "DOCUMENT_DAMAGED"),
    "half.xlsx": (xlsx({"S": {"A1": "x"}})[:500], Code.UNSUPPORTED, "DOCUMENT_DAMAGED"),
    "bomb.docx": (
        docx("", **{"word/media/a.bin": bytes(40_000_000)}), Code.TOO_LARGE, "ARCHIVE_TOO_LARGE",
    ),
    "claims.pptx": (
        claiming(pptx({1: ("t", "w", "")}), 900_000_000), Code.TOO_LARGE, "ARCHIVE_TOO_LARGE",
    ),
    "deep.docx": (
        docx("<w:sdt><w:sdtContent>" * 20_000 + "</w:sdtContent></w:sdt>" * 20_000),
        Code.TOO_LARGE, "ARCHIVE_TOO_LARGE",
    ),
    "archive.docx": (packed({"note.txt": "inner"}), Code.UNSUPPORTED, "DOCUMENT_DAMAGED"),
    "archive.epub": (packed({"note.txt": "inner"}), Code.UNSUPPORTED, "DOCUMENT_DAMAGED"),
    "archive.pptx": (packed({"note.txt": "inner"}), Code.UNSUPPORTED, "DOCUMENT_DAMAGED"),
    "letter.pptx": (WORDS, Code.UNSUPPORTED, "DOCUMENT_DAMAGED"),
    "archive.xlsx": (packed({"note.txt": "inner"}), Code.UNSUPPORTED, "DOCUMENT_DAMAGED"),
    "blank.pptx": (pptx({1: ("", "", "")}), Code.UNSUPPORTED, "DOCUMENT_EMPTY"),
    "blank.xlsx": (xlsx({"S": {}}), Code.UNSUPPORTED, "DOCUMENT_EMPTY"),
    "text.docx": (b"only words", Code.UNSUPPORTED, "NOT_AS_NAMED"),
    "empty.docx": (b"", Code.UNSUPPORTED, "DOCUMENT_EMPTY"),
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
async def test_what_is_no_whole_and_open_document_is_refused_and_leaves_nothing(
    desk: Desk, left: Path, name: str
) -> None:
    content, code, category = HOSTILE[name]
    error = await refused(desk, desk.write(name, content))
    assert (error.code, error.category) == (code, category)
    assert "inner" not in f"{error.message} {error.hint}"
    assert names_below(left) == []
    good = await desk.read(desk.write("good.docx", docx(paragraph(f"good after {name}"))))
    assert good.text.endswith(f"good after {name}")


@pytest.mark.parametrize(
    "name",
    ["../../evil.txt", "/tmp/evil.txt", "..\\..\\evil.txt", "C:/evil.txt", "a/../../evil.txt"],
)
async def test_names_that_lead_out_of_a_package_write_nothing(
    desk: Desk, left: Path, name: str
) -> None:
    above = desk.folder.parent.parent
    error = await refused(desk, desk.write("slip.docx", docx(paragraph("x"), **{name: b"evil"})))
    assert (error.code, error.category) == (Code.UNSUPPORTED, "ARCHIVE_UNSAFE")
    assert [*names_below(above, "*evil*"), *names_below(left)] == []


@pytest.mark.parametrize("kind", ["laughs", "outside"])
async def test_entities_are_neither_expanded_nor_followed(
    desk: Desk, left: Path, kind: str
) -> None:
    lure = desk.write("lure.txt", "quokka")
    outside = f'<!DOCTYPE d [<!ENTITY l11 SYSTEM "{lure.as_uri()}">]>'
    given = (LAUGHS if kind == "laughs" else outside, "&l11;")
    made = {
        "body.docx": changed(docx(paragraph("kept WORD")), document=given),
        "deck.pptx": changed(pptx({1: ("kept", "x", "")}), presentation=given),
        "slide.pptx": changed(pptx({1: ("WORD", "x", "")}), slide1=given),
        "cells.xlsx": changed(xlsx({"S": {"A1": "WORD"}}), sheet1=given),
        "sheets.xlsx": changed(xlsx({"WORD": {"A1": "x"}}), workbook=given),
        "body.odt": changed(odf("text", "<text:p>WORD</text:p>"), content=given),
    }
    for name, content in made.items():
        path = desk.write(name, content)
        if name in ("body.docx", "deck.pptx"):
            said = (await desk.read(path)).text
            assert "kept" in said
        else:
            error = await refused(desk, path)
            assert error.category == "DOCUMENT_DAMAGED"
            said = f"{error.message} {error.hint}"
        assert "quokka" not in said
        assert "haha" not in said
    assert names_below(left) == []


async def test_a_range_of_cells_is_a_place(desk: Desk) -> None:
    cells = {f"A{number}": f"item {number}" for number in range(1, 500)}
    path = desk.write("costs.xlsx", xlsx({"Costs": cells}))
    found = await desk.read(path, locator="Costs!A300:B302")
    assert "item 301" in found.text
    assert "item 499" not in found.text
    with pytest.raises(VrError, match="is no place"):
        await desk.read(path, locator="Costs!A700:B702")


async def test_white_space_between_the_cells_of_a_spreadsheet_is_nothing(desk: Desk) -> None:
    names = " ".join(
        f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
        for name in ("office", "table", "text")
    )
    cells = "\n".join(
        f'<table:table-cell office:value-type="string">\n <text:p>{words}</text:p>\n'
        "</table:table-cell>"
        for words in ("two words", "three")
    )
    sheet = f'<table:table table:name="Costs">\n<table:table-row>\n{cells}\n</table:table-row>\n'
    body = f"<office:body>\n<office:spreadsheet>\n{sheet}</table:table>\n</office:spreadsheet>\n"
    content = f"<office:document-content {names}>\n{body}</office:body>\n</office:document-content>"
    mime = "application/vnd.oasis.opendocument.spreadsheet"
    told = (
        '<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"/>'
    )
    parts = {"mimetype": mime, "content.xml": content, "META-INF/manifest.xml": told}
    path = desk.write("costs.ods", packed(parts))
    found = await desk.read(path)
    assert found.text == "[Costs!A1:B1]\n\n| two words | three |\n| --- | --- |"
