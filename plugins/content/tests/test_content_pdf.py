"""PDF: pages and their places, outlines, passwords, pictures; damage and hostile files."""

from __future__ import annotations

import time
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from contentkit import DATA, Desk, needs_data
from hypothesis import given, settings
from hypothesis import strategies as st
from pdfkit import document, encrypted, image, stream, words, written
from vr_kernel import Code, VrError
from vr_plugin_content.formats import pdf
from vr_plugin_content.formats.parsed import Asked, Bounds, Parsed, ParsedPicture, ParseError
from vr_plugin_content.parsing.parser import Parser, ParseTask
from vr_plugin_content.settings import ContentSettings

SECRET = "correct horse"
GREY = bytes(range(64)) * 64
PICTURES = {4: image(64, 64, GREY)}
DRAWN = "/XObject<</I 4 0 R/J 5 0 R>>"
WHOLE_PAGE = b"q 612 0 0 792 0 0 cm /I Do Q "
COUNTED = b"<</Type/Pages/Count %d/Kids[3 0 R]>>"


def read(content: bytes, **asked: Any) -> Parsed:
    return pdf.parse(BytesIO(content), Asked(name="a.pdf", **asked))


def pictures(content: bytes, folder: Path, **asked: Any) -> list[ParsedPicture]:
    return pdf.pictures(BytesIO(content), Asked(name="a.pdf", folder=folder, **asked))


def refused(content: bytes, **asked: Any) -> ParseError:
    with pytest.raises(ParseError) as caught:
        read(content, **asked)
    return caught.value


def test_each_page_is_a_piece_with_its_number() -> None:
    found = read(document([words("first"), b"", words("third")]))
    assert [(it.text, it.place) for it in found.pieces] == [
        ("first", {"page": 1}),
        ("third", {"page": 3}),
    ]
    assert (found.mime, found.pages, found.title) == ("application/pdf", 3, "")


@pytest.mark.parametrize(
    ("begins", "ends", "whole"),
    [
        ("They share infor-", "mation freely.", "They share information freely."),
        ("The sets of UTF-", "8 are known.", "The sets of UTF-8 are known."),
        ("The words of Jean-", "Paul are known.", "The words of Jean-Paul are known."),
        ("The path of GNU-", "PLOT is known.", "The path of GNUPLOT is known."),
    ],
)
def test_a_word_that_is_broken_at_the_end_of_a_line_is_joined(
    begins: str, ends: str, whole: str
) -> None:
    found = read(document([words(begins) + words(ends, y=684)]))
    assert found.pieces[0].text == whole


def test_the_title_is_no_name_that_a_program_wrote() -> None:
    named = {"Annual report": "Annual report", "untitled": "", "Microsoft Word - a.doc": ""}
    for given_title, title in named.items():
        info = {4: f"<</Title({given_title})>>".encode()}
        assert read(document([words("x")], more=info, trailer="/Info 4 0 R")).title == title


def test_an_outline_in_circles_ends_and_leads_to_pages() -> None:
    marks = {
        4: b"<</Type/Outlines/First 5 0 R/Last 6 0 R>>",
        5: b"<</Title(One)/Parent 4 0 R/Next 6 0 R/First 7 0 R/Dest[10 0 R/Fit]>>",
        6: b"<</Title(Two)/Parent 4 0 R/Next 5 0 R/Dest[12 0 R/Fit]>>",
        7: b"<</Title(Within)/Parent 5 0 R/First 5 0 R/Next 8 0 R/Dest[12 0 R/XYZ 0 0 0]>>",
        8: b"<</Title(Nowhere)/Parent 5 0 R/Dest[99 0 R/Fit]>>",
    }
    found = read(document([words("a"), words("b")], more=marks, catalogue="/Outlines 4 0 R"))
    assert [(it.text, it.level, it.place) for it in found.outline] == [
        ("One", 1, {"page": 1}),
        ("Within", 2, {"page": 2}),
        ("Two", 1, {"page": 2}),
    ]


def test_a_password_opens_and_is_never_repeated() -> None:
    content = encrypted("Hidden words", SECRET)
    assert read(content, password=SECRET).pieces[0].text == "Hidden words"
    for password, category in (("", "PASSWORD_NEEDED"), ("wrong horse", "PASSWORD_WRONG")):
        error = refused(content, password=password)
        assert (error.code, error.category) == ("AUTH", category)
        assert "password=" in error.hint
        assert "horse" not in f"{error.message} {error.hint}"


