"""The error answers of the YouTube Data API, by the reasons that Google documents."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from vr_kernel import Code, VrError

from vr_plugin_video.youtube.errors import (
    comments_disabled,
    key_refused,
    network_failed,
    not_found,
    quota_exceeded,
    restricted,
    too_fast,
)

UNAUTHORIZED, FORBIDDEN, NOT_FOUND, TOO_MANY, SERVER_ERROR = 401, 403, 404, 429, 500
# https://developers.google.com/youtube/v3/docs/errors and
# https://cloud.google.com/service-infrastructure/docs/service-management/reference/rpc/google.api#errorreason
_DAILY = {"quotaExceeded", "dailyLimitExceeded", "dailyLimitExceededUnreg"}
_RATE = {"rateLimitExceeded", "userRateLimitExceeded", "RATE_LIMIT_EXCEEDED"}
_DISABLED = {"accessNotConfigured", "SERVICE_DISABLED"}
_KEY = {"keyInvalid", "keyExpired", "ipRefererBlocked", "authError", "required"}
_ABSENT = {"videoNotFound", "playlistNotFound", "commentThreadNotFound"}


def error_of(status: int, body: bytes, borrowed: bool) -> VrError:
    """The error that an answer stands for; `borrowed`: the key is that of Gemini."""
    reasons = set(_reasons(body))
    bad_key = any(reason.startswith("API_KEY_") for reason in reasons)
    if reasons & _DISABLED:
        error = key_refused(borrowed=borrowed, disabled=True)
    elif bad_key or reasons & _KEY or status == UNAUTHORIZED:
        error = key_refused(borrowed=borrowed, disabled=False)
    elif reasons & _DAILY:
        error = quota_exceeded()
    elif reasons & _RATE or status == TOO_MANY:
        error = too_fast()
    elif "commentsDisabled" in reasons:
        error = comments_disabled()
    elif reasons & _ABSENT or status == NOT_FOUND:
        error = not_found("such video or playlist")
    elif status >= SERVER_ERROR or "processingFailure" in reasons:
        error = network_failed(f"The YouTube Data API answered with status {status}.")
    elif status == FORBIDDEN:
        error = restricted("it is not open to everybody")
    else:
        error = _not_understood(status)
    return error


def _not_understood(status: int) -> VrError:
    return VrError(
        f"The YouTube Data API answered with status {status}.",
        Code.INVALID_INPUT,
        category="API_INVALID_ARGUMENT",
        hint="Check the address: open it in a browser.",
    )


def _reasons(body: bytes) -> Iterator[str]:
    """Every reason in an error answer: Google names them in two places."""
    try:
        error: Any = json.loads(body)["error"]
        for entry in (*error.get("errors", ()), *error.get("details", ())):
            if isinstance(entry.get("reason"), str):
                yield entry["reason"]
    except (ValueError, LookupError, TypeError, AttributeError):
        return
