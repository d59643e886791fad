"""Records of analyses, and of the moments by which videos are searched."""

from __future__ import annotations

from collections.abc import Sequence

from vr_kernel import Record

from vr_plugin_video.analyses.outline import Part
from vr_plugin_video.analyses.passages import title_at
from vr_plugin_video.captions.transcripts import Segment
from vr_plugin_video.models import VideoAnalysis
from vr_plugin_video.record_kinds import ANALYSES, SEGMENTS, segment_key
from vr_plugin_video.sources import Source
from vr_plugin_video.text.times import Window
from vr_plugin_video.vision.slides import Slide

FOUND = ("verified", "moved")
MOST_SOURCES = 50


def analysis_record(
    source: Source, instruction: str, window: Window, analysis: VideoAnalysis
) -> Record:
    """Make the record of an analysis, which replaces the former one of the same request."""
    raw = analysis.model_copy(update={"segments": []}).model_dump_json()
    return Record(
        ANALYSES,
        {
            "video_id": source.video_id,
            "source_url": source.url,
            "instruction": instruction,
            "part": None if window.is_whole else _part(window),
            "title": analysis.title,
            "summary": analysis.summary,
            "key_points": analysis.key_points,
            "raw_result": raw,
        },
        provenance={"sources": sources_of(source, analysis)},
    )


def sources_of(source: Source, analysis: VideoAnalysis) -> list[dict[str, str]]:
    """Return the moments that an analysis rests on: those whose quote was found, with links.

    Moments of the local engine are the video's own words.
    """
    found = [moment for moment in analysis.timestamps if moment.status in ("", *FOUND)]
    return [
        {"quote": moment.quote or moment.description, "link": source.link(moment.seconds)}
        for moment in found[:MOST_SOURCES]
        if moment.quote or analysis.engine == "local"
    ]


def _part(window: Window) -> str:
    return f"{window.start:g}-" + ("" if window.end is None else f"{window.end:g}")


def slide_records(source: Source, slides: Sequence[Slide], parts: Sequence[Part]) -> list[Record]:
    """One record for each slide with text."""
    return [
        _segment_record(
            source,
            "slide",
            Segment(start=slide.start, end=slide.end, text=slide.text),
            slide.title or _title_within(slide, parts),
            slide.thumbnail_uri,
        )
        for slide in slides
        if slide.text
    ]


def speech_records(
    source: Source,
    passages: Sequence[Segment],
    parts: Sequence[Part] = (),
    slides: Sequence[Slide] = (),
) -> list[Record]:
    """Make records of speech, with the title of the part and the slide that is shown then."""
    return [
        _segment_record(
            source, "speech", passage, title_at(parts, passage), _shown(slides, passage)
        )
        for passage in passages
    ]


def _segment_record(
    source: Source, origin: str, segment: Segment, title: str, thumbnail_uri: str
) -> Record:
    fields = {
        "video_id": source.video_id,
        "source_url": source.url,
        "start": segment.start,
        "end": segment.end,
        "origin": origin,
        "title": title,
        "text": segment.text,
        "thumbnail_uri": thumbnail_uri,
        "link": source.link(segment.start),
    }
    return Record(SEGMENTS, fields, segment_key(fields))


def _title_within(slide: Slide, parts: Sequence[Part]) -> str:
    return title_at(parts, Segment(start=slide.start, end=slide.end, text=""))


def _shown(slides: Sequence[Slide], passage: Segment) -> str:
    middle = (passage.start + passage.end) / 2
    return next((s.thumbnail_uri for s in slides if s.start <= middle < s.end), "")
