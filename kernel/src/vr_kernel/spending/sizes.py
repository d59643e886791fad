"""The tokens of a request before it is sent: about how many, and how many at most."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from vr_kernel.generation import Media, Part, Request, Text, ToolCall, ToolResult

if TYPE_CHECKING:
    from vr_kernel.items.pictures import Picture

BYTES_PER_TOKEN = 4
"""About that many bytes of UTF-8 make a token; no tokenizer makes more tokens than bytes."""
AROUND = 16
"""Most tokens around a turn or a part."""
FRAMES_PER_SECOND = 1.0
"""Frames of a second that a model looks at, unless it is told otherwise."""
FRAME, MOST_FRAME = 258, 300
"""Tokens of a frame, and the most. Source: Gemini API, "Media resolution": 280 at high."""
LOW_FRAME = 70
SOUND, MOST_SOUND = 32, 40
"""Tokens of a second of sound, and of its time stamps. Source: Gemini API, "Tokens"."""
PICTURE, MOST_PICTURE = 1_100, 6_000
"""Tokens of a picture; the makers' pages name 258 to 4,784 for the largest."""
DOCUMENT = 5_000
"""Tokens of a PDF of ten pages, as nothing is known of its length."""
MOST_SEARCHES = 10
"""Most searches of the web for one answer; services tell no bound, and few answers take more."""
UNKNOWN_SECONDS = 600.0
"""Assumed length of media when it is not known."""


@dataclass(frozen=True, slots=True)
class Size:
    """The tokens of a request.

    Args:
        expected: about how many.
        most: at most so many; None when nothing bounds them.
        heard: whether some may be sound, which can have a price of its own.
        searches: of the web for its answer, at most.
    """

    expected: int = 0
    most: int | None = None
    heard: bool = False
    searches: int = 0


def size_of(request: Request, window: int, picture: int = 0) -> Size:
    """The size of a request to a model.

    Args:
        request: as it is sent.
        window: of the model; 0 when it is not known.
        picture: most tokens that a picture takes; 0 for as many as with most models.
    """
    words = [request.system, *(json.dumps(tool.identity) for tool in request.tools)]
    words += [json.dumps(request.schema)] if request.schema else []
    parts = [part for turn in request.turns for part in turn.parts]
    media = media_of(request)
    words += [_words(part) for part in parts]
    read = sum(len(text.encode("utf-8", "replace")) for text in words)
    expected = read / BYTES_PER_TOKEN + sum(map(_expected, media))
    found = request.search or request.url_context or request.cached_content
    most = None if found else _most(media, picture or MOST_PICTURE)
    if most is not None:
        most += read + AROUND * (len(request.turns) + len(parts) + len(request.tools) + 1)
    bounded = min((tokens for tokens in (most, window) if tokens), default=None)
    heard = any(each.kind in _HEARD for each in media) or bool(request.cached_content)
    return Size(math.ceil(expected), bounded, heard, MOST_SEARCHES if request.search else 0)


def size_of_content(content: Media, window: int) -> Size:
    """The size of a medium that a service keeps; at most what a model takes."""
    return Size(math.ceil(_expected(content)), window or None, heard=True)


def media_of(request: Request) -> list[Media]:
    """The media of a request."""
    parts = (part for turn in request.turns for part in turn.parts)
    return [part for part in parts if isinstance(part, Media)]


def size_of_items(items: Iterable[str | Picture]) -> Size:
    """The size of items that are embedded together."""
    texts, pictures = [], 0
    for item in items:
        if isinstance(item, str):
            texts.append(len(item.encode("utf-8", "replace")))
        else:
            pictures += 1
    expected = sum(texts) / BYTES_PER_TOKEN + pictures * PICTURE
    most = sum(texts) + pictures * MOST_PICTURE + AROUND * (len(texts) + pictures)
    return Size(math.ceil(expected), most)


_HEARD = ("audio", "video", "youtube")


def _words(part: Part) -> str:
    if isinstance(part, Text):
        return part.text
    if isinstance(part, ToolResult):
        return part.content
    return json.dumps(part.identity) if isinstance(part, ToolCall) else ""


def _expected(media: Media) -> float:
    if media.kind == "image":
        return PICTURE
    if media.kind not in _HEARD:
        return DOCUMENT
    frame = LOW_FRAME if media.resolution == "low" else FRAME
    return (media.seconds or UNKNOWN_SECONDS) * (_frames(media) * frame + SOUND)


def _most(media: Sequence[Media], picture: int) -> int | None:
    """The most tokens of media; None when one of them has no known length."""
    most = 0.0
    for each in media:
        if each.kind == "image":
            most += picture
        elif each.kind in _HEARD and each.seconds:
            most += (each.seconds + 1) * (_frames(each) * MOST_FRAME + MOST_SOUND)
        else:
            return None
    return math.ceil(most)


def _frames(media: Media) -> float:
    if media.kind == "audio":
        return 0.0
    return media.fps or FRAMES_PER_SECOND
