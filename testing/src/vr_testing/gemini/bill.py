"""The cost of requests and answers in tokens: deterministic, and close to the service's count."""

from __future__ import annotations

import base64
import math
from collections.abc import Callable, Iterable, Mapping
from importlib.resources import files
from typing import Any

from vr_kernel.generation import Usage
from vr_kernel.spending.prices import PriceTable

from vr_testing.gemini.request import look_up
from vr_testing.service.bill import json_tokens, text_tokens

TOKENS_PER_FRAME = 258
"""Tokens of an image or a second of video, as the service documents it; 66 at low resolution."""
TOKENS_PER_LOW_FRAME = 66
AUDIO_TOKENS_PER_SECOND = 32
"""Those of them that are sound."""
BYTES_PER_SECOND = 125_000
"""Bytes of a second of a file of unknown length: one megabit a second is assumed."""
SECONDS_OF_ADDRESS = 60
"""Assumed seconds of a video at a URL, when no end is given."""
THINKING_TOKENS = {"": 0, "MINIMAL": 0, "LOW": 16, "MEDIUM": 64, "HIGH": 256}

SizeOf = Callable[[str], int | None]
"""Bytes of an uploaded file by its URL, None for any other URL."""


def google_prices() -> PriceTable:
    """The prices by which the service bills: those of the kernel's list."""
    return PriceTable((files("vr_kernel.gemini") / "prices.json").read_text("utf-8"))


def part_tokens(parts: Iterable[Mapping[str, Any]], size_of: SizeOf) -> int:
    """Tokens of the parts of a request."""
    return sum(
        text_tokens(part["text"]) if "text" in part else _other_tokens(part, size_of)
        for part in parts
    )


def audio_tokens(parts: Iterable[Mapping[str, Any]], size_of: SizeOf) -> int:
    """Those tokens of the parts of a request that are sound."""
    return sum(_sound_tokens(part, size_of) for part in parts if _media(part))


def _sound_tokens(part: Mapping[str, Any], size_of: SizeOf) -> int:
    if _mime(part).startswith("audio/"):
        return _media_tokens(part, size_of)
    if not _mime(part).startswith("video/"):
        return 0
    return min(
        _media_tokens(part, size_of),
        math.ceil(_seconds_of(part, size_of)) * AUDIO_TOKENS_PER_SECOND,
    )


def _other_tokens(part: Mapping[str, Any], size_of: SizeOf) -> int:
    called = look_up(part, "functionCall") or look_up(part, "functionResponse")
    return json_tokens(called) if called else _media_tokens(part, size_of)


def _media_tokens(part: Mapping[str, Any], size_of: SizeOf) -> int:
    frame = TOKENS_PER_LOW_FRAME if _is_low(part) else TOKENS_PER_FRAME
    if _mime(part).startswith("image/"):
        return frame
    fps = float(look_up(look_up(part, "videoMetadata") or {}, "fps") or 1.0)
    return max(1, math.ceil(_seconds_of(part, size_of) * fps)) * frame


def _media(part: Mapping[str, Any]) -> Mapping[str, Any]:
    found: Mapping[str, Any] = look_up(part, "fileData") or look_up(part, "inlineData") or {}
    return found


def _mime(part: Mapping[str, Any]) -> str:
    return str(look_up(_media(part), "mimeType", ""))


def _seconds_of(part: Mapping[str, Any], size_of: SizeOf) -> float:
    """The length of the part of a medium that is asked about."""
    metadata = look_up(part, "videoMetadata") or {}
    start = _seconds(look_up(metadata, "startOffset")) or 0.0
    end = _seconds(look_up(metadata, "endOffset")) or _length(_media(part), size_of)
    return max(0.0, end - start)


def _is_low(part: Mapping[str, Any]) -> bool:
    resolution = look_up(part, "mediaResolution", "")
    return str(look_up(resolution, "level", resolution)).upper().endswith("LOW")


def _length(media: Mapping[str, Any], size_of: SizeOf) -> float:
    """The assumed duration of a file, in seconds."""
    if data := look_up(media, "data"):
        size: int | None = len(base64.b64decode(data, altchars=b"-_"))
    else:
        size = size_of(str(look_up(media, "fileUri", "")))
    return SECONDS_OF_ADDRESS if size is None else size / BYTES_PER_SECOND


def _seconds(value: Any) -> float | None:
    return float(str(value).removesuffix("s")) if value else None


def usage_metadata(usage: Usage) -> dict[str, Any]:
    """The usage of an answer as the service sends it; the cached tokens are part of the prompt."""
    counts = {
        "promptTokenCount": usage.input_tokens,
        "candidatesTokenCount": usage.output_tokens,
        "thoughtsTokenCount": usage.thinking_tokens,
        "cachedContentTokenCount": usage.cached_tokens,
    }
    total = usage.input_tokens + usage.output_tokens + usage.thinking_tokens
    shown: dict[str, Any] = {name: count for name, count in counts.items() if count}
    shown |= _sound("promptTokensDetails", usage.audio_tokens + usage.cached_audio_tokens)
    shown |= _sound("cacheTokensDetails", usage.cached_audio_tokens)
    return {"promptTokenCount": usage.input_tokens, **shown, "totalTokenCount": total}


def _sound(name: str, tokens: int) -> dict[str, Any]:
    return {name: [{"modality": "AUDIO", "tokenCount": tokens}]} if tokens else {}
