"""Views of the results of tools about one video."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from vr_kernel import Services, View, view
from vr_kernel.views import (
    Block,
    Code,
    File,
    Image,
    Link,
    Media,
    Moment,
    Moments,
    Pictures,
    clock,
    shown_host,
    shown_instant,
)

from vr_plugin_video.views.analysis import ORIGINS, analysis_view, pictures, spoken
from vr_plugin_video.views.parts import counted, facts, joined, prose
from vr_plugin_video.views.places import link_to, media, name_of

if TYPE_CHECKING:
    from vr_plugin_video.models import VideoAnalysis, VideoClip, VideoScenes, VideoTranscript
    from vr_plugin_video.tools.export import VideoExport
    from vr_plugin_video.youtube.models import VideoMetadata


@view(tool="video_analyze")
async def show_analysis(services: Services, analysis: VideoAnalysis) -> View:
    """An analysis: the summary first, the transcript last."""
    del services
    return analysis_view(analysis, analysis.window)


@view(tool="video_transcript")
async def show_transcript(services: Services, transcript: VideoTranscript) -> View:
    """Speech in paragraphs, or the document that was asked for."""
    del services
    said, link = transcript.segments, link_to(transcript.source)
    blocks: list[Block] = [
        *media(transcript.source, transcript.duration),
        *spoken(said, transcript.language, link, detail=False),
    ]
    if transcript.content:
        blocks.append(Code(transcript.content, transcript.format))
    if transcript.transcript_uri:
        blocks.append(File(transcript.transcript_uri, title="The whole as a file", detail=True))
    about = [
        clock(transcript.duration) if transcript.duration else "",
        f"words from {ORIGINS.get(transcript.origin, transcript.origin)}",
        transcript.model,
        f"language {transcript.language}" if transcript.language else "",
    ]
    more = transcript.next_cursor
    of = f"{len(said)} of {transcript.total}" if said else f"a part of {transcript.total}"
    notes = [f"This is {of} sentences; cursor {more} goes on."] if more else []
    return View(
        name_of(transcript.source),
        blocks,
        [each for each in about if each],
        transcript.source,
        [*notes, *transcript.limits],
    )


@view(tool="video_scenes")
async def show_scenes(services: Services, scenes: VideoScenes) -> View:
    """The slides or scenes, with their pictures."""
    del services
    shown, found = len(scenes.scenes), scenes.found
    count = f"{shown} of {found} scenes" if found > shown else counted(shown, "scene")
    return View(
        name_of(scenes.source),
        [
            *media(scenes.source, scenes.duration),
            *pictures("Scenes", scenes.scenes, link_to(scenes.source), detail=False),
        ],
        [*([clock(scenes.duration)] if scenes.duration else []), count],
        scenes.source,
        scenes.limits,
    )


@view(tool="video_clip")
async def show_clip(services: Services, clip: VideoClip) -> View:
    """The file that was cut."""
    del services
    place = Link(clip.link, "", clip.start, clip.end)
    blocks: list[Block] = [File(clip.uri, clip.mime, clip.size_bytes)]
    if clip.format == "jpg":
        blocks.append(Pictures([Image(clip.uri, place=Link(clip.link, "", clip.start))]))
    elif clip.format != "gif":
        kind: Literal["video", "audio"] = "audio" if clip.format == "mp3" else "video"
        blocks.append(Media(clip.path, kind, clip.duration, title="Player", detail=True))
    blocks += facts([("Cut from", place)])
    size = f"{clip.width} x {clip.height}" if clip.width and clip.height else ""
    lasts = f"{clip.duration:.1f} s" if clip.duration else ""
    title = f"{name_of(clip.source)}, {clock(clip.start)}"
    title += f" to {clock(clip.end)}" if clip.end > clip.start else ""
    return View(title, blocks, [it for it in (lasts, size) if it], clip.source, clip.limits)


@view(tool="video_export")
async def show_export(services: Services, export: VideoExport) -> View:
    """The file that was written."""
    del services
    kept = File(export.uri, export.mime, export.size)
    return View(export.title or shown_host(export.source), [kept], (), export.source, export.limits)


@view(tool="video_metadata")
async def show_video(services: Services, video: VideoMetadata) -> View:
    """Show what YouTube says of a video."""
    del services
    link = link_to(video.url)
    chapters = [Moment(c.start, c.title, c.end, link(c.start)) for c in video.chapters]
    captions = {True: "yes", False: "no", None: ""}[video.has_captions]
    return View(
        video.title or name_of(video.url),
        [
            *media(video.url, video.duration_seconds),
            *facts(
                [
                    ("Views", _number(video.view_count)),
                    ("Likes", _number(video.like_count)),
                    ("Comments", _number(video.comment_count)),
                    ("Category", video.category),
                    ("Language", video.default_language),
                    ("Captions", captions),
                    ("Restrictions", joined(video.restrictions)),
                    ("Tags", joined(video.tags)),
                ]
            ),
            *([Moments(chapters, title="Chapters")] if chapters else []),
            *prose("Description", video.description),
        ],
        [
            each
            for each in (video.duration, video.channel_title, shown_instant(video.published_at))
            if each
        ],
        video.url,
        video.limits,
    )


def _number(count: int | None) -> str:
    return "" if count is None else f"{count:,}"
