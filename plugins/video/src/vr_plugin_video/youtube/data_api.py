"""The YouTube Data API, asked with a key."""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import AsyncIterator, Callable
from contextlib import closing
from dataclasses import replace
from typing import Any

from pydantic import SecretStr
from vr_kernel import Code, VrError

from vr_plugin_video.youtube import api_answers
from vr_plugin_video.youtube.api_errors import error_of
from vr_plugin_video.youtube.errors import NETWORK_FAILED, NOT_FOUND, error_by
from vr_plugin_video.youtube.models import Comment, PlaylistInfo, ReaderName, VideoMetadata

PAGE_ITEMS = 100
"""Most comments on a page."""
PLAYLIST_PAGE_ITEMS = 50
TRIES = 3
PAUSE_S = 0.3
TIMEOUT_S = 30.0


class DataApi:
    """The API with one key. A request costs one unit of quota, 10,000 of which are free a day.

    Args:
        key: of a Google project that has the API enabled.
        endpoint: the root address of the API; empty for Google's own.
        borrowed: the key was made for something else, and may not open this API.
        pause_s: seconds before the second try, doubled before the third.
    """

    engine: ReaderName = "youtube-data-api"

    def __init__(
        self,
        key: SecretStr,
        endpoint: str = "",
        *,
        borrowed: bool = False,
        pause_s: float = PAUSE_S,
    ) -> None:
        self.borrowed = borrowed
        self._key = key
        self._endpoint = endpoint
        self._pause_s = pause_s
        self._service: Any = None

    async def video(self, video_id: str) -> VideoMetadata:
        """Return the metadata of a video.

        Raises:
            VrError: NOT_FOUND; AUTH, QUOTA or UNAVAILABLE as the API says.
        """
        answer = await self._ask("videos", part="snippet,contentDetails,statistics", id=video_id)
        if not answer.get("items"):
            raise error_by(replace(NOT_FOUND, message="YouTube has no such video."))
        return api_answers.video_of(answer["items"][0])

    async def comments(
        self, video_id: str, most: int, seen: Callable[[int], None]
    ) -> list[Comment]:
        """Return the most relevant comments without replies; `seen` gets the count so far.

        Raises:
            VrError: as `video`; NOT_FOUND, category COMMENTS_DISABLED.
        """
        found: list[Comment] = []
        pages = self._pages(
            "commentThreads",
            most,
            PAGE_ITEMS,
            part="snippet",
            videoId=video_id,
            order="relevance",
            textFormat="plainText",
        )
        async for page in pages:
            found += [api_answers.comment_of(item) for item in page.get("items", [])]
            seen(len(found))
        return found[:most]

    async def playlist(self, playlist_id: str, most: int) -> PlaylistInfo:
        """A playlist and its first items; its title would cost another request.

        Raises:
            VrError: as `video`.
        """
        parts = "snippet,contentDetails,status"
        pages = self._pages(
            "playlistItems", most, PLAYLIST_PAGE_ITEMS, part=parts, playlistId=playlist_id
        )
        return api_answers.playlist_of(playlist_id, [page async for page in pages], most)

    async def _pages(
        self, resource: str, most: int, size: int, **parameters: Any
    ) -> AsyncIterator[dict[str, Any]]:
        """The pages of a list, until there are enough items or no more pages."""
        left, token = most, ""
        while left > 0:
            more = {"pageToken": token} if token else {}
            page = await self._ask(resource, maxResults=min(left, size), **parameters, **more)
            yield page
            left -= len(page.get("items", []))
            token = page.get("nextPageToken", "")
            if not token:
                return

    async def _ask(self, resource: str, **parameters: Any) -> dict[str, Any]:
        """Send a request, again when the network or the server fails."""
        for attempt in range(1, TRIES + 1):
            try:
                return await asyncio.to_thread(self._execute, resource, parameters)
            except VrError as error:
                if attempt == TRIES or not error.retryable or error.code is Code.QUOTA:
                    raise
            await asyncio.sleep(self._pause_s * 2 ** (attempt - 1))
        raise error_by(NETWORK_FAILED)

    def _execute(self, resource: str, parameters: dict[str, Any]) -> dict[str, Any]:
        from http.client import HTTPException

        # Google's libraries warn about each other's versions, which a user cannot change.
        warnings.filterwarnings("ignore", "Package google.api_core depends on", FutureWarning)
        from googleapiclient.errors import Error, HttpError
        from httplib2 import Http, HttpLib2Error

        # Http is not thread-safe, so each request has its own.
        with closing(Http(timeout=TIMEOUT_S)) as http:
            try:
                request = getattr(self._built(), resource)().list(**parameters)
                answer: dict[str, Any] = request.execute(http=http)
            except HttpError as error:
                # Its message contains the URL, and the URL contains the key.
                raise error_of(error.status_code, error.content, self.borrowed) from None
            except (OSError, ValueError, HttpLib2Error, HTTPException, Error):
                raise error_by(NETWORK_FAILED) from None
        return answer

    def _built(self) -> Any:
        """Return the API of the library; nothing is fetched for that."""
        if self._service is None:
            from googleapiclient.discovery import build

            options = {"api_endpoint": self._endpoint} if self._endpoint else None
            self._service = build(
                "youtube",
                "v3",
                developerKey=self._key.get_secret_value(),
                static_discovery=True,
                client_options=options,
            )
        return self._service
