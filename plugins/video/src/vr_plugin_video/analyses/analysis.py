"""An analysis, put together from what was heard and seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from vr_plugin_video.analyses.outline import Outline, Part, outline, parts_of
from vr_plugin_video.captions.transcripts import Segment, Transcript
from vr_plugin_video.media.info import Chapter, MediaInfo
from vr_plugin_video.models import ChapterPart, Moment, Scene, TranscriptSummary, VideoAnalysis
from vr_plugin_video.sources import Source
from vr_plugin_video.task import VideoTask
from vr_plugin_video.text.plain_text import one_line
from vr_plugin_video.text.times import format_time
from vr_plugin_video.views.analysis import NOTHING
from vr_plugin_video.vision.slides import Slide, Slides

TITLE_CHARS = 200


@dataclass(frozen=True, slots=True)
class Findings:
    """Everything that was found out about a video, before the analysis is written."""

    media: MediaInfo
    slides: Slides
    transcript: Transcript | None
    window: tuple[float, float]

    @property
    def segments(self) -> Sequence[Segment]:
        """The segments of speech."""
        return self.transcript.segments if self.transcript else ()

    @property
    def chapters(self) -> list[Chapter]:
        """The chapters that overlap the window."""
        start, end = self.window
        return [c for c in self.media.chapters if c.end > start and c.start < end]

    @property
    def partial(self) -> bool:
        """True when the file could only be read in part."""
        return not (self.media.complete and self.slides.complete)

    def parts(self) -> list[Part]:
        """Chapters, slides or stretches of speech."""
        return parts_of(self.media.chapters, self.slides.slides, self.segments, self.window)

    def boundaries(self) -> list[float]:
        """The times at which a new passage of speech begins, because a chapter or slide does."""
        slides = {slide.start for slide in self.slides.slides}
        return sorted({chapter.start for chapter in self.chapters} | slides)

    def models(self) -> str:
        """The models that recognised speech and text."""
        spoken = f"whisper {self.transcript.model}" if self.transcript else ""
        heard = spoken if self.transcript and self.transcript.model else ""
        return ", ".join(name for name in (heard, self.slides.recognizer) if name)


def analyse(task: VideoTask, seen: Findings) -> VideoAnalysis:
    """The whole result, not yet shortened for an answer."""
    title = seen.media.title or one_line(task.source.name, TITLE_CHARS)
    start, end = seen.window
    made = outline(title, seen.parts(), seen.segments, end - start)
    transcript = seen.transcript
    return VideoAnalysis(
        source=task.source.url,
        video_id=task.source.video_id,
        duration=seen.media.duration or None,
        model=seen.models(),
        partial=seen.partial,
        limits=[*damage(seen.media, partial=seen.partial), *_silence(seen), *task.limits],
        title=title,
        summary=made.summary,
        key_points=made.key_points,
        timestamps=linked(_moments(made), task.source),
        topics=made.topics,
        chapters=[
            ChapterPart(start=c.start, end=c.end, title=one_line(c.title, TITLE_CHARS))
            for c in seen.chapters
        ],
        slides=[scene_of(slide) for slide in seen.slides.slides],
        transcript=transcript
        and TranscriptSummary(
            origin=transcript.origin,
            language=transcript.language,
            segments=len(transcript.segments),
        ),
        segments=list(seen.segments),
    )


def linked(moments: Sequence[Moment], source: Source) -> list[Moment]:
    """The moments, each with the link that opens the video there."""
    return [m.model_copy(update={"link": source.link(m.seconds)}) for m in moments]


def scene_of(slide: Slide) -> Scene:
    """A slide as results show it."""
    return Scene(
        start=slide.start,
        end=slide.end,
        title=slide.title,
        text=slide.text,
        thumbnail_uri=slide.thumbnail_uri,
        thumbnail_path=slide.thumbnail_path,
    )


def damage(media: MediaInfo, *, partial: bool) -> list[str]:
    """A warning about a file that could only be read in part."""
    if not partial:
        return []
    return [f"Damaged or cut off: of {format_time(media.duration)} only a part could be read."]


def _silence(seen: Findings) -> list[str]:
    """Return a remark when there are no words, since an outline would not show that."""
    if seen.segments or any(slide.text for slide in seen.slides.slides):
        return []
    return [NOTHING]


def _moments(made: Outline) -> list[Moment]:
    return [
        Moment(time=format_time(seconds), seconds=seconds, description=description)
        for seconds, description in made.timestamps
    ]
