"""Views of documents, batches and extractions: what a reader of their results sees."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from contentkit import Desk, open_desk
from pdfkit import document, words
from vr_kernel import StoredRecord
from vr_kernel.views import Claims, Facts, Link, Pages, Prose, Records, Table, View, as_text
from vr_plugin_content.results.analysis import KeyPoint
from vr_plugin_content.views.document import show_passages
from vr_plugin_content.views.marks import marked_on
from vr_testing import FakeGemini

TEXTS = {
    1: "The pump of Ada was in-\nstalled in the old\n\nmill, and ran\nfor forty",
    2: "years. A caf\u00e9 stands\nthere (\u201cthe Mill\u201d). Item 12 is 4712.",
    3: "A caf\u00e9 stands\nthere, too.",
}
REPORT = {
    "title": "Pumps",
    "summary": "All about pumps.",
    "key_points": [
        {"text": "It ran", "quote": "the second pump runs on forty volts", "place": "p. 2"},
        {"text": "Made up", "quote": "whales sing under the arctic ice", "place": "p. 1"},
    ],
    "entities": ["Ada"],
}
INVOICE = "# Invoice 4711\n\nAda's Pumps of London sells one pump at twelve pounds.\n"
FORM = {
    "type": "object",
    "properties": {
        "number": {"type": "integer"},
        "share": {"type": "number"},
        "items": {"type": "array", "items": {"type": "object"}},
    },
}
EXTRACTED = {
    "data": {"number": 4711, "share": 0.12345678, "items": [{"name": "pump"}]},
    "evidence": [
        {"path": "/number", "quote": "Invoice 4711", "place": ""},
        {"path": "/items/0/name", "quote": "one pump at twelve pence", "place": ""},
    ],
}


def compared(request: Any) -> dict[str, Any]:
    quote = "pump of Ada Lovelace runs"
    point = {"text": "Runs", "quote": quote, "place": ""}
    return {
        "summary": "Voltages differ.",
        "commonalities": [{"text": "Both are pumps", "files": ["alpha.md", "beta.md"]}],
        "differences": [{"text": "Voltage", "files": ["alpha.md"]}],
        "files": [
            {"file": name, "title": name, "summary": f"About {name}.", "key_points": [point]}
            for name in ("alpha.md", "beta.md")
        ],
    }


@pytest.fixture
def gemini() -> Iterator[FakeGemini]:
    def asks(name: str) -> Any:
        return lambda request: name in (request.schema or {}).get("properties", {})

    with FakeGemini() as fake:
        fake.answer(REPORT, when=asks("entities"))
        fake.answer(compared, when=asks("commonalities"))
        fake.answer(EXTRACTED, when=asks("evidence"))
        yield fake


@pytest.fixture
async def paid(tmp_path: Path, gemini: FakeGemini) -> AsyncIterator[Desk]:
    given = {"GEMINI_API_KEY": "a-key", "GOOGLE_GEMINI_BASE_URL": gemini.url}
    async with open_desk(tmp_path, variables=given) as opened:
        yield opened


async def shown(desk: Desk, tool: str, **arguments: Any) -> View:
    """The view of a tool's result, after its way through JSON as a job keeps it."""
    result = await desk.kernel.call(tool, **arguments)
    data = json.loads(result.model_dump_json())
    return await desk.kernel.services.views.of_result_data(tool, data)


async def passages_of(desk: Desk) -> list[StoredRecord]:
    changes = await desk.kernel.services.journal.changes(0, 1_000)
    found = [it for it in changes if it.kind == "DocumentPassages"]
    return [StoredRecord(it.kind, it.key, it.fields) for it in found]


async def passages_view(desk: Desk, records: list[StoredRecord]) -> View:
    services = replace(desk.kernel.services, settings=desk.kernel.settings["content"])
    return await show_passages(services, records)


def block(view: View, kind: type[Any], title: str = "") -> Any:
    """The block of a kind that has this title; the only one of the kind without a title."""
    (found,) = (it for it in view.blocks if type(it) is kind and title in ("", it.title))
    return found


@pytest.mark.parametrize(
    ("quote", "page", "marked"),
    [
        ("the PUMP of Ada was installed in the old mill", 1, {1: [TEXTS[1][:48]]}),
        ("A cafe\u0301 stands there", 3, {3: ["A caf\u00e9 stands\nthere"]}),
        ("A cafe stands there ('the mill').", None, {2: [TEXTS[2][7:40]]}),
        ("and ran for forty years.", 1, {1: ["and ran\nfor forty"], 2: ["years"]}),
        ("Item 12", 1, {2: ["Item 12"]}),
        ("471", None, {}),
        ("never said", 2, {}),
        ("...", 1, {}),
    ],
)
def test_a_quote_is_marked_as_its_page_has_it(
    quote: str, page: int | None, marked: dict[int, list[str]]
) -> None:
    found = marked_on(TEXTS, [KeyPoint(text="A point", quote=quote, page=page)])
    assert {number: words for number, words in found.items() if words} == marked


