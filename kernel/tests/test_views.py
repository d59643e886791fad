"""Views: made by plugins or by default, shown as Markdown, text and data; failures cost a part."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest
from pydantic import BaseModel
from vr_kernel import (
    READ_ONLY,
    Call,
    Code,
    Config,
    Kernel,
    Record,
    RecordField,
    RecordKind,
    Services,
    StoredRecord,
    View,
    VrError,
    hookimpl,
    tool,
    view,
)
from vr_kernel.views import (
    Compare,
    Facts,
    File,
    Line,
    Media,
    Prose,
    Records,
    Table,
    Transcript,
    as_data,
    as_markdown,
    as_text,
    clock,
    from_data,
    said,
)

TOWNS = RecordKind(
    "Towns",
    "Towns that somebody saw.",
    fields=(
        RecordField("town_name"),
        RecordField("people", "int"),
        RecordField("about", searchable=True),
        RecordField("seen_at", "number"),
        RecordField("link"),
        RecordField("raw"),
    ),
    rerank="about",
    source="link",
    link="link",
)
ULM = StoredRecord(
    "Towns",
    "ulm",
    {"town_name": "Ulm", "people": 126, "about": "A town with a tall church.", "raw": '{"a": [1]}'},
)


class Weather(BaseModel):
    """The sky of some days."""

    town: str
    days: list[dict[str, Any]]
    note: str = ""


@tool(effects=READ_ONLY)
async def sky_look(call: Call) -> Weather:
    """Look at the sky."""
    return Weather(town="Ulm", days=[{"day": "Monday", "celsius": 7.5}, {"day": "Tuesday"}])


@view(tool="sky_look")
async def show_sky(services: Services, weather: Weather) -> View:
    """One fact a day."""
    return View(
        weather.town, [Facts([(each["day"], each.get("celsius")) for each in weather.days])]
    )


@view(page="almanac", title="Almanac")
async def show_almanac(services: Services, arguments: dict[str, str]) -> View:
    """A page of its own."""
    return View(f"Almanac of {arguments['year']}")


def sky(*views: Any) -> SimpleNamespace:
    """A plugin with a tool, a kind and these views."""
    return SimpleNamespace(
        vr_tools=hookimpl(lambda: [sky_look]),
        vr_record_kinds=hookimpl(lambda: [TOWNS]),
        vr_views=hookimpl(lambda: list(views)),
    )


async def shown(kernel: Kernel) -> View:
    """The view of the tool's result."""
    result = await kernel.call("sky_look")
    return await kernel.services.views.of_result(kernel.tools["sky_look"], result)


async def test_a_plugin_says_how_its_results_are_shown(config: Config) -> None:
    async with Kernel.open(config, {"sky": sky(show_sky, show_almanac)}) as kernel:
        assert await shown(kernel) == View("Ulm", [Facts([("Monday", 7.5), ("Tuesday", None)])])
        views = kernel.services.views
        assert [page.title for page in views.pages] == ["Almanac"]
        assert (await views.page("almanac", {"year": "1999"})).title == "Almanac of 1999"
        with pytest.raises(VrError) as caught:
            await views.page("almanach", {})
        assert caught.value.code is Code.NOT_FOUND
        assert "almanac" in caught.value.hint


async def test_a_result_without_a_view_is_shown_by_its_fields(config: Config) -> None:
    async with Kernel.open(config, {"sky": sky()}) as kernel:
        table = Table(["Day", "Celsius"], [["Monday", 7.5], ["Tuesday", None]], title="Days")
        assert await shown(kernel) == View("Sky look", [Facts([("Town", "Ulm")]), table])


async def test_a_record_without_a_view_is_shown_by_the_declaration_of_its_kind(
    config: Config,
) -> None:
    async with Kernel.open(config, {"sky": sky()}) as kernel:
        one = await kernel.services.views.of_records([ULM])
        assert one.title == "Ulm"
        lead, facts, raw = one.blocks
        assert lead == Prose("A town with a tall church.")
        assert facts == Facts((("People", 126),))
        assert raw.detail, "JSON in text is folded"
        several = await kernel.services.views.of_records([ULM, ULM])
        assert isinstance(several.blocks[0], Records)
        assert [item.id for item in several.blocks[0].items] == ["Towns/ulm"] * 2


