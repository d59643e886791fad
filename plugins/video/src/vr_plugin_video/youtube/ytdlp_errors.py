"""Turns failures of yt-dlp into errors, by YouTube's own messages."""

from __future__ import annotations

import re
from dataclasses import replace

from vr_kernel import ErrorRule, ErrorTable, VrError

from vr_plugin_video.youtube.errors import (
    BLOCKED,
    COMMENTS_DISABLED,
    NETWORK_FAILED,
    NOT_FOUND,
    OUTDATED,
    PRIVATE,
    UNAVAILABLE,
    error_by,
    restricted,
)


def _said(rule: ErrorRule, pattern: str) -> ErrorRule:
    return replace(rule, words=re.compile(pattern, re.IGNORECASE))


_SENTENCES = ErrorTable(
    _said(BLOCKED, r"not a bot|captcha|HTTP Error 429|too many requests|po.?token"),
    _said(COMMENTS_DISABLED, r"comments are (turned off|disabled)"),
    _said(
        restricted("the viewer's age"), r"confirm your age|age.restricted|inappropriate for some"
    ),
    _said(
        restricted("the country"),
        r"in your (country|location|region)|available in .*vpn|geo.?restrict",
    ),
    _said(
        restricted("members or buyers"),
        r"members.only|join this channel|members on level|purchase|rental|premium",
    ),
    _said(restricted("it has not begun"), r"live event will begin|premieres in|is offline"),
    _said(PRIVATE, r"\bprivate\b"),
    _said(NOT_FOUND, r"does not exist|HTTP Error 404|incomplete youtube id"),
    _said(
        NETWORK_FAILED,
        r"HTTP Error 5|timed out|resol(ve|ution)|connection|unreachable|incomplete ?read|\bSSL\b",
    ),
    _said(
        UNAVAILABLE,
        r"no longer available|(removed|terminated|closed)\b|unavailable|(not|n.t) available",
    ),
    otherwise=OUTDATED,
)
"""Patterns of YouTube's messages in place of a video; the first match counts."""


def error_of(error: Exception) -> VrError:
    """Return the error for an exception of yt-dlp, without its message."""
    found = meaning_of(str(error))
    if found is None and isinstance(error, OSError):
        found = error_by(NETWORK_FAILED)
    return found or error_by(OUTDATED, library="yt-dlp")


def meaning_of(said: str) -> VrError | None:
    """Return the error for a message of YouTube; None when it is not known."""
    rule = _SENTENCES.rule(words=said)
    return None if rule is OUTDATED else error_by(rule)
