"""Errors of YouTube, which say what to do and never hold a key."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone, tzinfo

from vr_kernel import Code, ErrorRule, ErrorTable, VrError, extra_missing

KEY_HINT = (
    "Make a key at https://console.cloud.google.com/apis/credentials, enable the YouTube Data"
    " API v3 for its project, and set YOUTUBE_API_KEY."
)
INSTALL = "pip install 'video-research[youtube]'"
_KEYLESS = f"Without a key: {INSTALL}."
RATE_PAUSE_S = 60.0


KEY_REFUSED = ErrorRule(
    code=Code.AUTH,
    message="The YouTube Data API refuses the key in {key}.",
    category="API_PERMISSION_DENIED",
    hint=KEY_HINT,
)
QUOTA_EXCEEDED = ErrorRule(
    code=Code.QUOTA,
    message="The YouTube Data API's quota of today is used up.",
    category="API_QUOTA_EXCEEDED",
    hint="It is filled up at midnight Pacific time; a key of another project has its own.",
    retryable=True,
)
TOO_FAST = ErrorRule(
    code=Code.QUOTA,
    message="The YouTube Data API is asked too often at the moment.",
    category="API_QUOTA_EXCEEDED",
    hint="Try again in a minute.",
    retryable=True,
)
BLOCKED = ErrorRule(
    code=Code.UNAVAILABLE,
    message="YouTube does not answer this machine without a sign-in.",
    category="YOUTUBE_BLOCKED",
    hint="It often refuses the networks of cloud services and busy machines; try again"
    " later, or from another network.",
    retryable=True,
)
OUTDATED = ErrorRule(
    code=Code.UNAVAILABLE,
    message="{library} could not read what YouTube sent.",
    category="YOUTUBE_CHANGED",
    hint="YouTube changes often: pip install --upgrade {library}",
)
NETWORK_FAILED = ErrorRule(
    code=Code.UNAVAILABLE,
    message="YouTube cannot be reached.",
    category="NETWORK_ERROR",
    hint="Check the connection, then try again.",
    retryable=True,
)
NOT_FOUND = ErrorRule(
    code=Code.NOT_FOUND,
    message="YouTube has no such video or playlist.",
    category="API_NOT_FOUND",
    hint="It was removed, is private, or the address is mistyped: open it in a browser.",
)
UNAVAILABLE = ErrorRule(
    code=Code.UNAVAILABLE,
    message="The video is not available any more.",
    category="VIDEO_UNAVAILABLE",
    hint="It was removed, or its channel was closed.",
)
PRIVATE = ErrorRule(
    code=Code.NOT_ALLOWED,
    message="The video or playlist is private.",
    category="VIDEO_PRIVATE",
    hint="Its owner can make it public or unlisted.",
)
RESTRICTED = ErrorRule(
    code=Code.NOT_ALLOWED,
    message="YouTube restricts it: {why}.",
    category="VIDEO_RESTRICTED",
    hint="Save the video yourself and give file_path, or take another one.",
)
COMMENTS_DISABLED = ErrorRule(
    code=Code.NOT_FOUND,
    message="Comments are turned off for this video.",
    category="COMMENTS_DISABLED",
    hint="video_metadata and video_transcript still work.",
)


def restricted(why: str) -> ErrorRule:
    """The rule for a video that is not open to everybody."""
    return replace(RESTRICTED, message=RESTRICTED.message.format(why=why))


def error_by(rule: ErrorRule, library: str = "") -> VrError:
    """Make the error of a rule; some messages name a library."""
    return ErrorTable(otherwise=rule).error(library=library)


def no_key() -> VrError:
    """The error for a missing key, where a key is required."""
    return VrError(
        "YouTube cannot be asked without a key.",
        Code.AUTH,
        category="API_PERMISSION_DENIED",
        hint=f"{KEY_HINT} {_KEYLESS}",
    )


def not_installed(what: str) -> VrError:
    """The error for a library of the extra `youtube` that is not installed."""
    return extra_missing(f"{what} is not installed.", INSTALL)


def until_midnight_pacific(now: datetime | None = None) -> float:
    """Seconds until the day changes in Los Angeles, at least one."""
    here = now or datetime.now(UTC)
    local = here.astimezone(_pacific())
    tomorrow = (local + timedelta(days=1)).replace(hour=0, minute=0, second=0, microsecond=0)
    return max(1.0, round((tomorrow.astimezone(here.tzinfo) - here).total_seconds()))


def _pacific() -> tzinfo:
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

    try:
        return ZoneInfo("America/Los_Angeles")
    except ZoneInfoNotFoundError:
        # Windows has no time zone data; in summer this waits an hour too long.
        return timezone(timedelta(hours=-8))
