"""The error answers of the YouTube Data API, by the reasons that Google documents."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from vr_kernel import Code, ErrorRule, ErrorTable, VrError

from vr_plugin_video.youtube.errors import (
    COMMENTS_DISABLED,
    KEY_REFUSED,
    NETWORK_FAILED,
    NOT_FOUND,
    QUOTA_EXCEEDED,
    RATE_PAUSE_S,
    TOO_FAST,
    restricted,
    until_midnight_pacific,
)


def _reasons_like(*names: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\S)(?:{'|'.join(names)})(?!\S)")


_ANSWERED = "The YouTube Data API answered with status {status}."
# https://developers.google.com/youtube/v3/docs/errors and
# https://cloud.google.com/service-infrastructure/docs/service-management/reference/rpc/google.api#errorreason
_DAILY = replace(
    QUOTA_EXCEEDED,
    words=_reasons_like("quotaExceeded", "dailyLimitExceeded", "dailyLimitExceededUnreg"),
)
_RATE = replace(
    TOO_FAST,
    statuses={429},
    words=_reasons_like("rateLimitExceeded", "userRateLimitExceeded", "RATE_LIMIT_EXCEEDED"),
)
_ANSWERS = ErrorTable(
    replace(
        KEY_REFUSED,
        message="The YouTube Data API is not enabled for the project of the key in {key}.",
        words=_reasons_like("accessNotConfigured", "SERVICE_DISABLED"),
    ),
    replace(
        KEY_REFUSED,
        statuses={401},
        words=_reasons_like(
            r"API_KEY_\S*", "keyInvalid", "keyExpired", "ipRefererBlocked", "authError", "required"
        ),
    ),
    _DAILY,
    _RATE,
    replace(COMMENTS_DISABLED, words=_reasons_like("commentsDisabled")),
    replace(
        NOT_FOUND,
        statuses={404},
        words=_reasons_like("videoNotFound", "playlistNotFound", "commentThreadNotFound"),
    ),
    replace(
        NETWORK_FAILED,
        message=_ANSWERED,
        statuses=range(500, 1000),
        words=_reasons_like("processingFailure"),
    ),
    replace(restricted("it is not open to everybody"), statuses={403}),
    otherwise=ErrorRule(
        code=Code.INVALID_INPUT,
        message=_ANSWERED,
        category="API_INVALID_ARGUMENT",
        hint="Check the address: open it in a browser.",
    ),
)


def error_of(status: int, body: bytes, borrowed: bool) -> VrError:
    """Return the error that an answer stands for; `borrowed`: the key is that of Gemini."""
    reasons = " ".join(_reasons(body))
    rule = _ANSWERS.rule(status, reasons)
    wait = until_midnight_pacific() if rule is _DAILY else RATE_PAUSE_S if rule is _RATE else None
    key = "GEMINI_API_KEY" if borrowed else "YOUTUBE_API_KEY"
    return _ANSWERS.error(status, reasons, retry_after=wait, key=key)


def _reasons(body: bytes) -> Iterator[str]:
    """Every reason in an error answer: Google names them in two places."""
    try:
        error: Any = json.loads(body)["error"]
        for entry in (*error.get("errors", ()), *error.get("details", ())):
            if isinstance(entry.get("reason"), str):
                yield entry["reason"]
    except (ValueError, LookupError, TypeError, AttributeError):
        return
