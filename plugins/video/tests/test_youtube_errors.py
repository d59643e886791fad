"""Every way in which YouTube refuses, as a typed error without a key in it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from pydantic import SecretStr
from vr_kernel import Code, VrError
from vr_plugin_video.youtube.api_errors import error_of
from vr_plugin_video.youtube.data_api import DataApi
from vr_plugin_video.youtube.errors import until_midnight_pacific
from vr_plugin_video.youtube.readers import is_installed
from vr_plugin_video.youtube.ytdlp_errors import meaning_of
from youtube_server import ERRORS, KEY, FakeYouTube, thread, video

needs_client = pytest.mark.skipif(
    not is_installed("googleapiclient"), reason="google-api-python-client is not installed"
)
ID = "dQw4w9WgXcQ"


@pytest.fixture(scope="module")
def youtube() -> Iterator[FakeYouTube]:
    with FakeYouTube(videos={ID: video(ID)}, threads={ID: [thread(1)]}).running() as fake:
        yield fake


@pytest.fixture
def api(youtube: FakeYouTube) -> DataApi:
    youtube.requests.clear()
    youtube.failures.clear()
    return DataApi(SecretStr(KEY), youtube.url, pause_s=0.01)


async def refused(api: DataApi) -> VrError:
    with pytest.raises(VrError) as caught:
        await api.comments(ID, 10, lambda _count: None)
    shown = repr((caught.value.message, caught.value.hint, caught.value.detail))
    assert KEY not in shown
    assert "key=" not in shown
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__
    return caught.value


@needs_client
@pytest.mark.parametrize(
    ("documented", "code", "category", "retryable"),
    [
        ("quotaExceeded", Code.QUOTA, "API_QUOTA_EXCEEDED", True),
        ("rateLimitExceeded", Code.QUOTA, "API_QUOTA_EXCEEDED", True),
        ("keyInvalid", Code.AUTH, "API_PERMISSION_DENIED", False),
        ("keyInvalidOld", Code.AUTH, "API_PERMISSION_DENIED", False),
        ("keyBlocked", Code.AUTH, "API_PERMISSION_DENIED", False),
        ("accessNotConfigured", Code.AUTH, "API_PERMISSION_DENIED", False),
        ("commentsDisabled", Code.NOT_FOUND, "COMMENTS_DISABLED", False),
        ("videoNotFound", Code.NOT_FOUND, "API_NOT_FOUND", False),
        ("playlistNotFound", Code.NOT_FOUND, "API_NOT_FOUND", False),
        ("playlistItemsNotAccessible", Code.NOT_ALLOWED, "VIDEO_RESTRICTED", False),
        ("invalidPageToken", Code.INVALID_INPUT, "API_INVALID_ARGUMENT", False),
    ],
)
async def test_a_documented_error_is_typed_and_not_asked_for_again(
    api, youtube, documented, code, category, retryable
):
    youtube.fail("commentThreads", documented)
    error = await refused(api)
    assert (error.code, error.category, error.retryable) == (code, category, retryable)
    assert error.hint
    assert len(youtube.requests) == 1
    if code is Code.AUTH:
        assert "YOUTUBE_API_KEY" in error.message + error.hint
        assert "https://console.cloud.google.com" in error.hint


@needs_client
async def test_the_quota_is_back_at_midnight_pacific(api, youtube):
    youtube.fail("commentThreads", "quotaExceeded")
    error = await refused(api)
    assert 0 < error.retry_after <= 25 * 3600
    youtube.fail("commentThreads", "rateLimitExceeded")
    assert (await refused(api)).retry_after == 60


@needs_client
async def test_a_server_that_stumbles_is_asked_again(api, youtube):
    youtube.fail("commentThreads", "backendError", "unavailable")
    found = await api.comments(ID, 10, lambda _count: None)
    assert len(found) == 1
    assert len(youtube.requests) == 3


@needs_client
async def test_a_server_that_stays_down_is_a_network_error(api, youtube):
    youtube.fail("commentThreads", *["unavailable"] * 5)
    error = await refused(api)
    assert (error.code, error.category, error.retryable) == (
        Code.UNAVAILABLE,
        "NETWORK_ERROR",
        True,
    )
    assert len(youtube.requests) == 3


@needs_client
async def test_nobody_there_is_a_network_error():
    assert (await refused(DataApi(SecretStr(KEY), "http://127.0.0.1:9", pause_s=0.01))).retryable


def test_the_key_that_is_refused_is_named():
    status, body = ERRORS["accessNotConfigured"]
    text = json.dumps(body).encode()
    assert "GEMINI_API_KEY" in error_of(status, text, borrowed=True).message
    assert "YOUTUBE_API_KEY" in error_of(status, text, borrowed=False).message


@pytest.mark.parametrize(
    "body", [b"", b"<html>", b"[]", b'{"error": 3}', b'{"error": {}}', b"\xff"]
)
@pytest.mark.parametrize(
    ("status", "code"),
    [
        (400, Code.INVALID_INPUT),
        (401, Code.AUTH),
        (403, Code.NOT_ALLOWED),
        (404, Code.NOT_FOUND),
        (429, Code.QUOTA),
        (502, Code.UNAVAILABLE),
    ],
)
def test_an_answer_without_reasons_is_judged_by_its_status(status, body, code):
    assert error_of(status, body, borrowed=False).code is code


@pytest.mark.parametrize(
    ("now", "seconds"),
    [
        ("2026-01-15T07:59:00", 60),  # UTC-8
        ("2026-01-15T08:00:00", 86_400),
        ("2026-07-15T06:00:00", 3600),  # UTC-7
        ("2026-03-08T08:00:00", 23 * 3600),  # the clocks go forward that day
        ("2026-11-01T07:00:00", 25 * 3600),
    ],
)
def test_seconds_until_midnight_pacific(now, seconds):
    assert until_midnight_pacific(datetime.fromisoformat(now).replace(tzinfo=UTC)) == seconds


@pytest.mark.parametrize(
    ("said", "category"),
    [
        ("Private video. Sign in if you've been granted access to this video", "VIDEO_PRIVATE"),
        ("This video is private", "VIDEO_PRIVATE"),
        ("Sign in to confirm your age. This video may be inappropriate", "VIDEO_RESTRICTED"),
        (
            "The uploader has not made this video available in your country\nUse a VPN",
            "VIDEO_RESTRICTED",
        ),
        ("Join this channel to get access to members-only content", "VIDEO_RESTRICTED"),
        ("Premieres in 3 hours", "VIDEO_RESTRICTED"),
        ("Sign in to confirm you\u2019re not a bot. This helps protect", "YOUTUBE_BLOCKED"),
        ("HTTP Error 429: Too Many Requests", "YOUTUBE_BLOCKED"),
        (
            "Video unavailable. This video has been removed by the uploader",
            "VIDEO_UNAVAILABLE",
        ),
        (
            "Video unavailable. This YouTube account has been terminated.",
            "VIDEO_UNAVAILABLE",
        ),
        ("Video unavailable", "VIDEO_UNAVAILABLE"),
        ("YouTube said: The playlist does not exist.", "API_NOT_FOUND"),
        ("Unable to download API page: HTTP Error 503: Service Unavailable", "NETWORK_ERROR"),
        ("Unable to download webpage: timed out", "NETWORK_ERROR"),
        ("Failed to resolve 'www.youtube.com'", "NETWORK_ERROR"),
    ],
)
def test_what_youtube_says_in_words(said, category):
    assert meaning_of(f"ERROR: [youtube] {ID}: {said}").category == category


def test_other_words_mean_nothing():
    assert meaning_of("ERROR: [youtube] unable to extract initial data") is None


@needs_client
async def test_many_calls_at_once_share_one_client(api, youtube):
    youtube.videos |= {f"video{n:06}": video(f"video{n:06}") for n in range(20)}
    found = await asyncio.gather(*(api.video(f"video{n:06}") for n in range(20)))
    assert [video.video_id for video in found] == [f"video{n:06}" for n in range(20)]