async def test_sorts_of_records_are_told_apart_in_a_list(config: Config) -> None:
    fields = (RecordField("sort"), RecordField("text", searchable=True))
    words = RecordKind("Words", "What is said or shown.", fields, rerank="text", variety="sort")
    plugin = SimpleNamespace(vr_record_kinds=hookimpl(lambda: [words]))
    said, shown, odd = (
        StoredRecord("Words", str(number), {"sort": sort, "text": f"{number} towers"})
        for number, sort in enumerate(["speech", "slide", 7])
    )
    async with Kernel.open(config, {"words": plugin}) as kernel:
        (listed,) = (await kernel.services.views.of_records([said, shown, odd])).blocks
    assert isinstance(listed, Records)
    assert [item.facts for item in listed.items] == [("speech",), ("slide",), ()]


async def test_records_of_a_removed_plugin_are_shown_by_what_is_there(config: Config) -> None:
    async with Kernel.open(config, {}) as kernel:
        view = await kernel.services.views.of_records([ULM])
    assert view.title == "Ulm"
    assert "not loaded" in as_text(view)
    assert "A town with a tall church." in as_text(view)


@pytest.mark.parametrize(
    ("fields", "title"),
    [
        ({"about": "Long " * 90, "colour": "a deep red", "mood": "calm"}, "a deep red"),
        ({"video_id": "dQw4w9WgXcQ", "seen": "2026-01-31", "link": "https://x.example"}, "k-7"),
        ({"seen": "2026-01-31T12:00:00Z", "digest": "ab" * 32, "count": 3}, "k-7"),
        ({"of": "0123456789abcdef0123", "text": "Foxes hunt voles."}, "Foxes hunt voles."),
        ({}, "k-7"),
    ],
)
async def test_records_of_a_removed_plugin_are_named_by_what_a_person_knows(
    config: Config, fields: dict[str, Any], title: str
) -> None:
    record = StoredRecord("Gone", "k-7", {"created_at": "2026-01-31T12:00:00Z", **fields})
    async with Kernel.open(config, {}) as kernel:
        one = await kernel.services.views.of_records([record])
        (block,) = (await kernel.services.views.of_records([record, record])).blocks
    assert isinstance(block, Records)
    assert (one.title, block.items[0].title) == (title, title)


ROADS = RecordKind(
    "Roads",
    "Roads between towns.",
    fields=(RecordField("begin"), RecordField("kind"), RecordField("goal")),
    rerank="kind",
    naming=lambda it: f"{it['begin']} - {it['kind']} → {it['goal']}",
)


DAYS = RecordKind("Days", "Days.", fields=(RecordField("day", "date"),), rerank="day")


async def test_a_kind_may_say_what_its_records_are_called(config: Config) -> None:
    road = StoredRecord("Roads", "1", {"begin": "Ulm", "kind": "path", "goal": "Bonn"})
    damaged = StoredRecord("Roads", "2", {"kind": "path"})
    plugin = SimpleNamespace(vr_record_kinds=hookimpl(lambda: [ROADS]))
    async with Kernel.open(config, {"sky": plugin}) as kernel:
        (block,) = (await kernel.services.views.of_records([road, damaged])).blocks
    assert isinstance(block, Records)
    named = [(item.title, item.text) for item in block.items]
    assert named == [("Ulm - path → Bonn", ""), ("path", "")], "no word comes twice"


def failing(function: Any) -> Any:
    """Mark a function as the view of the tool."""
    return view(tool="sky_look")(function)


async def raises(services: Services, subject: object) -> View:
    """Fail."""
    raise ValueError("secret-4711")


async def hangs(services: Services, subject: object) -> View:
    """Never end."""
    await asyncio.Event().wait()
    return View("")


