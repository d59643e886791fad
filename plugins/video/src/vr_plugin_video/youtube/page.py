"""The oEmbed page of a video, which is public."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any
from urllib.parse import quote

from vr_kernel import Services, VrError

from vr_plugin_video.text.plain_text import one_line
from vr_plugin_video.youtube.addresses import playlist_url, watch_url
from vr_plugin_video.youtube.errors import NETWORK_FAILED, NOT_FOUND, error_by
from vr_plugin_video.youtube.models import TITLE_CHARS, VideoMetadata

DEADLINE_S = 15.0
MAX_BYTES = 100_000
_ABSENT = {"HTTP_NOT_FOUND", "HTTP_STATUS"}
"""YouTube answers 404 for a video that was removed, and 400 for one that never existed."""


async def read_page(services: Services, site: str, video_id: str) -> VideoMetadata:
    """Read title, channel and picture; the page has no more.

    Raises:
        VrError: NOT_FOUND; UNAVAILABLE, also for a video that must not be embedded, which has no
            such page but can be watched.
    """
    fields = await _fetch(services, site, watch_url(video_id), "video")
    return VideoMetadata(
        video_id=video_id,
        url=watch_url(video_id),
        title=one_line(str(fields.get("title", "")), TITLE_CHARS),
        channel_title=one_line(str(fields.get("author_name", "")), TITLE_CHARS),
        thumbnail_url=str(fields.get("thumbnail_url", "")),
        engine="oembed",
    )


async def read_playlist_title(services: Services, site: str, playlist_id: str) -> str:
    """The title of a playlist, which costs no quota.

    Raises:
        VrError: as `read_page`.
    """
    fields = await _fetch(services, site, playlist_url(playlist_id), "playlist")
    return one_line(str(fields.get("title", "")), TITLE_CHARS)


async def _fetch(services: Services, site: str, address: str, what: str) -> dict[str, Any]:
    page_of = f"{site}/oembed?format=json&url={quote(address, safe='')}"
    try:
        page = await services.http.fetch(page_of, max_bytes=MAX_BYTES, deadline_s=DEADLINE_S)
        told = json.loads(page.content)
    except VrError as error:
        if error.category in _ABSENT:
            raise error_by(replace(NOT_FOUND, message=f"YouTube has no such {what}.")) from None
        failed = replace(NETWORK_FAILED, message=f"YouTube shows no page of this {what}.")
        raise error_by(failed) from error
    except ValueError:
        failed = replace(NETWORK_FAILED, message="YouTube's page cannot be read.")
        raise error_by(failed) from None
    return told if isinstance(told, dict) else {}