async def test_a_document_is_shown_page_by_page_with_its_outline_and_quotes(paid: Desk) -> None:
    outline = {
        4: b"<</Type/Outlines/First 5 0 R/Last 6 0 R/Count 2>>",
        5: b"<</Title(First part)/Parent 4 0 R/Next 6 0 R/Dest[10 0 R/Fit]>>",
        6: b"<</Title(Second part)/Parent 4 0 R/Prev 5 0 R/Dest[12 0 R/Fit]>>",
    }
    pages = [
        words("First part") + words("A story about pumps of old.", y=680),
        words("Second part")
        + words("It is said that the second pump", y=680)
        + words("runs on forty volts, day and night.", y=664),
    ]
    pdf = document(pages, more=outline, catalogue="/Outlines 4 0 R")
    path = paid.write("pumps.pdf", pdf)
    view = await shown(paid, "content_analyze", file_path=str(path))
    assert [point.quotes[0].mark for point in block(view, Claims).items] == [
        "verified",
        "not_found",
    ]
    records = await passages_of(paid)
    view = await passages_view(paid, records)
    found = block(view, Pages)
    assert [(page.number, page.marked) for page in found.items] == [
        (1, ()),
        (2, ("the second pump\nruns on forty volts",)),
    ]
    assert all(page.image for page in found.items)
    assert found.detail, "the summary of the analysis comes before it"
    headings = block(view, Table, "Outline").rows
    assert headings == (
        ("First part", Link(f"{path.as_uri()}#page=1", "p. 1")),
        ("Second part", Link(f"{path.as_uri()}#page=2", "p. 2")),
    )
    hit = await passages_view(paid, records[1:])
    assert (hit.source, hit.about) == (f"{path.as_uri()}#page=2", ("p. 2",))
    assert "runs on forty volts" in block(hit, Prose).text
    (analysis,) = [
        StoredRecord(it.kind, it.key, it.fields)
        for it in await paid.kernel.services.journal.changes(0, 1_000)
        if it.kind == "ContentAnalyses"
    ]
    beside = await paid.kernel.services.views.of_records([analysis])
    assert "Outline" not in [it.title for it in beside.blocks], "it stands with the pages"


async def test_a_document_without_pages_is_one_text_when_it_has_many_sections(desk: Desk) -> None:
    parts = [f"## Part {number}\n\nAbout number {number}.\n" for number in range(20)]
    await desk.kernel.call("content_read", source=str(desk.write("a.md", "\n".join(parts))))
    view = await passages_view(desk, await passages_of(desk))
    text = block(view, Prose, "Text").text
    assert text.count("Part 7") == 1
    assert "About number 19." in text


async def test_a_batch_shows_the_comparison_then_each_file(paid: Desk) -> None:
    paid.write("files/alpha.md", "# Alpha\n\nThe pump of Ada Lovelace runs on twelve volts.\n")
    paid.write("files/beta.md", "# Beta\n\nThe fan of Charles Babbage stands still.\n")
    paid.write("files/broken.pdf", b"%PDF-1.7 and nothing else")
    folder = str(paid.folder / "files")
    view = await shown(paid, "content_batch_analyze", directory=folder)
    assert block(view, Prose, "Comparison").text == "Voltages differ."
    assert block(view, Table, "In common").rows == (("Both are pumps", "alpha.md, beta.md"),)
    assert block(view, Table, "Differences").rows == (("Voltage", "alpha.md"),)
    alpha, beta, broken = block(view, Records, "Files").items
    assert (alpha.title, alpha.text) == ("alpha.md", "About alpha.md.")
    assert beta.place.address == (paid.folder / "files" / "beta.md").as_uri()
    assert broken.facts == ("failed",)
    assert "damaged" in broken.text
    assert "save it again" in broken.text, "the hint"
    marks = {
        title: block(view, Claims, f"{title}: key points").items[0].quotes[0].mark
        for title in ("alpha.md", "beta.md")
    }
    assert marks == {"alpha.md": "verified", "beta.md": "not_found"}


async def test_an_estimate_reads_as_one(paid: Desk, gemini: FakeGemini) -> None:
    paid.write("files/alpha.md", "# Alpha\n\nThe pump of Ada Lovelace runs.\n")
    paid.write("files/beta.md", "# Beta\n\nThe fan of Charles Babbage stands still.\n")
    given = {"directory": str(paid.folder / "files"), "estimate_only": True}
    view = await shown(paid, "content_batch_analyze", **given)
    rows = dict(block(view, Facts, "Still to be paid").rows)
    assert view.title == "Estimate: files"
    assert (rows["Files to analyse"], rows["Requests"]) == (2, 1)
    assert rows["Cost"] == "depends on the model"
    assert "--estimate" in view.notes[-1], "a note says where it is told"
    assert int(rows["Tokens"]) > 10
    assert [row[1] for row in block(view, Table, "Files").rows] == ["to be analysed"] * 2
    free = await shown(paid, "content_batch_analyze", engine="local", **given)
    assert dict(block(free, Facts).rows)["Cost"] == "none, no model is asked"
    assert not gemini.requests_of("generateContent")


async def test_extracted_values_stand_beside_their_quotes(paid: Desk) -> None:
    path = paid.write("invoice.md", INVOICE)
    view = await shown(paid, "content_extract", schema=FORM, file_path=str(path))
    rows = {row[0]: row[1:] for row in block(view, Table, "Data").rows}
    value, quote, place, check = rows["number"]
    assert (value, quote, check) == ("4711", "Invoice 4711", "\u2713 found")
    assert place.address == path.as_uri()
    assert rows["share"] == ("0.12345678", None, None, "not checked"), "all digits are there"
    assert rows["items > 1 > name"][0] == "pump"
    assert rows["items > 1 > name"][3] == "\u2717 not found"
    assert '"name": "pump"' in as_text(view)
