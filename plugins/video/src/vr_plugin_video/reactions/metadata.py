"""The metadata of a video as a result: recorded whole, cut to fit an answer."""

from __future__ import annotations

from vr_kernel import Call

from vr_plugin_video.reactions.records import metadata_record
from vr_plugin_video.text.plain_text import ELLIPSIS
from vr_plugin_video.youtube.client import youtube_of
from vr_plugin_video.youtube.models import VideoMetadata

DESCRIPTION_CHARS = 2000
TAGS = 40
CHAPTERS = 60


async def metadata_of(call: Call, video_id: str) -> VideoMetadata:
    """Return all metadata of a video.

    Raises:
        VrError: as `YouTube.metadata`.
    """
    call.progress(0, 1, "Asking YouTube")
    video = await youtube_of(call.services).metadata(video_id)
    call.record(metadata_record(video))
    return _shortened(video)


def _shortened(video: VideoMetadata) -> VideoMetadata:
    """Cut metadata to fit an answer; the record has the whole."""
    limits = list(video.limits)
    description = video.description
    if len(description) > DESCRIPTION_CHARS:
        limits.append(
            f"The description has {len(description):,} characters; this is the beginning."
        )
        description = description[: DESCRIPTION_CHARS - 1] + ELLIPSIS
    if len(video.chapters) > CHAPTERS:
        limits.append(f"The first {CHAPTERS} of {len(video.chapters)} chapters.")
    cut = {
        "description": description,
        "tags": video.tags[:TAGS],
        "chapters": video.chapters[:CHAPTERS],
        "limits": limits,
    }
    return video.model_copy(update=cut)
