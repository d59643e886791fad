"""Records of metadata, and of opinions of viewers."""

from __future__ import annotations

from vr_kernel import Record

from vr_plugin_video.record_kinds import METADATA, REACTIONS, metadata_key
from vr_plugin_video.youtube.models import Reactions, VideoMetadata


def metadata_record(video: VideoMetadata) -> Record:
    """Make the record of metadata, which replaces the former one."""
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
