"""Lets yt-dlp read the fake of `youtube_server.py`: yt-dlp's own way to teach it a new site."""

from __future__ import annotations

from urllib.parse import urljoin

from yt_dlp.extractor.common import InfoExtractor
from yt_dlp.utils import ExtractorError


class LoopbackIE(InfoExtractor):
    _VALID_URL = r"http://127\.0\.0\.1:\d+/(?:watch\?v=|playlist\?list=)(?P<id>[\w-]+)"

    def _real_extract(self, url):
        video_id = self._match_id(url)
        self._base = url
        told = self._download_json(urljoin(url, f"/info/{video_id}"), video_id)
        if "error" in told:
            raise ExtractorError(told["error"], expected=True, video_id=video_id)
        self._comments = told.pop("comments", [])
        for found in told.get("formats", []):
            found["url"] = urljoin(url, found["url"])
        for name in ("subtitles", "automatic_captions"):
            for formats in told.get(name, {}).values():
                for found in formats:
                    found["url"] = urljoin(url, found["url"])
        if told.get("_type") != "playlist":
            told["__post_extractor"] = self.extract_comments(video_id)
        return told

    def _get_comments(self, video_id):
        yield from self._comments
