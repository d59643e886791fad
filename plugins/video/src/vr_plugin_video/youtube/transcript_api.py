"""Captions of YouTube by youtube-transcript-api, without a key."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from vr_kernel import VrError

from vr_plugin_video.captions.cues import said_once
from vr_plugin_video.captions.transcripts import Segment, Transcript
from vr_plugin_video.youtube.errors import (
    BLOCKED,
    NETWORK_FAILED,
    OUTDATED,
    UNAVAILABLE,
    error_by,
    restricted,
)
from vr_plugin_video.youtube.tracks import Track, best_transcript, captions_missing
from vr_plugin_video.youtube.ytdlp_errors import meaning_of

if TYPE_CHECKING:
    from requests import Session

YOUTUBE = "https://www.youtube.com"
TIMEOUT_S = 20.0
TRIES = 2
LIBRARY = "youtube-transcript-api"


class TranscriptApi:
    """Captions by youtube-transcript-api.

    Args:
        site: where YouTube is, such as `https://www.youtube.com`.
    """

    def __init__(self, site: str = YOUTUBE) -> None:
        self._site = site

    async def captions(self, video_id: str, language: str) -> Transcript:
        """The best captions; see `best_transcript`.

        Raises:
            VrError: NOT_FOUND, category CAPTIONS_MISSING; NOT_ALLOWED or UNAVAILABLE for a video
                that is not available.
        """
        return await asyncio.to_thread(self._read, video_id, language)

    def _read(self, video_id: str, language: str) -> Transcript:
        from xml.etree.ElementTree import ParseError

        from requests import RequestException
        from youtube_transcript_api import CouldNotRetrieveTranscript, YouTubeTranscriptApi

        # The library is not thread-safe, so each call has its own session.
        with _session(self._site) as session:
            try:
                listed = YouTubeTranscriptApi(http_client=session).list(video_id)
                tracks = [
                    Track(found.language_code, found.is_generated, partial(_segments, found))
                    for found in listed
                ]
                return best_transcript(video_id, tracks, language)
            except CouldNotRetrieveTranscript as error:
                raise _error_of(error, video_id, language) from None
            except RequestException:
                raise error_by(NETWORK_FAILED) from None
            except (ParseError, LookupError, TypeError, AttributeError):
                raise error_by(OUTDATED, library=LIBRARY) from None


def _segments(found: Any) -> Sequence[Segment]:
    return said_once([(s.start, s.start + s.duration, s.text) for s in found.fetch()])


def _session(site: str) -> Session:
    """Make a session with a timeout, which asks `site` instead of YouTube."""
    from requests import PreparedRequest, Response, Session
    from requests.adapters import HTTPAdapter
    from urllib3 import Retry

    class Adapter(HTTPAdapter):
        """Sends requests to the site."""

        def send(self, request: PreparedRequest, **kwargs: Any) -> Response:  # type: ignore[override]
            """Send one request."""
            request.url = (request.url or "").replace(YOUTUBE, site, 1)
            return super().send(request, **{**kwargs, "timeout": TIMEOUT_S})

    retry = Retry(
        TRIES, status_forcelist=(500, 502, 503, 504), allowed_methods=None, backoff_factor=0.2
    )
    session = Session()
    session.mount("https://", Adapter(max_retries=retry))
    return session


def _error_of(error: Exception, video_id: str, language: str) -> VrError:
    """Return the error for an error of the library, by its class."""
    import youtube_transcript_api as library

    if isinstance(error, (library.TranscriptsDisabled, library.NoTranscriptFound)):
        found = captions_missing(video_id, language)
    elif isinstance(error, (library.RequestBlocked, library.PoTokenRequired)):
        found = error_by(BLOCKED)
    elif isinstance(error, library.AgeRestricted):
        found = error_by(restricted("the viewer's age"))
    elif isinstance(error, (library.VideoUnavailable, library.InvalidVideoId)):
        found = error_by(UNAVAILABLE)
    elif isinstance(error, library.YouTubeRequestFailed):
        found = error_by(NETWORK_FAILED)
    elif isinstance(error, library.VideoUnplayable):
        found = meaning_of(error.reason or "") or error_by(restricted("it cannot be played here"))
    else:
        found = error_by(OUTDATED, library=LIBRARY)
    return found
