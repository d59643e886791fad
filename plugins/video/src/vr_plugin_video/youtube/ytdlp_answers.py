"""Converts answers of yt-dlp into results."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any

from vr_plugin_video.captions.cues import parse_captions, said_once
from vr_plugin_video.captions.transcripts import Segment
from vr_plugin_video.models import ChapterPart
from vr_plugin_video.text.plain_text import clean, one_line
from vr_plugin_video.text.times import format_time
from vr_plugin_video.youtube.addresses import playlist_url, watch_url
from vr_plugin_video.youtube.errors import OUTDATED, error_by
from vr_plugin_video.youtube.models import (
    TITLE_CHARS,
    Availability,
    Comment,
    PlaylistInfo,
    PlaylistItem,
    VideoMetadata,
)
from vr_plugin_video.youtube.tracks import Track

Json = dict[str, Any]
_FORMATS = ("json3", "vtt", "srt")
"""Formats of captions that are read here, the most exact first."""
_ORIGINAL = "-orig"
"""The suffix by which yt-dlp marks recognised speech among its translations."""
_RESTRICTED = {
    "needs_auth": "sign-in required",
    "premium_only": "premium only",
    "subscriber_only": "members only",
}


def video_of(video_id: str, info: Json) -> VideoMetadata:
    """A video."""
    seconds = float(info.get("duration") or 0)
    return VideoMetadata(
        video_id=video_id,
        url=watch_url(video_id),
        title=one_line(_text(info, "title"), TITLE_CHARS),
        description=clean(_text(info, "description")),
        channel_title=one_line(_text(info, "channel", "uploader"), TITLE_CHARS),
        channel_id=_text(info, "channel_id"),
        published_at=_date(info),
        duration=format_time(seconds) if seconds else "",
        duration_seconds=seconds or None,
        tags=[one_line(tag, TITLE_CHARS) for tag in info.get("tags") or []],
        category=next(iter(info.get("categories") or []), ""),
        view_count=info.get("view_count"),
        like_count=info.get("like_count"),
        comment_count=info.get("comment_count"),
        default_language=_text(info, "language"),
        has_captions=bool(info.get("subtitles") or info.get("automatic_captions")),
        chapters=[
            ChapterPart(
                start=chapter["start_time"],
                end=chapter["end_time"],
                title=one_line(_text(chapter, "title"), TITLE_CHARS),
            )
            for chapter in info.get("chapters") or []
        ],
        thumbnail_url=_text(info, "thumbnail"),
        restrictions=_restrictions(info),
        engine="yt-dlp",
    )


def comments_of(info: Json) -> list[Comment]:
    """Return the comments that are not replies."""
    return [
        Comment(
            author=one_line(_text(said, "author"), TITLE_CHARS),
            text=clean(_text(said, "text")),
            like_count=said.get("like_count") or 0,
            published_at=_date(said),
        )
        for said in info.get("comments") or []
        if said.get("parent", "root") == "root"
    ]


def playlist_of(playlist_id: str, info: Json) -> PlaylistInfo:
    """A playlist, without a request for each entry."""
    entries = [entry for entry in info.get("entries") or [] if entry]
    return PlaylistInfo(
        playlist_id=playlist_id,
        url=playlist_url(playlist_id),
        title=one_line(_text(info, "title"), TITLE_CHARS),
        channel=one_line(_text(info, "channel", "uploader"), TITLE_CHARS),
        total=info.get("playlist_count") or len(entries),
        items=[_playlist_item(number, entry) for number, entry in enumerate(entries, 1)],
        engine="yt-dlp",
    )


def tracks_of(info: Json, download: Callable[[str], bytes]) -> list[Track]:
    """The available captions, without machine translations."""
    return [
        *_tracks(info.get("subtitles") or {}, download, generated=False),
        *_tracks(_recognised(info), download, generated=True),
    ]


def _playlist_item(number: int, entry: Json) -> PlaylistItem:
    title = one_line(_text(entry, "title"), TITLE_CHARS)
    return PlaylistItem(
        position=number,
        video_id=entry["id"],
        title=title,
        channel=one_line(_text(entry, "channel", "uploader"), TITLE_CHARS),
        published_at=_date(entry),
        url=watch_url(entry["id"]),
        availability=_availability(title),
    )


def _availability(title: str) -> Availability:
    return (
        "private"
        if title == "[Private video]"
        else ("deleted" if title == "[Deleted video]" else "available")
    )


def _recognised(info: Json) -> Json:
    """Return recognised speech by language, from a list that also has its translations."""
    found: Json = info.get("automatic_captions") or {}
    originals = {
        code.removesuffix(_ORIGINAL): formats
        for code, formats in found.items()
        if code.endswith(_ORIGINAL)
    }
    spoken = info.get("language")
    return originals or ({spoken: found[spoken]} if spoken in found else {})


def _tracks(listed: Json, download: Callable[[str], bytes], *, generated: bool) -> Iterator[Track]:
    for code, formats in listed.items():
        by_style = {entry.get("ext"): entry.get("url") for entry in formats}
        style = next((style for style in _FORMATS if by_style.get(style)), None)
        if style and code != "live_chat":
            yield Track(code, generated, partial(_read, download, by_style[style], style))


def _read(download: Callable[[str], bytes], url: str, style: str) -> Sequence[Segment]:
    text = download(url).decode("utf-8-sig", "replace")
    try:
        return said_once(list(_events(text))) if style == "json3" else parse_captions(text, style)
    except (ValueError, TypeError, AttributeError):
        raise error_by(OUTDATED, library="yt-dlp") from None


def _events(text: str) -> Iterator[tuple[float, float, str]]:
    """Cues of YouTube's own format, with times in milliseconds and text in pieces."""
    for event in json.loads(text).get("events", []):
        words = "".join(piece.get("utf8", "") for piece in event.get("segs", []))
        start = float(event.get("tStartMs", 0)) / 1000
        if words.strip():
            yield start, start + float(event.get("dDurationMs", 0)) / 1000, words


def _restrictions(info: Json) -> list[str]:
    found = [_RESTRICTED[info["availability"]]] if info.get("availability") in _RESTRICTED else []
    if info.get("live_status") in ("is_live", "is_upcoming"):
        found.append(f"broadcast: {info['live_status'].removeprefix('is_')}")
    if (info.get("age_limit") or 0) >= 18:  # noqa: PLR2004 - the age it means
        found.append("age restricted")
    return found


def _date(info: Json) -> str:
    """ISO 8601 date, from seconds since the epoch or `YYYYMMDD`; empty when unknown."""
    if info.get("timestamp"):
        moment = datetime.fromtimestamp(info["timestamp"], UTC)
    elif info.get("upload_date"):
        moment = datetime.strptime(info["upload_date"], "%Y%m%d").replace(tzinfo=UTC)
    else:
        return ""
    return moment.isoformat(timespec="seconds").replace("+00:00", "Z")


def _text(info: Json, *names: str) -> str:
    return next((str(info[name]) for name in names if info.get(name)), "")
