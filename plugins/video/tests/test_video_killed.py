"""Tools of the video plugin that pay, killed again and again: nothing is paid twice."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from lecture import Lecture
from test_video_gemini import SEEN
from videokit import NO_SPEECH, NO_YOUTUBE, silence
from vr_testing.gemini.request import RecordedRequest
from vr_testing.killed_calls import KilledCalls, PaidCall
from youtube_server import KEY, FakeYouTube, thread, video

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(240),
    pytest.mark.skipif(os.name == "nt", reason="SIGKILL and fork are POSIX"),
]
ID = "dQw4w9WgXcQ"
WATCH = f"https://www.youtube.com/watch?v={ID}"
VIDEO = {"file_path": "{home}/lecture.mkv"}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """A video and a sound, both short."""
    folder = tmp_path_factory.mktemp("media")
    seen, heard = folder / "lecture.mkv", folder / "talk.wav"
    seen.write_bytes(Lecture((50.0, 50.0), size=(64, 36), fps=1, container="matroska").encode())
    heard.write_bytes(silence(10, 1000))
    return [seen, heard]


@pytest.fixture
def killed(tmp_path: Path, files: list[Path]) -> Iterator[KilledCalls]:
    with KilledCalls({"video": "vr_plugin_video.plugin"}, tmp_path, files) as calls:
        yield calls


def settings(**more: object) -> dict[str, object]:
    given = {**NO_YOUTUBE, **NO_SPEECH, **more}
    return {f"plugins.video.{name}": value for name, value in given.items()}


def watched(request: RecordedRequest, word: str) -> Mapping[str, Any]:
    """An analysis; the first one of each video does not fit."""
    return {**SEEN, "title": word} if "does not fit" in request.text else {"title": word}


def heard(_request: RecordedRequest, word: str) -> Mapping[str, Any]:
    """A transcript."""
    return {"language": "en", "lines": [{"time": "0:05", "speaker": "", "text": word}]}


CALLS = {
    "an analysis": PaidCall("video_analyze", VIDEO, watched, settings()),
    "an analysis in parts": PaidCall(
        "video_analyze",
        VIDEO,
        lambda _request, word: {**SEEN, "title": word},
        settings(longest_window_s=60),
        ordered=False,
    ),
    "a batch": PaidCall(
        "video_batch_analyze",
        {"directory": "{home}"},
        lambda _request, word: {**SEEN, "title": word},
        settings(),
        ordered=False,
    ),
    "a transcript": PaidCall(
        "video_transcript", {"file_path": "{home}/talk.wav"}, heard, settings()
    ),
    "a title": PaidCall(
        "video_create_session", {"url": WATCH}, lambda _request, word: word, settings()
    ),
    "a turn": PaidCall(
        "video_continue_session",
        {"session_id": "{session_id}", "prompt": "What is said?"},
        lambda _request, word: word,
        settings(),
        before=[("video_create_session", VIDEO)],
        resumed=True,
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_nothing_that_was_committed_is_paid_again(name: str, killed: KilledCalls) -> None:
    print(f"{killed.check(CALLS[name])} kills")  # noqa: T201


def test_no_reading_of_comments_is_paid_again(killed: KilledCalls) -> None:
    pytest.importorskip("googleapiclient", reason="google-api-python-client is not installed")
    judged = {
        "sentiment_positive": 6,
        "sentiment_negative": 3,
        "sentiment_neutral": 3,
        "themes_positive": [],
        "themes_critical": [],
    }
    comments = {ID: [thread(1), thread(2)]}
    with FakeYouTube(videos={ID: video(ID)}, threads=comments).running() as youtube:
        call = PaidCall(
            "video_comments",
            {"url": WATCH, "analyze": True},
            lambda _request, word: {**judged, "consensus": word},
            settings(youtube_api_endpoint=youtube.url, youtube_site=youtube.url),
            {"YOUTUBE_API_KEY": KEY},
        )
        print(f"{killed.check(call)} kills")  # noqa: T201