@pytest.mark.parametrize(
    ("content", "category"),
    [
        (b"", "DOCUMENT_EMPTY"),
        (b"%PDF-1.7\nnothing", "DOCUMENT_DAMAGED"),
        (document([words("one")])[:300], "DOCUMENT_DAMAGED"),
        (written({1: b"<</Type/Catalog/Pages 2 0 R>>", 2: COUNTED % 9}), "DOCUMENT_DAMAGED"),
    ],
    ids=["empty", "junk", "cut", "no pages"],
)
def test_what_is_no_whole_pdf_is_refused(content: bytes, category: str) -> None:
    assert refused(content).category == category


def test_a_damaged_page_costs_itself_alone() -> None:
    objects = {
        1: b"<</Type/Catalog/Pages 2 0 R>>",
        2: COUNTED % 3,
        3: b"<</Type/Page/Parent 2 0 R/Resources<</Font<</F 4 0 R>>>>/Contents 5 0 R>>",
        4: b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
        5: stream(words("whole")),
    }
    found = read(written(objects))
    assert [piece.text for piece in found.pieces] == ["whole"]
    assert found.limits[0].startswith("2 pages are damaged")


def test_a_hundred_thousand_pages_are_read_up_to_the_bound() -> None:
    began = time.process_time()
    found = read(document([words("x")] * 100_000), bounds=Bounds(pages=50))
    assert time.process_time() - began < 10
    assert (len(found.pieces), found.pages) == (50, 100_000)
    assert found.limits[0].startswith("Only the first 50 of 100,000 pages were read; raise max_pag")


def test_text_that_fills_the_bound_exactly_is_said_to_be_cut() -> None:
    found = read(document([words("four"), words("more")]), bounds=Bounds(chars=4))
    assert [piece.text for piece in found.pieces] == ["four"]
    assert "4 characters" in found.limits[0]


def test_pages_that_show_something_without_words() -> None:
    pages = [
        WHOLE_PAGE,
        WHOLE_PAGE + words("Scanned with a scanner"),
        b"0 0 m 90 90 l S",
        words("Short"),
        b"q 99 0 0 99 72 72 cm /I Do Q " + words("Figure 1"),
        b"",
    ]
    found = read(document(pages, more=PICTURES, resources=DRAWN))
    assert found.wordless == [1, 2, 3]
    assert [piece.place["page"] for piece in found.pieces] == [2, 4, 5]


def test_a_font_that_hides_its_letters_makes_a_page_wordless() -> None:
    names = b"1 begincodespacerange <00> <FF> endcodespacerange\n"
    private = b"1 beginbfrange <20> <7E> <E020> endbfrange"
    font = b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/ToUnicode 5 0 R>>"
    more = {3: font, 5: stream(names + private)}
    found = read(document([words("Twenty letters of nothing")], more=more))
    assert (found.pieces, found.wordless) == ([], [1])


def test_what_was_filled_in_to_a_form_is_read() -> None:
    field = "/Type/Annot/Subtype/Widget/P 10 0 R/Rect[72 600 300 620]"
    more = {
        4: f"<<{field}/FT/Tx/T(form.name)/V(Ada Lovelace)/DA(/F 12 Tf)>>".encode(),
        5: f"<<{field}/FT/Tx/T(pin)/Ff 8192/V(1234)/DA(/F 12 Tf)>>".encode(),
        6: f"<<{field}/FT/Btn/T(box)/TU(Agreed)/V/Yes/AS/Yes/AP<</N<</Yes 7 0 R>>>>>>".encode(),
        7: stream(b"", "/Type/XObject/Subtype/Form/BBox[0 0 9 9]"),
    }
    fields = "[4 0 R 5 0 R 6 0 R]"
    content = document(
        [words("Application")],
        more=more,
        page=f"/Annots{fields}",
        catalogue=f"/AcroForm<</Fields{fields}/DR<</Font<</F 3 0 R>>>>>>",
    )
    assert read(content).pieces[0].text == "Application\nname: Ada Lovelace\nAgreed: Yes"