async def leaves(services: Services, subject: object) -> View:
    """End the program."""
    raise SystemExit(3)


async def returns_text(services: Services, subject: object) -> Any:
    """Return no view."""
    return "text"


async def returns_much(services: Services, subject: object) -> View:
    """Return more than anybody can read."""
    return View("Much", [Table(["n"], [[number] for number in range(110_000)])])


async def makes_no_block(services: Services, subject: object) -> View:
    """Put something else into a block."""
    return View("Wrong", [Facts([("a", object())])])  # type: ignore[list-item]  # as careless code


class Unchecked(View):
    """A view that does without its checks."""

    def __post_init__(self) -> None:
        """Check nothing."""


async def skips_checks(services: Services, subject: object) -> View:
    """Return a view with a text that no view holds."""
    return Unchecked("\x1b[2J secret-4711")


async def repeats_itself(services: Services, subject: object) -> View:
    """Hold few views, each so often that nobody could write them all."""
    view = View("The innermost")
    for _ in range(8):
        view = View("Thrice", [Compare(view, view)] * 3)
    return view


WRONG = [raises, hangs, leaves, returns_text, returns_much, makes_no_block]


@pytest.mark.parametrize("function", [*WRONG, skips_checks, repeats_itself])
async def test_a_view_that_fails_is_replaced_by_the_plain_form(
    config: Config, function: Any
) -> None:
    async with Kernel.open(config, {"sky": sky(failing(function))}) as kernel:
        view = await shown(kernel)
    assert view.title == "Sky look"
    assert "view of sky_look in plugin sky" in view.notes[0]
    assert "secret-4711" not in str(view)


SEEN = RecordKind(
    "Visits",
    "Who was in a town.",
    fields=(RecordField("who", searchable=True), RecordField("town_link")),
    rerank="who",
    source="town_link",
)


@tool(effects=READ_ONLY)
async def sky_travel(call: Call) -> Weather:
    """Go to Ulm."""
    for name, about in (("Ulm", "A church."), ("Ulm again", "A river.")):
        fields = {"town_name": name, "about": about, "link": "https://ulm.example"}
        call.record(Record("Towns", fields, key=name))
    call.record(Record("Visits", {"who": "Ann", "town_link": "https://ulm.example"}))
    return Weather(town="Ulm", days=[])


@view(kind="Visits")
async def show_visits(services: Services, visits: Sequence[StoredRecord]) -> View:
    """Name the guests, twice."""
    names = ", ".join(visit.fields["who"] for visit in visits)
    film = Media("https://ulm.example/film.mp4", start=9)
    return View("Guests", [Prose(names), film, film, Facts([("n", 1)], title="Guests")])


async def test_a_source_is_shown_by_the_views_of_all_its_records(config: Config) -> None:
    plugin = SimpleNamespace(
        vr_tools=hookimpl(lambda: [sky_travel]),
        vr_record_kinds=hookimpl(lambda: [TOWNS, SEEN]),
        vr_views=hookimpl(lambda: [show_visits]),
    )
    async with Kernel.open(config, {"sky": plugin}) as kernel:
        await kernel.call("sky_travel")
        services = kernel.services
        (source,) = await services.journal.sources(services.workspace)
        whole = await services.views.of_source(source.id)
        with pytest.raises(VrError) as caught:
            await services.views.of_source("nothing")
    assert caught.value.code is Code.NOT_FOUND
    assert whole.source == "https://ulm.example"
    headings = [block.title for block in whole.blocks if block.title]
    assert len(headings) == len({*headings, whole.title}) - 1, "a heading comes twice"
    (film,) = [block for block in whole.blocks if isinstance(block, Media)]
    assert whole.blocks[1] is film, "the record that shows the film leads"
    assert film.start is None, "it is of all records, not of the one"
    text = as_text(whole)
    for word in ("Ulm again", "A river.", "Ann"):
        assert word in text


