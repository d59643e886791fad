"""Converts answers of the YouTube Data API into results."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from vr_plugin_video.models import ChapterPart
from vr_plugin_video.text.plain_text import clean, one_line
from vr_plugin_video.text.times import format_time
from vr_plugin_video.youtube.addresses import playlist_url, watch_url
from vr_plugin_video.youtube.chapters import parse_chapters
from vr_plugin_video.youtube.models import (
    TITLE_CHARS,
    Availability,
    Comment,
    PlaylistInfo,
    PlaylistItem,
    VideoMetadata,
)

Json = dict[str, Any]
_DURATION = re.compile(r"P(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?")
CATEGORIES = {
    "1": "Film & Animation",
    "2": "Autos & Vehicles",
    "10": "Music",
    "15": "Pets & Animals",
    "17": "Sports",
    "18": "Short Movies",
    "19": "Travel & Events",
    "20": "Gaming",
    "21": "Videoblogging",
    "22": "People & Blogs",
    "23": "Comedy",
    "24": "Entertainment",
    "25": "News & Politics",
    "26": "Howto & Style",
    "27": "Education",
    "28": "Science & Technology",
    "29": "Nonprofits & Activism",
    "30": "Movies",
    "43": "Shows",
    "44": "Trailers",
}
"""The categories of videos by their ids, which do not change; asking for a name costs quota."""
_SECONDS = (604_800, 86_400, 3600, 60, 1)


def seconds_of(duration: str) -> float:
    """Seconds of an ISO 8601 duration such as `PT1H2M3S`; 0 for a malformed one."""
    match = _DURATION.fullmatch(duration)
    counts = match.groups() if match else ("0",) * len(_SECONDS)
    return float(sum(int(n or 0) * size for n, size in zip(counts, _SECONDS, strict=True)))


def video_of(item: Json) -> VideoMetadata:
    """A video of `videos.list` with its snippet, content details and statistics."""
    snippet, details = item.get("snippet", {}), item.get("contentDetails", {})
    seconds = seconds_of(details.get("duration", ""))
    description = clean(snippet.get("description", ""))
    chapters = parse_chapters(description, seconds)
    return VideoMetadata(
        video_id=item["id"],
        url=watch_url(item["id"]),
        title=one_line(snippet.get("title", ""), TITLE_CHARS),
        description=description,
        channel_title=one_line(snippet.get("channelTitle", ""), TITLE_CHARS),
        channel_id=snippet.get("channelId", ""),
        published_at=snippet.get("publishedAt", ""),
        duration=format_time(seconds) if seconds else "",
        duration_seconds=seconds or None,
        tags=[one_line(tag, TITLE_CHARS) for tag in snippet.get("tags", [])],
        category=CATEGORIES.get(snippet.get("categoryId", ""), ""),
        **_counts(item.get("statistics", {})),
        default_language=snippet.get("defaultAudioLanguage") or snippet.get("defaultLanguage", ""),
        has_captions=details["caption"] == "true" if "caption" in details else None,
        chapters=[ChapterPart(start=c.start, end=c.end, title=c.title) for c in chapters],
        thumbnail_url=_largest(snippet.get("thumbnails", {})),
        restrictions=_restrictions(snippet, details),
        engine="youtube-data-api",
    )


def comment_of(item: Json) -> Comment:
    """A thread of `commentThreads.list`: its first comment, and the number of replies."""
    thread = item.get("snippet", {})
    said = thread.get("topLevelComment", {}).get("snippet", {})
    return Comment(
        author=one_line(said.get("authorDisplayName", ""), TITLE_CHARS),
        text=clean(said.get("textDisplay", "")),
        like_count=said.get("likeCount", 0),
        reply_count=thread.get("totalReplyCount", 0),
        published_at=said.get("publishedAt", ""),
    )


def playlist_of(playlist_id: str, pages: Sequence[Json], most: int) -> PlaylistInfo:
    """A playlist without its title, from pages of `playlistItems.list`."""
    items = [item for page in pages for item in page.get("items", [])]
    owners = (item.get("snippet", {}).get("channelTitle", "") for item in items)
    totals = (page.get("pageInfo", {}).get("totalResults", 0) for page in pages)
    return PlaylistInfo(
        playlist_id=playlist_id,
        url=playlist_url(playlist_id),
        title="",
        channel=one_line(next(filter(None, owners), ""), TITLE_CHARS),
        total=max([len(items), *totals]),
        items=[_playlist_item(item) for item in items[:most]],
        engine="youtube-data-api",
    )


def _playlist_item(item: Json) -> PlaylistItem:
    snippet, details = item.get("snippet", {}), item.get("contentDetails", {})
    video_id = details.get("videoId") or snippet.get("resourceId", {}).get("videoId", "")
    return PlaylistItem(
        position=snippet.get("position", 0) + 1,
        video_id=video_id,
        title=one_line(snippet.get("title", ""), TITLE_CHARS),
        channel=one_line(snippet.get("videoOwnerChannelTitle", ""), TITLE_CHARS),
        published_at=details.get("videoPublishedAt", ""),
        url=watch_url(video_id),
        availability=_availability(item),
    )


def _availability(item: Json) -> Availability:
    """Say if a video can be watched; one that cannot keeps its place, without owner and date."""
    if item.get("contentDetails", {}).get("videoPublishedAt"):
        return "available"
    status = item.get("status", {}).get("privacyStatus")
    private = status == "private" or item.get("snippet", {}).get("title") == "Private video"
    return "private" if private else "deleted"


def _counts(statistics: Json) -> dict[str, int | None]:
    """Read the counts, which come as text; one that the owner hides is left out."""
    return {
        f"{name}_count": int(statistics[f"{name}Count"]) if f"{name}Count" in statistics else None
        for name in ("view", "like", "comment")
    }


def _largest(thumbnails: Json) -> str:
    widest: Json = max(thumbnails.values(), key=lambda found: found.get("width", 0), default={})
    return str(widest.get("url", ""))


def _restrictions(snippet: Json, details: Json) -> list[str]:
    found = []
    if snippet.get("liveBroadcastContent", "none") != "none":
        found.append(f"broadcast: {snippet['liveBroadcastContent']}")
    if details.get("contentRating", {}).get("ytRating") == "ytAgeRestricted":
        found.append("age restricted")
    regions = details.get("regionRestriction", {})
    if regions.get("blocked"):
        found.append(f"blocked in {len(regions['blocked'])} countries")
    if "allowed" in regions:
        found.append(f"allowed in {len(regions['allowed'])} countries only")
    return found
