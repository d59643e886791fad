"""YouTube addresses in all their forms; look-alikes are refused."""

from __future__ import annotations

import re
from urllib.parse import SplitResult, parse_qs, urlsplit

from vr_kernel import Code, VrError

URL_LIMIT = 2048
NOTHING_NAMED = "URL_PARSE_FAILED"
"""Category of a good address that names neither a video nor a playlist."""
_ID = re.compile(r"([A-Za-z0-9_-]{11})(?![A-Za-z0-9_-])")
_LIST = re.compile(r"[A-Za-z0-9_-]{2,100}")
_SHORT = frozenset({"youtu.be", "www.youtu.be"})
_PATHS = frozenset({"shorts", "embed", "live", "v", "e"})
_BARE = re.compile(
    r"(?:[a-z]+\.)*(?:youtube\.com|youtube-nocookie\.com|youtu\.be)[/?]", re.IGNORECASE
)
_HINT = "Give a link such as https://www.youtube.com/watch?v=VIDEO_ID."


def parse_url(url: str) -> SplitResult:
    """The parts of an http or https address, with shell escapes taken out.

    Raises:
        VrError: INVALID_INPUT, category URL_INVALID.
    """
    text = url.strip().replace("\\", "")
    if _BARE.match(text):
        text = f"https://{text}"
    try:
        parts = urlsplit(text)
        host, _ = parts.hostname, parts.port  # raises ValueError for an invalid port
    except ValueError:
        raise invalid_url("The address cannot be read.") from None
    # urlsplit drops some control characters silently; what is shown must be what is opened.
    if len(text) > URL_LIMIT or not text.isprintable() or " " in text:
        raise invalid_url("The address is too long or holds spaces or control characters.")
    if parts.scheme.lower() not in ("http", "https") or not host:
        raise invalid_url("Only http and https addresses are read.")
    if parts.username is not None or parts.password is not None:
        raise invalid_url("The address carries a user name.")
    return parts


def youtube_id(parts: SplitResult) -> str | None:
    """The id of the YouTube video at that address; None when the host is not YouTube's.

    A port is ignored: the video is looked up at YouTube.

    Raises:
        VrError: INVALID_INPUT, category URL_PARSE_FAILED, for an address at YouTube that names
            no video.
    """
    host = (parts.hostname or "").lower()
    segments = [segment for segment in parts.path.split("/") if segment]
    query = parse_qs(parts.query)
    if host in _SHORT:
        found = segments[0] if segments else ""
    elif _is_youtube(host):
        by_path = segments[1] if len(segments) > 1 and segments[0] in _PATHS else ""
        found = query.get("v", [by_path])[0]
    else:
        return None
    match = _ID.match(found)
    if match:
        return match.group(1)
    if "list" in query:
        raise VrError(
            "This is a playlist, not a video.",
            Code.INVALID_INPUT,
            category=NOTHING_NAMED,
            hint="video_playlist lists its videos; give the link of one of them.",
        )
    raise invalid_url("The YouTube address names no video.", NOTHING_NAMED)


def video_at(url: str) -> str:
    """The id of the YouTube video at an address.

    Raises:
        VrError: INVALID_INPUT, category URL_INVALID, for anything else; URL_PARSE_FAILED for an
            address at YouTube without a video, such as a playlist.
    """
    found = youtube_id(parse_url(url))
    if found is None:
        raise invalid_url("The address is not one of YouTube.")
    return found


def playlist_id(parts: SplitResult) -> str:
    """The id of the YouTube playlist at that address, or of the one a video is opened from.

    Raises:
        VrError: INVALID_INPUT, category URL_INVALID, for anything else; URL_PARSE_FAILED for an
            address at YouTube without a playlist, such as a single video.
    """
    host = (parts.hostname or "").lower()
    found = parse_qs(parts.query).get("list", [""])[0]
    at_youtube = _is_youtube(host) or host in _SHORT
    if at_youtube and _LIST.fullmatch(found):
        return found
    raise VrError(
        "The address names no playlist of YouTube.",
        Code.INVALID_INPUT,
        category=NOTHING_NAMED if at_youtube else "URL_INVALID",
        hint="A playlist's link looks like https://www.youtube.com/playlist?list=PLAYLIST_ID;"
        " video_metadata tells of a single video.",
    )


def watch_url(video_id: str) -> str:
    """The canonical address of a YouTube video."""
    return f"https://www.youtube.com/watch?v={video_id}"


def playlist_url(playlist: str) -> str:
    """The address of a playlist."""
    return f"https://www.youtube.com/playlist?list={playlist}"


def invalid_url(message: str, category: str = "URL_INVALID") -> VrError:
    """The error for an invalid address."""
    return VrError(message, Code.INVALID_INPUT, category=category, hint=_HINT)


def _is_youtube(host: str) -> bool:
    return any(
        host == domain or host.endswith(f".{domain}")
        for domain in ("youtube.com", "youtube-nocookie.com")
    )