def test_data_and_views_are_told_apart_when_read() -> None:
    view = View("T", [Facts([("a", 1.5)]), Table(["a"], [[True]])], ["x"], notes=["n"])
    assert from_data(as_data(view)) == view
    no_block = {"title": "x", "blocks": [{"block": "Script"}]}
    wrongs: list[object] = [{"x": 1}, [], None, {"title": 3}, no_block]
    for wrong in wrongs:
        with pytest.raises(VrError) as caught:
            from_data(wrong)
        assert caught.value.category == "VIEW_INVALID"


def test_a_date_without_a_time_is_shown_without_one() -> None:
    (day,) = DAYS.validate({"day": "2100-01-01"}).values()
    assert said(day) == "2100-01-01"
    assert said("2100-01-01T00:01:00.000000+00:00") == "2100-01-01 00:01"
    assert said("2100-01-01T00:00:00+02:00") == "2100-01-01 00:00"


@pytest.mark.parametrize(
    ("block", "reason"),
    [
        (
            {"block": "Moments", "items": [{"start": float("inf"), "text": ""}]},
            "Moment.start: takes a finite number",
        ),
        (
            {"block": "Moments", "items": [{"start": 0, "text": "", "end": []}]},
            "Moment.end: takes a number or None, not list",
        ),
        (
            {"block": "Facts", "rows": [["n", float("nan")]]},
            "Facts.rows: takes a finite number",
        ),
        (
            {"block": "Facts", "rows": [["n", 10**400]]},
            "Facts.rows: takes a number below 2**63",
        ),
        (
            {"block": "Facts", "rows": [["n", []]]},
            "Facts.rows: takes text, a number, True or False, a Link or None, not list",
        ),
        (
            {"block": "Facts", "rows": [["n", {"text": "x", "start": "y"}]]},
            "Facts.rows: Link.start: takes a number or None, not str",
        ),
        ({"block": "Facts"}, "View.blocks: Facts needs rows"),
    ],
)
def test_data_that_is_no_view_is_told_what_the_field_takes(
    block: dict[str, Any], reason: str
) -> None:
    with pytest.raises(VrError) as caught:
        from_data({"title": "T", "blocks": [block]})
    assert caught.value.message.endswith(f"{reason}."), caught.value


def test_what_is_said_is_read_in_paragraphs() -> None:
    lines = [Line(0, 2, "It rains."), Line(2.5, 4, "A lot."), Line(9, 10, "Now it snows.")]
    lines += [Line(10, 11, "Does it?", "Ada", "https://example.org/#t=10")]
    said = as_markdown(View("T", [Transcript(lines)])).splitlines()[2:]
    assert said == [
        "- 0:00 It rains. A lot.",
        "- 0:09 Now it snows.",
        "- [0:10](https://example.org/#t=10) Ada: Does it?",
    ]
    long = [Line(at, at + 1, "word " * 60) for at in range(4)]
    assert as_text(View("T", [Transcript(long)])).count("- 0:0") == 2


def test_a_film_that_a_view_is_about_is_named_once() -> None:
    view = View("T", [Media("/a/talk.mp4"), Media("/a/clip.mp4")], source="/a/talk.mp4")
    assert as_text(view).count("talk.mp4") == 1
    assert "clip.mp4" in as_text(view)


class Stubborn(str):
    """A text that stays as it is, whoever cleans it."""

    __slots__ = ()

    def __str__(self) -> str:
        return self

    def replace(self, *_: Any) -> str:  # type: ignore[override]
        return self

    def translate(self, *_: Any) -> str:
        return self


def test_a_text_of_a_class_of_its_own_becomes_one_as_any_other() -> None:
    text = Stubborn("<b>a</b>")
    made = View(text, [Prose(text)], source=text)
    assert [type(each) for each in (made.title, made.blocks[0].text, made.source)] == [str] * 3  # type: ignore[attr-defined]


def test_numbers_that_say_nothing_are_refused_or_bounded() -> None:
    with pytest.raises(TypeError, match=r"File\.size"):
        View("Large", [File("x", size=10**400)])
    with pytest.raises(TypeError):
        View("Large", [Facts([("n", 10**5000)])])
    assert clock(1e300) == clock(10**9)
