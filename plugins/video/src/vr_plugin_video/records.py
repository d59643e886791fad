"""What the video domain stores: analyses, and the moments by which they are found again."""

from __future__ import annotations

from collections.abc import Sequence

from vr_kernel import Record, RecordField, RecordKind, entity_key

from vr_plugin_video.models import VideoAnalysis
from vr_plugin_video.outline import Part
from vr_plugin_video.passages import title_at
from vr_plugin_video.slides import Slide
from vr_plugin_video.sources import Source
from vr_plugin_video.transcripts import Segment

ANALYSES = "VideoAnalyses"
SEGMENTS = "VideoSegments"

_VIDEO_ID = RecordField(
    "video_id", description="YouTube video ID or SHA-256 of the file", filterable=True
)
_SOURCE_URL = RecordField("source_url", description="Source URL or file path", filterable=True)

VIDEO_ANALYSES = RecordKind(
    name=ANALYSES,
    description="Analyses of whole videos.",
    fields=(
        _VIDEO_ID,
        _SOURCE_URL,
        RecordField(
            "instruction",
            description="Analysis instruction used",
            vectorised=True,
            searchable=True,
        ),
        RecordField("title", description="Video title", vectorised=True, searchable=True),
        RecordField("summary", description="Analysis summary", vectorised=True, searchable=True),
        RecordField(
            "key_points",
            "text[]",
            description="Key points extracted",
            vectorised=True,
            searchable=True,
        ),
        RecordField("raw_result", description="Full JSON result"),
    ),
    rerank="summary",
    source="source_url",
)

VIDEO_SEGMENTS = RecordKind(
    name=SEGMENTS,
    description="What is said, or stands on a slide, at one moment of a video.",
    fields=(
        _VIDEO_ID,
        _SOURCE_URL,
        RecordField("start", "number", "Seconds from the start", filterable=True, range=True),
        RecordField("end", "number", "Seconds from the start", filterable=True, range=True),
        RecordField("origin", description="speech or slide", filterable=True),
        RecordField(
            "title", description="Slide or chapter title", vectorised=True, searchable=True
        ),
        RecordField("text", description="What is said or shown", vectorised=True, searchable=True),
        RecordField("thumbnail_uri", description="Picture of that moment"),
        RecordField("link", description="Opens the video at that moment"),
    ),
    rerank="text",
    source="source_url",
    link="link",
    locator=("start", "end"),
)


def analysis_record(source: Source, instruction: str, analysis: VideoAnalysis) -> Record:
    """An analysis as an event: each one is kept."""
    raw = analysis.model_copy(update={"segments": []}).model_dump_json()
    return Record(
        ANALYSES,
        {
            "video_id": source.video_id,
            "source_url": source.url,
            "instruction": instruction,
            "title": analysis.title,
            "summary": analysis.summary,
            "key_points": analysis.key_points,
            "raw_result": raw,
        },
    )


def slide_records(source: Source, slides: Sequence[Slide], parts: Sequence[Part]) -> list[Record]:
    """The text of every slide that has any."""
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
    """What is said, under the title of the part it is said in, with the slide then shown."""
    return [
        _segment_record(
            source, "speech", passage, title_at(parts, passage), _shown(slides, passage)
        )
        for passage in passages
    ]


def _segment_record(
    source: Source, origin: str, segment: Segment, title: str, thumbnail_uri: str
) -> Record:
    key = entity_key(SEGMENTS, source.video_id, origin, round(segment.start * 1000))
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
    return Record(SEGMENTS, fields, key)


def _title_within(slide: Slide, parts: Sequence[Part]) -> str:
    return title_at(parts, Segment(start=slide.start, end=slide.end, text=""))


def _shown(slides: Sequence[Slide], passage: Segment) -> str:
    middle = (passage.start + passage.end) / 2
    return next((s.thumbnail_uri for s in slides if s.start <= middle < s.end), "")