@pytest.mark.parametrize(
    "box", ["0 0 1e9 0.001", "0 0 0 0", "-5 -5 -1 -1", "0 0 1e7 1e7", "0 0 nan 5"]
)
def test_absurd_pages_are_drawn_within_bounds(box: str, tmp_path: Path) -> None:
    content = document([words("here")], box=box)
    asked = Asked(folder=tmp_path, scale=300.0, bounds=Bounds(pixels=1_000_000))
    (found,) = pdf.render(BytesIO(content), asked)
    assert 1 <= found.width <= 4_000
    assert 1 <= found.height <= 4_000
    assert found.width * found.height < 1_010_000
    from PIL import Image

    with Image.open(tmp_path / found.file) as drawn:
        assert drawn.size == (found.width, found.height)


def test_pages_are_drawn_once_each_as_asked(tmp_path: Path) -> None:
    content = document([words("a"), words("b"), words("c")])
    asked = Asked(folder=tmp_path, pages=(3, 1, 3, 9, 0), scale=1.0)
    found = pdf.render(BytesIO(content), asked)
    assert [it.place for it in found] == [{"page": 3}, {"page": 1}]
    assert {(it.width, it.height, it.mime) for it in found} == {(612, 792, "image/jpeg")}


def test_pictures_have_the_place_where_they_are_shown(tmp_path: Path) -> None:
    drawn = b"q 100 0 0 50 172 600 cm /I Do Q"
    turned = document([drawn], more=PICTURES, resources=DRAWN, page="/CropBox[100 100 400 700]")
    (found,) = pictures(turned, tmp_path)
    assert found.place == {"page": 1, "box": [72.0, 50.0, 100.0, 50.0]}
    page = "/CropBox[100 100 400 700]/Rotate 90"
    (found,) = pictures(document([drawn], more=PICTURES, resources=DRAWN, page=page), tmp_path)
    assert found.place == {"page": 1, "box": [500.0, 72.0, 50.0, 100.0]}
    assert found.width < found.height


def test_a_picture_in_a_form_has_its_place_on_the_page(tmp_path: Path) -> None:
    form = "/Type/XObject/Subtype/Form/BBox[0 0 99 99]/Matrix[2 0 0 2 0 0]"
    within = stream(b"q 10 0 0 10 5 5 cm /I Do Q", f"{form}/Resources<<{DRAWN}>>")
    content = document(
        [b"q 2 0 0 2 50 60 cm /J Do Q"], more={**PICTURES, 5: within}, resources=DRAWN
    )
    (found,) = pictures(content, tmp_path)
    assert found.place["box"] == [70.0, 672.0, 40.0, 40.0]


def test_tiny_hostile_and_repeated_pictures_are_left_out(tmp_path: Path) -> None:
    more = {**PICTURES, 5: image(100_000, 100_000, b""), 6: image(31, 99)}
    resources = "/XObject<</I 4 0 R/J 5 0 R/K 6 0 R>>"
    names = (b"q 90 0 0 90 9 9 cm /%s Do Q " % name for name in (b"I", b"I", b"J", b"K"))
    content = document([b"".join(names)] * 3, more=more, resources=resources)
    found = pictures(content, tmp_path)
    assert [it.place["page"] for it in found] == [1]
    assert [path.name for path in tmp_path.iterdir()] == ["picture-1.png"]


def test_no_more_pictures_than_the_bound(tmp_path: Path) -> None:
    more = {at: image(40, 40, bytes([at]) * 1_600) for at in range(4, 9)}
    names = "".join(f"/I{at} {at} 0 R" for at in more)
    drawn = "".join(f"q 90 0 0 90 9 9 cm /I{at} Do Q " for at in more).encode()
    content = document([drawn], more=more, resources=f"/XObject<<{names}>>")
    assert len(pictures(content, tmp_path)) == 5
    assert len(pictures(content, tmp_path, bounds=Bounds(pictures=2))) == 2


def test_a_tagged_picture_has_its_words(tmp_path: Path) -> None:
    tags = {
        6: b"<</Type/StructTreeRoot/K 7 0 R/ParentTree 8 0 R>>",
        7: b"<</Type/StructElem/S/Figure/P 6 0 R/Pg 10 0 R/Alt(A red cat)/K 0>>",
        8: b"<</Nums[0[7 0 R]]>>",
    }
    content = document(
        [b"/Figure<</MCID 0>>BDC q 100 0 0 50 72 600 cm /I Do Q EMC"],
        more={**PICTURES, **tags},
        resources=DRAWN,
        page="/StructParents 0",
        catalogue="/StructTreeRoot 6 0 R/MarkInfo<</Marked true>>",
    )
    (found,) = pictures(content, tmp_path)
    assert found.alt == "A red cat"


