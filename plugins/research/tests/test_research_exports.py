"""Reports as files: each format is read again by a program that others wrote."""

from __future__ import annotations

import io
import json
import re
import sys
import warnings
import zipfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from html.parser import HTMLParser
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import report_samples as samples
from pydantic import BaseModel
from vr_kernel import READ_ONLY, Call, Code, Record, VrError, hookimpl, tool
from vr_plugin_research.evidence.tiers import held_to
from vr_plugin_research.exports.addresses import web_address
from vr_plugin_research.exports.bibtex_file import bibtex_of, escaped
from vr_plugin_research.exports.docx_file import docx_of
from vr_plugin_research.exports.files import MIME
from vr_plugin_research.exports.json_file import json_of
from vr_plugin_research.exports.markdown_file import markdown_of
from vr_plugin_research.exports.pdf_file import pdf_of
from vr_plugin_research.record_kinds import RESEARCH_REPORTS
from vr_plugin_research.results.claims import Claim
from vr_plugin_research.results.documents import DocumentReport
from vr_plugin_research.results.report import ResearchReport
from vr_plugin_research.results.sources import ReportSource
from vr_plugin_research.tools.export import research_export
from vr_plugin_research.views.declared import VIEWS
from vr_plugin_research.views.report import view_of
from vr_testing import TrialKernel, open_kernel

PAGE_7 = f"{samples.PDF}#page=7"
SECOND_93 = f"{samples.FILM}&t=93s"
SECOND_3725 = f"{samples.TALK}#t=3725"
LEADS = re.compile(r"https?://|file:///")
PLACES = {PAGE_7, SECOND_93, SECOND_3725}
WRONG_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class Kept(BaseModel):
    """The result of the kit's tool."""

    key: str


@tool(effects=READ_ONLY)
async def kit_keep(call: Call, key: str, fields: dict[str, Any]) -> Kept:
    """Record a report."""
    call.record(Record(RESEARCH_REPORTS.name, fields, key))
    return Kept(key=key)


class Exporting:
    """A plugin with the tool, its view and its kind, and a tool that records."""

    vr_tools = staticmethod(hookimpl(lambda: [kit_keep, research_export]))
    vr_views = staticmethod(hookimpl(lambda: [*VIEWS]))
    vr_record_kinds = staticmethod(hookimpl(lambda: [RESEARCH_REPORTS]))


@asynccontextmanager
async def opened(
    folder: Path, made: ResearchReport, **plugins: object
) -> AsyncIterator[TrialKernel]:
    """A kernel that has a report."""
    async with open_kernel({"exporting": Exporting, **plugins}, folder=folder) as kernel:
        record = samples.report_record(made)
        await kernel.call("kit_keep", key=made.report_id, fields=record.fields)
        yield kernel


def library(name: str) -> ModuleType:
    """A library of an extra; skips the test where it is not installed."""
    found: ModuleType = pytest.importorskip(name, reason=f"{name} is not installed")
    return found


