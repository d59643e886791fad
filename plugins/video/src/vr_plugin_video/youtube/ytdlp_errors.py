"""Failures of yt-dlp, told by YouTube's own words, as errors."""

from __future__ import annotations

import re
from collections.abc import Callable

from vr_kernel import VrError

from vr_plugin_video.youtube.errors import (
    blocked,
    comments_disabled,
    network_failed,
    not_found,
    outdated,
    private,
    restricted,
    unavailable,
)

# What YouTube shows in place of a video; the first that is found counts.
_MEANINGS: tuple[tuple[str, Callable[[], VrError]], ...] = (
    (r"not a bot|captcha|HTTP Error 429|too many requests|po.?token", blocked),
    (r"comments are (turned off|disabled)", comments_disabled),
    (
        r"confirm your age|age.restricted|inappropriate for some",
        lambda: restricted("the viewer's age"),
    ),
    (
        r"in your (country|location|region)|available in .*vpn|geo.?restrict",
        lambda: restricted("the country"),
    ),
    (
        r"members.only|join this channel|members on level|purchase|rental|premium",
        lambda: restricted("members or buyers"),
    ),
    (r"live event will begin|premieres in|is offline", lambda: restricted("it has not begun")),
    (r"\bprivate\b", private),
    (
        r"does not exist|HTTP Error 404|incomplete youtube id",
        lambda: not_found("such video or playlist"),
    ),
    (
        r"HTTP Error 5|timed out|resol(ve|ution)|connection|unreachable|incomplete ?read|\bSSL\b",
        network_failed,
    ),
    (
        r"no longer available|(removed|terminated|closed)\b|unavailable|(not|n.t) available",
        unavailable,
    ),
)


def error_of(error: Exception) -> VrError:
    """Return the error for an exception of yt-dlp, without its words."""
    found = meaning_of(str(error))
    if found is None and isinstance(error, OSError):
        found = network_failed()
    return found or outdated("yt-dlp")


def meaning_of(said: str) -> VrError | None:
    """Return the error that a sentence of YouTube stands for; None when it is not known."""
    for pattern, make in _MEANINGS:
        if re.search(pattern, said, re.IGNORECASE):
            return make()
    return None
