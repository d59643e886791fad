"""Records of what YouTube says of videos, and of what their viewers think."""

from __future__ import annotations

from vr_kernel import Record

from vr_plugin_video.records.kinds import METADATA, REACTIONS, metadata_key
from vr_plugin_video.youtube.models import Reactions, VideoMetadata


def metadata_record(video: VideoMetadata) -> Record:
    """A video's metadata as a fact: told again, it takes the place of what was told before."""
    fields = {
        "video_id": video.video_id,
        "source_url": video.url,
        "title": video.title,
        "description": video.description,
        "channel_title": video.channel_title,
        "tags": video.tags,
        "category": video.category,
        "view_count": video.view_count,
        "like_count": video.like_count,
        "duration": video.duration,
        "published_at": video.published_at,
    }
    return Record(METADATA, fields, metadata_key(fields))


def reactions_record(
    video_id: str, url: str, title: str, count: int, reactions: Reactions
) -> Record:
    """Make the record of a reading of `count` comments; earlier readings stay as history."""
    fields = {
        "video_id": video_id,
        "source_url": url,
        "video_title": title,
        "comment_count": count,
        **reactions.model_dump(),
    }
    return Record(REACTIONS, fields)