class Anchors(HTMLParser):
    """The addresses of a page, and what it would fetch by itself."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.fetched: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if tag == "a" and name == "href":
                self.links.append(value or "")
            elif name in ("src", "srcset", "poster", "data", "action") or tag == "link":
                self.fetched.append(value or "")


async def exported(kernel: TrialKernel, form: str) -> bytes:
    """The bytes of the file that the tool makes."""
    made = await kernel.call("research_export", report_id="r-7f3a", format=form)
    content = Path(made.path).read_bytes()  # noqa: ASYNC240
    assert (made.format, made.size) == (form, len(content))
    assert made.uri.endswith(f".{form}")
    return content


async def test_markdown_leads_to_pages_and_seconds(tmp_path: Path) -> None:
    async with opened(tmp_path, samples.report()) as kernel:
        text = (await exported(kernel, "md")).decode()
    assert text.startswith(f"# {samples.TOPIC}\n")
    for place in PLACES:
        assert f"]({place})" in text
    assert "Against: “below -10 °C" in text
    assert text.index("## Contradictions") < text.index("## Claims")


async def test_a_page_is_one_file_and_its_citations_lead_to_pages_and_seconds(
    tmp_path: Path,
) -> None:
    pages = library("vr_pages.plugin")
    async with opened(tmp_path, samples.report(), pages=pages) as kernel:
        page = Anchors((await exported(kernel, "html")).decode())
    assert set(page.links) >= PLACES
    assert page.fetched == []
    assert all(LEADS.match(link) for link in page.links)


async def test_without_a_renderer_the_hint_says_what_to_install(tmp_path: Path) -> None:
    async with opened(tmp_path, samples.report()) as kernel:
        with pytest.raises(VrError) as caught:
            await exported(kernel, "html")
    assert caught.value.code is Code.UNAVAILABLE
    assert "pip install vr-pages" in caught.value.hint


async def test_json_is_the_whole_report(tmp_path: Path) -> None:
    made = samples.document_report()
    async with opened(tmp_path, made) as kernel:
        data = json.loads(await exported(kernel, "json"))
    assert data.pop("schema_version") == 1
    held = [held_to(claim, made.sources) for claim in made.findings]
    assert DocumentReport.model_validate(data) == made.model_copy(update={"findings": held})
    assert list(data) == sorted(data)


@pytest.mark.parametrize("text", samples.HOSTILE)
def test_json_holds_any_text(text: str) -> None:
    made = samples.hostile_report(text)
    written = json_of(made).decode()
    assert DocumentReport(**json.loads(written)) == made
    assert not WRONG_XML.search(written), "what nobody can see is spelled out"


def hyperlinks(content: bytes) -> dict[str, str]:
    """The words of the links of a Word file, by their addresses."""
    document = library("docx").Document(io.BytesIO(content))
    found = [link for paragraph in document.paragraphs for link in paragraph.hyperlinks]
    return {f"{link.address}#{link.fragment}".rstrip("#"): link.text for link in found}


async def test_a_word_file_has_claims_quotes_and_links(tmp_path: Path) -> None:
    docx = library("docx")
    async with opened(tmp_path, samples.report()) as kernel:
        content = await exported(kernel, "docx")
        assert content == await exported(kernel, "docx"), "the same report is the same file"
    document = docx.Document(io.BytesIO(content))
    assert document.core_properties.title == samples.TOPIC
    assert document.core_properties.created.year == 2026
    styles: dict[str, list[str]] = {}
    for paragraph in document.paragraphs:
        styles.setdefault(paragraph.style.name, []).append(paragraph.text)
    assert styles["Title"] == [samples.TOPIC]
    assert styles["Heading 1"][:2] == ["Executive summary", "Contradictions"]
    quotes = styles["Quote"]
    assert any("it still gives me two for one" in quote for quote in quotes)
    assert any(quote.startswith("Against: “below -10 °C") for quote in quotes)
    claims = [text for text in styles["Normal"] if text.startswith("C1: ")]
    assert claims[0].endswith("STRONG\u00a0INDICATOR,\u00a0confidence\u00a00.90"), (
        "it is contradicted"
    )
    assert hyperlinks(content)[PAGE_7].endswith("page 7")
    assert set(hyperlinks(content)) >= PLACES
    first = document.tables[0]
    assert [cell.text for cell in first.rows[0].cells] == [
        "Claim",
        "Contradicts",
        "Kind and reason",
    ]


@pytest.mark.parametrize("text", samples.HOSTILE)
def test_no_text_breaks_a_word_file(text: str) -> None:
    docx = library("docx")
    content = docx_of(view_of(samples.hostile_report(text)), text)
    document = docx.Document(io.BytesIO(content))
    assert document.paragraphs
    assert all(LEADS.match(address) for address in hyperlinks(content))
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        parts = [archive.read(name).decode() for name in archive.namelist() if "xml" in name]
    assert not any(WRONG_XML.search(part) or "<!ENTITY" in part for part in parts)


async def test_a_pdf_has_claims_and_links(tmp_path: Path) -> None:
    library("typst")
    pdfium = library("pypdfium2")
    async with opened(tmp_path, samples.report()) as kernel:
        content = await exported(kernel, "pdf")
        assert content == await exported(kernel, "pdf"), "the same report is the same file"
    document = pdfium.PdfDocument(content)
    text = words_of(document)
    assert document.get_metadata_dict()["Title"] == samples.TOPIC
    assert "C1: Cold-climate models keep a coefficient of performance" in text
    assert "so at minus fifteen it still gives me two for one" in text
    assert [item.get_title() for item in document.get_toc()][:2] == [
        "Executive summary",
        "Contradictions",
    ]
    for place in PLACES:
        assert place.encode() in content or place in links_of(document)


def words_of(document: Any) -> str:
    """The text of all pages on one line."""
    pages = [page.get_textpage().get_text_range() for page in document]
    return " ".join(" ".join(pages).split())


def links_of(document: Any) -> set[str]:
    """The addresses to which a PDF leads."""
    raw = library("pypdfium2.raw")
    import ctypes

    found = set()
    for page in document:
        position, link = ctypes.c_int(0), raw.FPDF_LINK()
        while raw.FPDFLink_Enumerate(page, position, link):
            action = raw.FPDFLink_GetAction(link)
            size = raw.FPDFAction_GetURIPath(document, action, None, 0)
            held = ctypes.create_string_buffer(size)
            raw.FPDFAction_GetURIPath(document, action, held, size)
            found.add(held.value.decode())
    return found


@pytest.mark.parametrize("text", samples.HOSTILE)
def test_no_text_is_markup_in_a_pdf(text: str) -> None:
    library("typst")
    pdfium = library("pypdfium2")
    content, _ = pdf_of(view_of(samples.hostile_report(text)), text)
    document = pdfium.PdfDocument(content)
    assert "Contradictions" in words_of(document)
    assert all(LEADS.match(address) for address in links_of(document))


def test_a_pdf_shows_the_signs_of_typst_as_they_are() -> None:
    library("typst")
    pdfium = library("pypdfium2")
    text = '#read("/etc/passwd") *b* _i_ $ x $ @ref \\ // c'
    content, _ = pdf_of(view_of(samples.report(topic=text)), "")
    assert text in words_of(pdfium.PdfDocument(content))


@pytest.mark.parametrize(
    ("text", "complete"),
    [
        ("Греция, Ελλάδα, Łódź, Việt Nam — “quoted”", True),
        ("cuneiform \U00012000 \U00012001", False),
    ],
)
def test_a_pdf_says_which_signs_it_cannot_show(text: str, complete: bool) -> None:
    library("typst")
    pdfium = library("pypdfium2")
    content, notes = pdf_of(view_of(samples.report(executive_summary=text)), "")
    assert (notes == []) is complete
    if complete:
        assert text in words_of(pdfium.PdfDocument(content))
    else:
        assert "\U00012000" in notes[0]


def parsed(content: bytes) -> list[dict[str, str]]:
    """The entries of a BibTeX file, as the library reads them."""
    bibtexparser = library("bibtexparser")
    with warnings.catch_warnings():  # bibtexparser 1.4 uses pyparsing as it was
        warnings.simplefilter("ignore")
        parser = bibtexparser.bparser.BibTexParser(common_strings=True)
        parser.ignore_nonstandard_types = False
        entries: list[dict[str, str]] = bibtexparser.loads(content.decode(), parser).entries
    return entries


async def test_bibtex_has_an_entry_for_each_source(tmp_path: Path) -> None:
    library("bibtexparser")
    async with opened(tmp_path, samples.report()) as kernel:
        entries = parsed(await exported(kernel, "bib"))
    assert len(entries) == len(samples.SOURCES)
    first, film, paper, file, *_ = entries
    assert first["title"] == f"{{{samples.SOURCES[0].title}}}"
    assert (first["ENTRYTYPE"], first["year"], first["url"]) == ("misc", "2024", samples.PDF)
    assert first["urldate"] == "2026-02-03"
    assert first["note"] == "Claims that quote it: 1 STRONG INDICATOR, 1 INFERENCE"
    assert film["ENTRYTYPE"] == "online"
    assert (paper["ENTRYTYPE"], paper["journal"]) == ("article", "Journal of Building Physics")
    assert paper["note"].startswith("RETRACTED. ")
    assert "url" not in file, "a path of this machine is none"


def test_a_key_stays_with_its_source() -> None:
    library("bibtexparser")
    source = ReportSource(number=1, title="Über Pumpen", source=samples.PDF, published="2024")
    other = source.model_copy(update={"number": 2, "source": samples.PAGE})
    keys = [
        [entry["ID"] for entry in parsed(bibtex_of(samples.report(sources=sources)))]
        for sources in ([source, other, source], [other, source])
    ]
    assert keys[0][:2] == keys[1][::-1]
    assert len(set(keys[0])) == 3
    assert keys[0][2] == f"{keys[0][0]}-2"


@pytest.mark.parametrize("text", samples.HOSTILE)
def test_bibtex_can_be_read_whatever_a_title_holds(text: str) -> None:
    library("bibtexparser")
    source = ReportSource(number=1, title=text, source=samples.PAGE, origin=text)
    entries = parsed(bibtex_of(samples.report(sources=[source, samples.SOURCES[0]])))
    assert len(entries) == 2
    assert entries[1]["title"] == f"{{{samples.SOURCES[0].title}}}"
    if text.strip():
        assert entries[0]["title"] == f"{{{escaped(text)}}}"


def test_escaped_text_means_itself() -> None:
    latex = library("bibtexparser.latexenc")
    text = "50 % of {x} & #1 in $y_z$"
    plain = latex.latex_to_unicode(escaped(text).replace("\\textbraceleft{}", "(").replace(
        "\\textbraceright{}", ")"))  # fmt: skip
    assert re.sub(r"\\(?=[%&#$_])", "", plain) == text.replace("{", "(").replace("}", ")")
    braces = re.sub(r"[^{}]", "", escaped("} {{ \\"))
    assert braces.count("{") == braces.count("}")


@pytest.mark.parametrize(
    ("link", "address"),
    [
        ("https://a.example/x y%zz?q=é", "https://a.example/x%20y%25zz?q=%C3%A9"),
        ("javascript:alert(1)", ""),
        ("https://a.example/\x1b[31m<b>", "https://a.example/%3Cb%3E"),
        ("file:///home/me/a b.pdf#page=2", "file:///home/me/a%20b.pdf#page=2"),
        ("file://server/share", ""),
        (f"https://a.example/{'x' * 3_000}", ""),
    ],
)
def test_only_pages_and_files_are_led_to(link: str, address: str) -> None:
    assert web_address(link) == address


@pytest.mark.parametrize("made", [samples.empty_report(), samples.long_report(400)])
def test_empty_and_long_reports_are_written(made: ResearchReport) -> None:
    for name in ("docx", "typst", "bibtexparser"):
        library(name)
    view = view_of(made)
    count = len(made.findings)
    assert markdown_of(view).decode().count("Claim number ") >= count
    assert len(json.loads(json_of(made))["findings"]) == count
    with zipfile.ZipFile(io.BytesIO(docx_of(view, ""))) as archive:
        assert archive.read("word/document.xml").count(b"Claim number ") >= count
    assert pdf_of(view, "")[0].startswith(b"%PDF")
    assert len(parsed(bibtex_of(made))) == len(made.sources)


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_five_thousand_claims_are_written() -> None:
    for name in ("docx", "typst"):
        library(name)
    made = samples.long_report(5_000)
    view = view_of(made)
    with zipfile.ZipFile(io.BytesIO(docx_of(view, ""))) as archive:
        assert archive.read("word/document.xml").count(b"Claim number ") >= 5_000
    pdfium = library("pypdfium2")
    assert "Claim number 5000 of many." in words_of(pdfium.PdfDocument(pdf_of(view, "")[0]))


@pytest.mark.parametrize(
    ("form", "module"), [("docx", "docx"), ("pdf", "typst"), ("bib", "bibtexparser")]
)
async def test_a_missing_library_is_named_with_its_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str, module: str
) -> None:
    monkeypatch.setitem(sys.modules, module, None)  # as if it were not installed
    async with opened(tmp_path, samples.report()) as kernel:
        with pytest.raises(VrError) as caught:
            await exported(kernel, form)
    assert (caught.value.code, caught.value.category) == (Code.UNAVAILABLE, "EXTRA_MISSING")
    assert "pip install 'video-research[reports]'" in caught.value.hint


async def test_an_unknown_report_is_not_found(tmp_path: Path) -> None:
    async with opened(tmp_path, samples.report()) as kernel:
        with pytest.raises(VrError) as caught:
            await kernel.call("research_export", report_id="r-7f3b")
    assert (caught.value.code, caught.value.category) == (Code.NOT_FOUND, "REPORT_UNKNOWN")


async def test_the_tool_costs_a_client_few_tokens(tmp_path: Path) -> None:
    async with opened(tmp_path, samples.report()) as kernel:
        it = kernel.tools["research_export"]
        shown = json.dumps(it.input_schema, separators=(",", ":"))
    with warnings.catch_warnings():  # it opens its own data in a way that Python calls old
        warnings.simplefilter("ignore")
        encoding = library("bpe_openai").get_encoding("o200k_base")
    assert len(encoding.encode(f"{it.description}{shown}")) <= 70
    assert set(MIME) == {"md", "html", "docx", "pdf", "json", "bib"}


def test_claims_alone_are_enough_for_a_file() -> None:
    claim = Claim(id="", claim="Alone.", evidence_tier="UNKNOWN", confidence=0.0)
    view = view_of(samples.report(findings=[claim], sources=[], contradictions=[]))
    assert "**Alone.**" in markdown_of(view).decode()