def test_a_photograph_is_kept_as_it_is_and_a_mask_is_put_on_white(tmp_path: Path) -> None:
    from PIL import Image

    photo = BytesIO()
    Image.linear_gradient("L").save(photo, "JPEG")
    kind = "/Type/XObject/Subtype/Image/Width 256/Height 256/BitsPerComponent 8"
    jpeg = stream(photo.getvalue(), f"{kind}/ColorSpace/DeviceGray/Filter/DCTDecode")
    more = {4: jpeg, 5: image(64, 64, bytes(4_096), "/SMask 6 0 R"), 6: image(64, 64)}
    drawn = b"q 90 0 0 90 9 9 cm /I Do Q q 90 0 0 90 9 200 cm /J Do Q"
    kept, masked = pictures(document([drawn], more=more, resources=DRAWN), tmp_path)
    assert (tmp_path / kept.file).read_bytes() == photo.getvalue()
    with Image.open(tmp_path / masked.file) as opened:
        assert opened.convert("L").getextrema() == (255, 255)


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_damaged_bytes_are_read_or_refused(data: st.DataObject) -> None:
    content = bytearray(document([words("one"), WHOLE_PAGE], more=PICTURES, resources=DRAWN))
    for _ in range(data.draw(st.integers(1, 8))):
        at = data.draw(st.integers(0, len(content) - 1))
        content[at : at + data.draw(st.integers(0, 30))] = data.draw(st.binary(max_size=12))
    with suppress(ParseError):
        assert read(bytes(content)).pages > 0


@needs_data
def test_a_real_scan_and_its_pictures(tmp_path: Path) -> None:
    path = DATA / "media/mid_MEDRPT-2024-PAT-3847_medical_report_scan.pdf"
    with path.open("rb") as file:
        found = pdf.parse(file, Asked(name=path.name))
        shown = pdf.pictures(file, Asked(name=path.name, folder=tmp_path))
    assert (found.pieces, found.wordless) == ([], [1, 2, 3])
    assert [it.place["page"] for it in shown] == [1, 2, 3]
    assert {it.mime for it in shown} == {"image/jpeg"}


@pytest.fixture
async def parser() -> Any:
    made: Any = SimpleNamespace(settings=ContentSettings(parser_timeout_s=20, parser_memory_mb=512))
    parser = Parser(made)
    yield parser
    await parser.aclose()


async def test_a_worker_says_what_is_wrong_and_reads_on(parser: Parser) -> None:
    content = encrypted("Hidden words", SECRET)
    with pytest.raises(VrError) as caught:
        await parser.run(ParseTask("pdf", "parse", {"name": "a.pdf"}, body=content))
    assert (caught.value.code, caught.value.category) == (Code.AUTH, "PASSWORD_NEEDED")
    asked = {"name": "a.pdf", "password": SECRET}
    found = await parser.run(ParseTask("pdf", "parse", asked, body=content))
    assert found["pieces"] == [{"text": "Hidden words", "place": {"page": 1}}]


async def test_a_page_that_takes_all_memory_ends_no_more_than_its_task(
    parser: Parser, tmp_path: Path
) -> None:
    more = {4: image(60_000, 60_000, bytes(50_000_000))}
    bomb = document([WHOLE_PAGE], more=more, resources=DRAWN)
    asked = {"name": "a.pdf", "folder": str(tmp_path)}
    with suppress(VrError):  # whether it is drawn without the picture is the library's choice
        await parser.run(ParseTask("pdf", "render", asked, body=bomb))
    after = await parser.run(ParseTask("pdf", "parse", asked, body=document([words("next")])))
    assert after["pieces"][0]["text"] == "next"


async def test_what_every_page_says_on_top_is_in_no_key_point(desk: Desk) -> None:
    """A head with the number of the page is left out, and so is no sentence."""
    told = ("Ada built it", "Rain fills the well", "Frost breaks a pipe", "Oil keeps it going")
    said = [f"{each} is what the people of the old mill say of their pump." for each in told]
    pages = [
        words(f"Handbook of pumps {number}", y=760) + words(line)
        for number, line in enumerate(said, 1)
    ]
    path = desk.write("a.pdf", document(pages))
    result = await desk.kernel.call("content_analyze", file_path=str(path))
    assert result.key_points
    assert {it.text for it in result.key_points} <= {*said}
    assert "Handbook" not in result.summary
