"""Views of the kinds of records: one record, or all that are about one source."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import isfinite
from typing import Any

from vr_kernel import Services, StoredRecord, View, VrError, entity_key, view, visible_line
from vr_kernel.views import (
    Block,
    Image,
    Item,
    Line,
    Link,
    Pictures,
    Records,
    Transcript,
    clock,
    link_words,
    said,
    shown_instant,
)

from vr_plugin_video.record_kinds import ANALYSES, METADATA, NOTES, REACTIONS, SEGMENTS, TURNS
from vr_plugin_video.views.analysis import analysis_view
from vr_plugin_video.views.parts import COMMON, divided, facts, joined, listed, prose, rest
from vr_plugin_video.views.places import media, name_of, source_notes
from vr_plugin_video.views.stored import stored_analysis

ITEM_CHARS = 300
HEADING_CHARS = 100
PLACED = ("video_id", "source_url", *COMMON)
"""Fields that say where a record belongs, and nothing of the video."""


@view(kind=ANALYSES)
async def show_analyses(services: Services, records: Sequence[StoredRecord]) -> View:
    """The latest analysis of a whole video, and the others in a list."""
    main = next((it for it in records if not it.fields.get("part")), records[0])
    stored = stored_analysis(main.fields)
    known = (*PLACED, "instruction", "part", "title", "summary", "key_points", "raw_result")
    asked = _text(main.fields, "instruction")
    others = [_analysis_item(each) for each in records if each is not main]
    more = [
        *facts([("Asked for", visible_line(asked, ITEM_CHARS)), ("Watched on", _day(main))]),
        *([Records(others, title="Other analyses")] if others else []),
        *rest({**stored.left, **_unknown(main, known)}),
    ]
    return analysis_view(stored.analysis, stored.window, more, await _notes(services, main))


@view(kind=SEGMENTS)
async def show_segments(services: Services, records: Sequence[StoredRecord]) -> View:
    """Speech as one transcript, and slides as pictures; of one moment also the film."""
    source = _source(records)
    slides = [each for each in records if each.fields.get("origin") == "slide"]
    spoken = [each for each in records if each.fields.get("origin") != "slide"]
    lines = _each_once([_line(each.fields) for each in spoken])
    shown = [_image(each.fields) for each in slides]
    blocks: list[Block] = [
        *([Transcript(lines, title="Transcript")] if lines else []),
        *([Pictures(shown, title="Slides")] if shown else []),
    ]
    notes = await _notes(services, records[0])
    if len(records) == 1:
        return _moment(records[0], await _title_of(services, source), blocks, notes)
    title = name_of(source) or "Video"
    return View(title, [*media(source, None), *blocks], _reach(records), source, notes)


def _moment(record: StoredRecord, film: str, blocks: Sequence[Block], notes: Sequence[str]) -> View:
    """Speech or a slide at one moment of a film."""
    fields, source = record.fields, _source([record])
    start, end = _seconds(fields, "start"), _seconds(fields, "end")
    name = name_of(source)  # which stands below the title anyway
    title = visible_line(_text(fields, "title")) or film or name or "Video"
    origin = "slide" if fields.get("origin") == "slide" else "speech"
    told = origin if film in ("", title, name) else f"{origin} in {film}"
    about = [told, link_words(Link("", "", start, end))]
    known = (*PLACED, "start", "end", "origin", "title", "text", "thumbnail_uri", "link")
    more = rest(_unknown(record, known))
    return View(title, [*media(source, None, start), *blocks, *more], about, source, notes)


async def _title_of(services: Services, source: str) -> str:
    """The title by which a video is known; empty when it has none."""
    try:
        known = await services.journal.source(services.workspace, entity_key("source", source))
    except VrError:
        return ""
    return visible_line(known.title) if known else ""


@view(kind=NOTES)
async def show_notes(services: Services, records: Sequence[StoredRecord]) -> View:
    """The notes of a meeting: what was decided, and who does what."""
    main = records[0]
    fields = main.fields
    known = (*PLACED, "title", "summary", "participants", "decisions", "action_items")
    blocks = [
        *media(_source(records), None),
        *prose("Summary", _text(fields, "summary")),
        *listed("Decisions", _texts(fields, "decisions")),
        *listed("Action items", _texts(fields, "action_items")),
        *facts(
            [
                ("Participants", joined(_texts(fields, "participants"))),
                ("Topics", joined(_texts(fields, "topics_discussed"))),
            ]
        ),
        *rest(_unknown(main, (*known, "topics_discussed"))),
    ]
    return await _about(services, records, "title", blocks)


@view(kind=METADATA)
async def show_metadata(services: Services, records: Sequence[StoredRecord]) -> View:
    """Show what YouTube says of a video."""
    main = records[0]
    fields = main.fields
    told = ("channel_title", "published_at", "duration", "view_count", "like_count", "category")
    names = ("Channel", "Published", "Length", "Views", "Likes", "Category")
    rows = [(name, _value(fields, each)) for name, each in zip(names, told, strict=True)]
    blocks = [
        *media(_source(records), None),
        *facts([*rows, ("Tags", joined(_texts(fields, "tags")))]),
        *prose("Description", _text(fields, "description")),
        *rest(_unknown(main, (*PLACED, "title", "description", "tags", *told))),
    ]
    return await _about(services, records, "title", blocks)


@view(kind=REACTIONS)
async def show_reactions(services: Services, records: Sequence[StoredRecord]) -> View:
    """Show what viewers think of a video."""
    main = records[0]
    fields = main.fields
    shares = [
        (name, _percent(fields.get(f"sentiment_{name.lower()}")))
        for name in ("Positive", "Negative", "Neutral")
    ]
    known = [f"sentiment_{name.lower()}" for name, _ in shares]
    known += ["video_title", "comment_count", "themes_positive", "themes_critical", "consensus"]
    blocks = [
        *prose("Consensus", _text(fields, "consensus")),
        *facts([*shares, ("Comments", _value(fields, "comment_count"))]),
        *listed("Liked", _texts(fields, "themes_positive")),
        *listed("Criticised", _texts(fields, "themes_critical")),
        *rest(_unknown(main, (*PLACED, *known))),
    ]
    return await _about(services, records, "video_title", blocks)


@view(kind=TURNS)
async def show_turns(services: Services, records: Sequence[StoredRecord]) -> View:
    """Questions and their answers, in the order in which they were asked."""
    earliest_first = records[::-1]
    ordered = sorted(
        earliest_first,
        key=lambda it: (_text(it.fields, "session_id"), _seconds(it.fields, "turn_index")),
    )
    known = ("session_id", "video_title", "turn_index", "turn_prompt", "turn_response")
    blocks: list[Block] = [*media(_source(records), None)]
    for number, record in enumerate(ordered, 1):
        fields = record.fields
        asked = _text(fields, "turn_prompt")
        heading = visible_line(asked, HEADING_CHARS)
        blocks += prose(
            f"{number}. {heading}" if len(ordered) > 1 else heading,
            ("" if len(asked) <= HEADING_CHARS else f"> {visible_line(asked)}\n\n")
            + _text(fields, "turn_response"),
        )
        blocks += rest(_unknown(record, (*PLACED, *known))) if len(ordered) == 1 else ()
    return await _about(services, records, "video_title", blocks)


async def _about(
    services: Services, records: Sequence[StoredRecord], title: str, blocks: Sequence[Block]
) -> View:
    """A view with the title of the first record that has one, or the name of the source."""
    source = _source(records)
    named = next((text for it in records if (text := _text(it.fields, title))), "")
    day = _day(records[0])
    notes = await _notes(services, records[0])
    return View(named or name_of(source) or "Video", blocks, [day] if day else [], source, notes)


async def _notes(services: Services, record: StoredRecord) -> list[str]:
    source, video = _source([record]), _text(record.fields, "video_id")
    return await source_notes(services, source, video)


def _analysis_item(record: StoredRecord) -> Item:
    asked = visible_line(_text(record.fields, "instruction"), HEADING_CHARS)
    window = stored_analysis({"part": record.fields.get("part")}).window
    end = "the end" if window.end is None else clock(window.end)
    part = "" if window.is_whole else f"{clock(window.start)} to {end}"
    title, whole = _text(record.fields, "title"), _text(record.fields, "summary")
    summary = visible_line(divided(title, whole)[0] or whole, ITEM_CHARS)
    told = [fact for fact in (part, _day(record)) if fact]
    return Item(asked or title or "Analysis", summary, facts=told, id=f"{record.kind}/{record.key}")


def _reach(records: Sequence[StoredRecord]) -> list[str]:
    """From where to where moments are; a film may be known in part."""
    start = min(_seconds(each.fields, "start") for each in records)
    end = max(_seconds(each.fields, "end") for each in records)
    told = f"{len(records):,} moments from {clock(start)} to {clock(end)} are recorded"
    return [told] if end > start else []


def _line(fields: Mapping[str, Any]) -> Line:
    start, end = _seconds(fields, "start"), _seconds(fields, "end")
    return Line(start, max(start, end), _text(fields, "text"), "", _text(fields, "link"))


def _each_once(lines: Sequence[Line]) -> list[Line]:
    """Lines without those whose time is told already: parts may have been heard again."""
    told: list[Line] = []
    reached = 0.0
    for line in lines:
        half = (line.end - line.start) / 2
        if half <= 0 or reached - line.start <= half:
            told.append(line)
        reached = max(reached, line.end)
    return told


def _image(fields: Mapping[str, Any]) -> Image:
    title, text = _text(fields, "title"), _text(fields, "text")
    start, end = _seconds(fields, "start"), _seconds(fields, "end")
    place = Link(_text(fields, "link"), "", start, max(start, end))
    return Image(_text(fields, "thumbnail_uri"), title, text.removeprefix(title).strip(), place)


def _source(records: Sequence[StoredRecord]) -> str:
    return _text(records[0].fields, "source_url")


def _unknown(record: StoredRecord, known: Sequence[str]) -> dict[str, Any]:
    """The fields of a record that the plugin does not have, or not any more."""
    return {name: value for name, value in record.fields.items() if name not in known}


def _text(fields: Mapping[str, Any], name: str) -> str:
    value = fields.get(name)
    return value if isinstance(value, str) else "" if value is None else said_of(value)


def said_of(value: Any) -> str:
    """A value of another type than its field has, in words."""
    return said(value) if isinstance(value, bool | int | float) else str(value)


def _texts(fields: Mapping[str, Any], name: str) -> Iterator[str]:
    value = fields.get(name)
    yield from map(str, value) if isinstance(value, list) else [str(value)] if value else []


def _value(fields: Mapping[str, Any], name: str) -> Any:
    value = fields.get(name)
    if isinstance(value, bool | int):
        return value
    return shown_instant(_text(fields, name)) or None


def _seconds(fields: Mapping[str, Any], name: str) -> float:
    value = fields.get(name)
    is_time = isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)
    return float(value) if is_time else 0.0  # type: ignore[arg-type]  # a number, see above


def _percent(value: Any) -> str | None:
    return f"{value:.0f} %" if isinstance(value, int | float) else None


def _day(record: StoredRecord) -> str:
    return shown_instant(_text(record.fields, "created_at"))
