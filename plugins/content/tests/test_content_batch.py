"""`content_batch_analyze`: files together in one request, or each alone and paid once."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from contentkit import Desk, open_desk
from hypothesis import given
from hypothesis import strategies as st
from vr_kernel import Code, VrError, estimate_tokens
from vr_plugin_content.batch.names import short_names
from vr_plugin_content.batch.shares import digest_room, too_long
from vr_testing import FakeGemini, Fault

REPORT = {
    "title": "One",
    "summary": "All about one.",
    "key_points": [{"text": "Said", "quote": "begins in room", "place": ""}],
    "entities": ["Room"],
}
ALPHA = "# Alpha\n\nThe pump of Ada Lovelace runs on twelve volts.\n"
BETA = "# Beta\n\nThe pump of Ada Lovelace runs on forty volts.\n"
FORM = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}


def compared(request: Any) -> dict[str, Any]:
    """Answer with a quote for each file, which stands in the first one alone."""
    names = re.findall(r"--- File: (.+?) ---", request.text)
    quote = "pump of Ada Lovelace runs on twelve volts"
    return {
        "summary": "Voltages differ.",
        "commonalities": [{"text": "Both are of Ada Lovelace", "files": names}],
        "differences": [{"text": "Voltage", "files": [f"--- File: {names[0]} ---", "nobody.md"]}],
        "files": [
            {
                "file": name,
                "title": f"Title of {name}",
                "summary": f"Summary of {name}",
                "key_points": [{"text": "Voltage", "quote": quote, "place": "p. 9"}],
            }
            for name in names
        ],
    }


def asks_comparison(request: Any) -> bool:
    return "commonalities" in (request.schema or {}).get("properties", {})


@pytest.fixture
def gemini() -> Iterator[FakeGemini]:
    with FakeGemini() as fake:
        fake.answer(REPORT, when=lambda it: "entities" in (it.schema or {}).get("properties", {}))
        fake.answer(compared, when=asks_comparison)
        yield fake


def key_for(gemini: FakeGemini) -> dict[str, str]:
    return {
        "GEMINI_API_KEY": "a-key",
        "GOOGLE_GEMINI_BASE_URL": gemini.url,
        "GEMINI_RETRY_BASE_DELAY": "0.01",
    }


@pytest.fixture
async def paid(tmp_path: Path, gemini: FakeGemini) -> AsyncIterator[Desk]:
    async with open_desk(tmp_path, variables=key_for(gemini)) as opened:
        yield opened


def asked(gemini: FakeGemini) -> list[Any]:
    return gemini.requests_of("generateContent")


def fill(desk: Desk, count: int) -> Path:
    """Write files that differ by a number."""
    for number in range(count):
        desk.write(f"files/{number:03}.md", f"# Number {number}\n\nIt begins in room {number}.\n")
    return desk.folder / "files"


async def batch(desk: Desk, directory: Path | None = None, **arguments: Any) -> Any:
    given = {"directory": str(directory)} if directory else {}
    return await desk.kernel.call("content_batch_analyze", **given, **arguments)


async def records(desk: Desk, kind: str) -> list[Any]:
    changes = await desk.kernel.services.journal.changes(0, 10_000)
    return [change for change in changes if change.kind == kind]


async def refused(desk: Desk, **arguments: Any) -> VrError:
    with pytest.raises(VrError) as caught:
        await batch(desk, **arguments)
    return caught.value


async def test_files_are_compared_in_one_request(paid: Desk, gemini: FakeGemini) -> None:
    first, second = paid.write("a/notes.md", ALPHA), paid.write("b/notes.md", BETA)
    paths = [str(first), str(second), str(first)]
    result = await batch(paid, file_paths=paths, instruction="What differs?")
    (request,) = asked(gemini)
    text = request.text
    assert text.index("--- File: a/notes.md ---") < text.index("twelve") < text.index("b/notes.md")
    assert text.count("=== document") == 4
    assert "What differs?" in text
    assert (result.mode, result.engine, result.total, result.ok) == ("compare", "model", 2, 2)
    assert result.usage == gemini.bill
    assert [it.status for item in result.items for it in item.key_points] == [
        "verified",
        "not_found",
    ]
    assert result.items[0].key_points[0].place.startswith("Alpha, lines 1-")
    comparison = result.comparison
    assert comparison.commonalities[0].files == ["a/notes.md", "b/notes.md"]
    assert comparison.differences[0].files == ["a/notes.md"]
    kept = await records(paid, "ContentAnalyses")
    assert {it.fields["source"] for it in kept} == {str(first), str(second)}
    assert {it.fields["summary"] for it in kept} == {
        "Summary of a/notes.md",
        "Summary of b/notes.md",
    }
    assert len(await records(paid, "DocumentPassages")) == 2
    again = await batch(paid, file_paths=paths, instruction="What differs?", strict=True)
    assert (again.cached, again.usage, len(asked(gemini))) == (2, None, 1)
    assert [item.dropped for item in again.items] == [0, 1]
    assert len(await records(paid, "ContentAnalyses")) == 2


async def test_a_comparison_does_not_replace_an_analysis(paid: Desk) -> None:
    path = paid.write("a.md", ALPHA)
    await paid.kernel.call("content_analyze", file_path=str(path))
    await batch(paid, file_paths=[str(path), str(paid.write("b.md", BETA))])
    kept = [it.fields for it in await records(paid, "ContentAnalyses")]
    assert sum(it["source"] == str(path) for it in kept) == 2
    assert {it["instruction"] for it in kept if it["source"] == str(path)} == {
        "Comprehensive analysis",
        "Comprehensive analysis (compared with b.md)",
    }


async def test_a_long_file_is_analysed_alone_and_then_compared(
    paid: Desk, gemini: FakeGemini
) -> None:
    long = "\n\n".join(f"## Part {n}\n\n" + "It begins in room 9. " * 4_000 for n in range(40))
    paths = [str(paid.write("long.md", long)), str(paid.write("short.md", ALPHA))]
    gemini.answer(
        {"title": "All", "summary": "All the rooms."},
        when=lambda it: set((it.schema or {}).get("properties", {})) == {"title", "summary"},
    )
    result = await batch(paid, file_paths=paths)
    comparison = next(it for it in asked(gemini) if asks_comparison(it))
    assert len([it for it in asked(gemini) if asks_comparison(it)]) == 1
    assert "All the rooms." in comparison.text
    assert len(comparison.text) < 20_000
    assert "twelve volts" in comparison.text
    assert any("long.md" in limit for limit in result.limits)
    assert result.usage == gemini.bill
    count = len(asked(gemini))
    assert (await batch(paid, file_paths=paths)).cached == 2
    assert len(asked(gemini)) == count


@given(st.lists(st.integers(1, 50_000), min_size=1, max_size=40), st.integers(5_000, 200_000))
def test_what_stands_in_one_request_fits(sizes: list[int], room: int) -> None:
    chosen = set(too_long(sizes, room))
    digest = digest_room(len(sizes), room)
    assert sum(digest if at in chosen else size for at, size in enumerate(sizes)) <= room
    assert chosen == set() or sum(sizes) > room


@given(st.lists(st.text("ab/ \n", min_size=1, max_size=8), unique=True, max_size=8))
def test_short_names_tell_files_apart(places: list[str]) -> None:
    names = short_names(places)
    assert len(names) == len(places)
    assert len(set(names)) == len(names)


async def test_every_file_is_analysed_once(paid: Desk, gemini: FakeGemini) -> None:
    folder = fill(paid, 6)
    paid.write("files/talk.mp4", b"no document")
    result = await batch(paid, folder, mode="individual")
    assert (result.total, result.ok, result.failed, result.cached) == (6, 6, 0, 0)
    assert [Path(item.source).name for item in result.items] == [f"{n:03}.md" for n in range(6)]
    assert {item.key_points[0].status for item in result.items} == {"verified"}
    assert any("talk.mp4" in limit for limit in result.limits)
    assert len(asked(gemini)) == 6
    assert result.usage == gemini.bill
    assert len(await records(paid, "ContentAnalyses")) == 6
    assert len(await records(paid, "DocumentPassages")) == 6
    again = await batch(paid, folder, mode="individual")
    assert (again.ok, again.cached, again.usage) == (6, 6, None)
    one = await paid.kernel.call(
        "content_analyze", file_path=str(folder / "003.md"), thinking_level="high"
    )
    assert one.cached
    assert len(asked(gemini)) == 6


@pytest.mark.parametrize("most", [3, 8])
async def test_so_many_at_a_model_as_are_configured(
    tmp_path: Path, gemini: FakeGemini, most: int
) -> None:
    settings = {"plugins.content.batch_concurrency": most}
    async with open_desk(tmp_path, variables=key_for(gemini), settings=settings) as desk:
        folder = fill(desk, 12)
        with gemini.hold():
            call = asyncio.create_task(batch(desk, folder, mode="individual"))
            await asyncio.to_thread(gemini.wait, lambda: gemini.in_flight == most)
            await desk.read(folder / "011.md")  # one more would come, if it were let through
        assert (await call).ok == 12
    assert gemini.peak_in_flight == most


@pytest.mark.parametrize("mode", ["individual", "compare"])
async def test_what_fails_is_told_of_each(paid: Desk, gemini: FakeGemini, mode: str) -> None:
    folder = fill(paid, 2)
    paid.write("files/bad.pdf", b"%PDF-1.7 and no more")
    paid.write("files/empty.txt", b"")
    paid.write("files/fake.png", "no picture")
    result = await batch(paid, folder, mode=mode)
    found = {Path(item.source).name: item for item in result.items}
    assert (result.ok, result.failed) == (2, 3)
    assert found["bad.pdf"].error.category == "DOCUMENT_DAMAGED"
    assert found["empty.txt"].error.category == "DOCUMENT_EMPTY"
    assert found["fake.png"].error.category == "NOT_AS_NAMED"
    assert all(item.error.hint for item in result.items if item.error)
    assert len(asked(gemini)) == (2 if mode == "individual" else 1)


async def test_a_refused_answer_ends_no_other(paid: Desk, gemini: FakeGemini) -> None:
    folder = fill(paid, 3)
    gemini.fail(Fault.prompt_blocked())
    result = await batch(paid, folder, mode="individual")
    assert (result.ok, result.failed) == (2, 1)
    (item,) = [item for item in result.items if item.error]
    assert item.error.category == "SAFETY_BLOCKED"
    assert (await batch(paid, folder, mode="individual")).cached == 2


async def test_without_a_model_names_are_compared(desk: Desk) -> None:
    for name, text in (("a.md", ALPHA), ("b.md", BETA)):
        desk.write(f"files/{name}", text * 2 + "\nWe met Alan Turing at Bletchley Park.\n" * 2)
    desk.write("files/c.md", "# Other\n\nWe spoke with Grace Hopper there.\n" * 2)
    result = await batch(desk, desk.folder / "files")
    assert (result.engine, result.ok, result.usage) == ("local", 3, None)
    assert "without a language model" in result.limits[0]
    shared = {each.text: each.files for each in result.comparison.commonalities}
    assert shared["Ada Lovelace"] == ["a.md", "b.md"]
    differences = {each.files[0]: each.text for each in result.comparison.differences}
    assert "Grace Hopper" in differences["c.md"]
    assert all(item.summary for item in result.items)
    assert len(await records(desk, "ContentAnalyses")) == 3
    error = await refused(desk, directory=str(desk.folder / "files"), engine="model")
    assert error.category == "ENGINE_UNAVAILABLE"


async def test_an_estimate_costs_nothing(paid: Desk, gemini: FakeGemini) -> None:
    folder = fill(paid, 3)
    for mode, requests in (("individual", 3), ("compare", 1)):
        result = await batch(paid, folder, mode=mode, estimate_only=True)
        assert [item.status for item in result.items] == ["planned"] * 3
        assert (result.estimate.files, result.estimate.requests) == (3, requests)
        assert result.estimate.tokens_in == sum(item.tokens_in for item in result.items) > 0
        foreseen = await paid.kernel.call(
            "infra_estimate",
            tool="content_batch_analyze",
            arguments={"directory": str(folder), "mode": mode},
        )
        assert foreseen.requests == requests
    assert asked(gemini) == []
    assert await records(paid, "ContentAnalyses") == []
    await batch(paid, folder, mode="individual")
    done = await batch(paid, folder, mode="individual", estimate_only=True)
    assert done.estimate.requests == 0


async def test_the_callers_own_form_and_the_most_files(paid: Desk, gemini: FakeGemini) -> None:
    folder = fill(paid, 4)
    gemini.answer({"n": 7}, when=lambda it: "n" in (it.schema or {}).get("properties", {}))
    each = await batch(paid, folder, mode="individual", output_schema=FORM, max_files=2)
    assert [item.custom for item in each.items] == [{"n": 7}, {"n": 7}]
    assert "2 of 4 files were taken" in " ".join(each.limits)
    together = await batch(paid, folder, output_schema=FORM)
    assert together.comparison.custom == {"n": 7}
    assert len(asked(gemini)) == 3


async def test_patterns_and_links_stay_in_the_folder(paid: Desk, tmp_path: Path) -> None:
    folder = fill(paid, 1)
    below = paid.write("files/below/deep.txt", "Deep below.")
    outside = tmp_path.parent / f"{tmp_path.name}-outside"
    outside.mkdir()
    (outside / "secret.md").write_text("secret")
    (folder / "link.md").symlink_to(outside / "secret.md")
    (folder / "linked").symlink_to(outside)
    for pattern in ("../files/*", "/etc/*", "below/../../*"):
        error = await refused(paid, directory=str(folder), glob_pattern=pattern)
        assert (error.code, error.category) == (Code.INVALID_INPUT, "PATTERN_INVALID")
    result = await batch(paid, folder, glob_pattern="**/*", estimate_only=True)
    assert {item.source for item in result.items} == {str(folder / "000.md"), str(below)}
    result = await batch(paid, file_paths=[str(folder / "link.md"), str(below)], mode="individual")
    assert [item.error and item.error.code for item in result.items] == ["NOT_ALLOWED", None]


@pytest.mark.parametrize(
    ("arguments", "code", "category"),
    [
        ({}, Code.INVALID_INPUT, "SOURCE_AMBIGUOUS"),
        ({"directory": "x", "file_paths": ["y"]}, Code.INVALID_INPUT, "SOURCE_AMBIGUOUS"),
        ({"file_paths": [" "]}, Code.NOT_FOUND, "BATCH_EMPTY"),
        ({"directory": "/nowhere"}, Code.NOT_ALLOWED, None),
        ({"file_paths": ["a"], "output_schema": {"$ref": "#"}}, Code.INVALID_INPUT, None),
        ({"file_paths": ["a"], "max_files": 101}, Code.INVALID_INPUT, None),
    ],
)
async def test_what_is_no_batch_is_refused(
    paid: Desk, gemini: FakeGemini, arguments: dict[str, Any], code: Code, category: str | None
) -> None:
    error = await refused(paid, **arguments)
    assert error.code is code
    assert category in (None, error.category)
    assert asked(gemini) == []


async def test_a_large_result_is_cut_and_kept_whole(paid: Desk, gemini: FakeGemini) -> None:
    folder = fill(paid, 60)
    gemini.heal()
    point = {"text": "A point " * 20, "quote": "It begins in room", "place": ""}
    gemini.answer({**REPORT, "summary": "So much. " * 200, "key_points": [point] * 9})
    result = await batch(paid, folder, mode="individual", max_files=100)
    assert (result.total, result.ok) == (60, 60)
    assert estimate_tokens(result.model_dump_json()) <= 4_100
    (kept,) = paid.folder.rglob(result.result_uri.rpartition("/")[2])
    whole = json.loads(kept.read_text())
    assert [len(item["key_points"]) for item in whole["items"]] == [9] * 60


async def test_progress_counts_and_names(paid: Desk) -> None:
    folder = fill(paid, 3)
    seen: list[tuple[float, float | None, str]] = []
    arguments = {"directory": str(folder), "mode": "individual"}
    await paid.kernel.run("content_batch_analyze", arguments, lambda *told: seen.append(told))
    done = [(done, total) for done, total, said in seen if said.endswith("(ok)")]
    assert done == [(1, 3), (2, 3), (3, 3)]
    assert [done for done, _, _ in seen] == sorted(done for done, _, _ in seen)
