"""A fake of YouTube on this machine: its Data API, its pages, its captions and its files."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

Json = dict[str, Any]
KEY = "AIzaSyFakeFakeFakeFakeFakeFakeFakeFake0"
"""A key that the fake takes, in the shape of a real one."""
WATCH_PAGE = b'<html><script>{"INNERTUBE_API_KEY":"web-key"}</script></html>'
LOST_PLAYER = {"playabilityStatus": {"status": "ERROR", "reason": "This video is unavailable"}}
LOST_INFO = {"error": "Video unavailable. This video has been removed by the uploader"}


def _error(
    code: int, reason: str, message: str, domain: str, status: str = "", info: str = ""
) -> tuple[int, Json]:
    """An error answer as Google documents it."""
    entry = {"message": message, "domain": domain, "reason": reason}
    error: Json = {"code": code, "message": message, "errors": [entry]}
    if status:
        error["status"] = status
    if info:
        kind = "type.googleapis.com/google.rpc.ErrorInfo"
        service = {"service": "youtube.googleapis.com"}
        error["details"] = [
            {"@type": kind, "reason": info, "domain": "googleapis.com", "metadata": service}
        ]
    return code, {"error": error}


ERRORS: dict[str, tuple[int, Json]] = {
    "quotaExceeded": _error(
        403,
        "quotaExceeded",
        "The request cannot be completed because you have exceeded your"
        ' <a href="/youtube/v3/getting-started#quota">quota</a>.',
        "youtube.quota",
    ),
    "rateLimitExceeded": _error(
        429,
        "rateLimitExceeded",
        "Quota exceeded for quota metric 'Queries' and limit 'Queries per minute per user'.",
        "global",
        "RESOURCE_EXHAUSTED",
        "RATE_LIMIT_EXCEEDED",
    ),
    "keyInvalid": _error(
        400,
        "badRequest",
        "API key not valid. Please pass a valid API key.",
        "global",
        "INVALID_ARGUMENT",
        "API_KEY_INVALID",
    ),
    "keyInvalidOld": _error(400, "keyInvalid", "Bad Request", "usageLimits"),
    "keyBlocked": _error(
        403,
        "forbidden",
        "Requests to this API youtube method youtube.api.v3.V3DataVideoService.List are blocked.",
        "global",
        "PERMISSION_DENIED",
        "API_KEY_SERVICE_BLOCKED",
    ),
    "accessNotConfigured": _error(
        403,
        "accessNotConfigured",
        "YouTube Data API v3 has not been used in project 42 before or it is disabled.",
        "usageLimits",
        "PERMISSION_DENIED",
        "SERVICE_DISABLED",
    ),
    "commentsDisabled": _error(
        403,
        "commentsDisabled",
        "The video identified by the <code>videoId</code> parameter has disabled comments.",
        "youtube.commentThread",
    ),
    "videoNotFound": _error(
        404,
        "videoNotFound",
        "The video identified by the <code>videoId</code> parameter could not be found.",
        "youtube.commentThread",
    ),
    "playlistNotFound": _error(
        404,
        "playlistNotFound",
        "The playlist identified with the request's <code>playlistId</code> parameter cannot be"
        " found.",
        "youtube.playlistItem",
    ),
    "playlistItemsNotAccessible": _error(
        403,
        "playlistItemsNotAccessible",
        "The request is not properly authorized to retrieve the specified playlist items.",
        "youtube.playlistItem",
    ),
    "invalidPageToken": _error(400, "invalidPageToken", "Invalid token.", "youtube.parameter"),
    "backendError": _error(500, "backendError", "Backend Error", "global", "INTERNAL"),
    "unavailable": _error(
        503, "backendError", "The service is currently unavailable.", "global", "UNAVAILABLE"
    ),
}


@dataclass(frozen=True)
class Request:
    """A request as it came."""

    path: str
    query: dict[str, str]


@dataclass
class FakeYouTube:
    """The contents of this YouTube, and the requests to it."""

    videos: dict[str, Json] = field(default_factory=dict)
    threads: dict[str, list[Json]] = field(default_factory=dict)
    items: dict[str, list[Json]] = field(default_factory=dict)
    players: dict[str, Json] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    infos: dict[str, Json] = field(default_factory=dict)
    pages: dict[str, Json] = field(default_factory=dict)
    media: dict[str, bytes] = field(default_factory=dict)
    failures: dict[str, list[str]] = field(default_factory=dict)
    requests: list[Request] = field(default_factory=list)
    page_status: int = 404
    begun: threading.Event = field(default_factory=threading.Event)
    gate: threading.Event = field(default_factory=threading.Event)
    url: str = ""

    def fail(self, resource: str, *errors: str) -> None:
        """Let the next requests of a resource fail, one error each."""
        self.failures.setdefault(resource, []).extend(errors)

    def asked(self, path: str) -> list[Request]:
        """The requests whose path ends like that."""
        return [request for request in self.requests if request.path.endswith(path)]

    @contextmanager
    def running(self) -> Iterator[FakeYouTube]:
        """Serve on a free port of this machine."""
        self.gate.set()
        server = _Server(("127.0.0.1", 0), _Handler)
        server.fake = self
        thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        self.url = f"http://127.0.0.1:{server.server_address[1]}"
        try:
            yield self
        finally:
            self.gate.set()
            server.shutdown()
            server.server_close()
            thread.join()

    def answer(self, path: str, query: dict[str, str], body: Json) -> tuple[int, bytes, str]:
        """Status, content and media type of what stands at a path."""
        folder, _, name = path.removeprefix("/").rpartition("/")
        status, found = 200, None
        if folder == "youtube/v3":
            status, found = self.api(name, query)
        elif folder == "youtubei/v1":
            found = self.players.get(body["videoId"], LOST_PLAYER)
        elif folder == "info":
            found = self.infos.get(name, LOST_INFO)
        elif path == "/oembed":
            shown = parse_qs(urlsplit(query["url"]).query)
            found = self.pages.get((shown.get("v") or shown["list"])[0])
        elif path == "/api/timedtext":
            return 200, self.texts[query["track"]].encode(), "text/plain; charset=utf-8"
        elif path == "/watch":
            return 200, WATCH_PAGE, "text/html; charset=utf-8"
        if found is None:
            return self.page_status, b"Not Found", "text/plain"
        return status, json.dumps(found).encode(), "application/json"

    def api(self, resource: str, query: dict[str, str]) -> tuple[int, Json]:
        """An answer of the Data API."""
        if self.failures.get(resource):
            return ERRORS[self.failures[resource].pop(0)]
        if query.get("key") != KEY:
            return ERRORS["keyInvalid"]
        answers: dict[str, Callable[[dict[str, str]], tuple[int, Json]]] = {
            "videos": lambda q: _listed(self.videos, q["id"]),
            "commentThreads": lambda q: self._page(self.threads, q, "videoId", "videoNotFound"),
            "playlistItems": lambda q: self._page(self.items, q, "playlistId", "playlistNotFound"),
        }
        return answers[resource](query)

    def _page(
        self, everything: dict[str, list[Json]], query: dict[str, str], name: str, absent: str
    ) -> tuple[int, Json]:
        if query[name] not in everything:
            return ERRORS[absent]
        token = query.get("pageToken", "P0")
        if not token.startswith("P"):
            return ERRORS["invalidPageToken"]
        items, first, size = everything[query[name]], int(token[1:]), int(query["maxResults"])
        page: Json = {
            "items": items[first : first + size],
            "pageInfo": {"totalResults": len(items), "resultsPerPage": size},
        }
        if first + size < len(items):
            page["nextPageToken"] = f"P{first + size}"
        return 200, page


def _listed(everything: dict[str, Json], name: str) -> tuple[int, Json]:
    items = [everything[name]] if name in everything else []
    return 200, {"items": items, "pageInfo": {"totalResults": len(items)}}


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    fake: FakeYouTube

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Report nothing, as clients that hang up are part of the tests."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def do_GET(self) -> None:
        self._serve({})

    def do_HEAD(self) -> None:
        self._serve({})

    def do_POST(self) -> None:
        self._serve(json.loads(self.rfile.read(int(self.headers["content-length"]))))

    def _serve(self, body: Json) -> None:
        parts, fake = urlsplit(self.path), self.server.fake
        query = {name: values[0] for name, values in parse_qs(parts.query).items()}
        fake.requests.append(Request(parts.path, query))
        if parts.path.startswith("/media/"):
            self._send_media(fake, fake.media[parts.path.removeprefix("/media/")])
            return
        status, content, mime = fake.answer(parts.path, query, body)
        self._head(status, len(content), mime)
        if self.command != "HEAD":
            self.wfile.write(content)

    def _send_media(self, fake: FakeYouTube, content: bytes) -> None:
        """The first half, and the rest when the gate is open."""
        self._head(200, len(content), "video/mp4")
        half = len(content) // 2
        self.wfile.write(content[:half])
        self.wfile.flush()
        fake.begun.set()
        fake.gate.wait(20)
        self.wfile.write(content[half:])

    def _head(self, status: int, size: int, mime: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", mime)
        self.send_header("Content-Length", str(size))
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - its name there
        """Log nothing."""


def video(video_id: str, **changes: Any) -> Json:
    """A video as `videos.list` gives it."""
    return {
        "kind": "youtube#video",
        "id": video_id,
        "snippet": {
            "publishedAt": "2024-02-29T12:00:00Z",
            "channelId": "UCabcdefghijklmnopqrstuv",
            "title": "Vector search from scratch",
            "description": "All of it.\n\n0:00 Why vectors\n1:30 - Flat index\n(12:05) Trees",
            "channelTitle": "Search School",
            "tags": ["search", "vectors"],
            "categoryId": "28",
            "liveBroadcastContent": "none",
            "defaultAudioLanguage": "en",
            "thumbnails": {
                "default": {"url": "https://i.ytimg.com/d.jpg", "width": 120, "height": 90},
                "maxres": {"url": "https://i.ytimg.com/m.jpg", "width": 1280, "height": 720},
            },
        },
        "contentDetails": {
            "duration": "PT1H2M3S",
            "caption": "true",
            "contentRating": {},
        },
        "statistics": {"viewCount": "1234567", "likeCount": "890", "commentCount": "12"},
        **changes,
    }


def thread(number: int, text: str = "") -> Json:
    """A comment as `commentThreads.list` gives it."""
    said = {
        "textDisplay": text or f"Comment {number}",
        "textOriginal": text or f"Comment {number}",
        "authorDisplayName": f"@viewer{number}",
        "likeCount": 1000 - number,
        "publishedAt": "2024-03-01T10:00:00Z",
    }
    top = {"kind": "youtube#comment", "id": f"c{number}", "snippet": said}
    return {
        "kind": "youtube#commentThread",
        "id": f"c{number}",
        "snippet": {"topLevelComment": top, "totalReplyCount": number % 3, "isPublic": True},
    }


def playlist_item(position: int, video_id: str, status: str = "public") -> Json:
    """An item of `playlistItems.list`; one that is not public has lost its owner and its date."""
    titles = {"private": "Private video", "privacyStatusUnspecified": "Deleted video"}
    snippet: Json = {
        "title": titles.get(status, f"Lecture {position + 1}"),
        "position": position,
        "resourceId": {"kind": "youtube#video", "videoId": video_id},
        "publishedAt": "2024-05-01T00:00:00Z",
    }
    details = {"videoId": video_id}
    if status in ("public", "unlisted"):
        snippet["videoOwnerChannelTitle"] = "Search School"
        details["videoPublishedAt"] = "2024-04-01T00:00:00Z"
    return {"snippet": snippet, "contentDetails": details, "status": {"privacyStatus": status}}


def player(*tracks: tuple[str, bool]) -> Json:
    """Return the player's list of captions: languages, and which of them were recognised."""
    listed = [
        {
            "baseUrl": f"https://www.youtube.com/api/timedtext?track={code}{'-asr' * asr}",
            "name": {"runs": [{"text": code}]},
            "languageCode": code,
            **({"kind": "asr"} if asr else {}),
        }
        for code, asr in tracks
    ]
    return {
        "playabilityStatus": {"status": "OK"},
        "captions": {"playerCaptionsTracklistRenderer": {"captionTracks": listed}},
    }
