"""Errors of YouTube, which say what to do and never hold a key."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone, tzinfo

from vr_kernel import Code, VrError, extra_missing

KEY_HINT = (
    "Make a key at https://console.cloud.google.com/apis/credentials, enable the YouTube Data"
    " API v3 for its project, and set YOUTUBE_API_KEY."
)
INSTALL = "pip install 'video-research[youtube]'"
_KEYLESS = f"Without a key: {INSTALL}."
RATE_PAUSE_S = 60.0


def no_key() -> VrError:
    """The error for a missing key, where nothing works without one."""
    return VrError(
        "YouTube cannot be asked without a key.",
        Code.AUTH,
        category="API_PERMISSION_DENIED",
        hint=f"{KEY_HINT} {_KEYLESS}",
    )


def key_refused(*, borrowed: bool, disabled: bool) -> VrError:
    """The error for a key that is refused, or whose project has the API `disabled`."""
    name = "GEMINI_API_KEY" if borrowed else "YOUTUBE_API_KEY"
    why = "is not enabled for the project of" if disabled else "refuses"
    return VrError(
        f"The YouTube Data API {why} the key in {name}.",
        Code.AUTH,
        category="API_PERMISSION_DENIED",
        hint=KEY_HINT,
    )


def quota_exceeded() -> VrError:
    """The error for a used up quota; YouTube's day begins at midnight Pacific time."""
    return VrError(
        "The YouTube Data API's quota of today is used up.",
        Code.QUOTA,
        category="API_QUOTA_EXCEEDED",
        hint="It is filled up at midnight Pacific time; a key of another project has its own.",
        retryable=True,
        retry_after=until_midnight_pacific(),
    )


def too_fast() -> VrError:
    """The error for too many requests in a minute."""
    return VrError(
        "The YouTube Data API is asked too often at the moment.",
        Code.QUOTA,
        category="API_QUOTA_EXCEEDED",
        hint="Try again in a minute.",
        retryable=True,
        retry_after=RATE_PAUSE_S,
    )


def blocked() -> VrError:
    """The error for a machine that YouTube takes for a robot."""
    return VrError(
        "YouTube does not answer this machine without a sign-in.",
        Code.UNAVAILABLE,
        category="YOUTUBE_BLOCKED",
        hint="It often refuses the networks of cloud services and busy machines; try again"
        " later, or from another network.",
        retryable=True,
    )


def outdated(what: str) -> VrError:
    """The error for a library that does not understand YouTube any more."""
    return VrError(
        f"{what} could not read what YouTube sent.",
        Code.UNAVAILABLE,
        category="YOUTUBE_CHANGED",
        hint=f"YouTube changes often: pip install --upgrade {what}",
    )


def network_failed(why: str = "YouTube cannot be reached.") -> VrError:
    """The error for a failure of the network or of YouTube itself."""
    return VrError(
        why,
        Code.UNAVAILABLE,
        category="NETWORK_ERROR",
        hint="Check the connection, then try again.",
        retryable=True,
    )


def not_found(what: str) -> VrError:
    """The error for a video or playlist that YouTube does not have, or shows to nobody."""
    return VrError(
        f"YouTube has no {what}.",
        Code.NOT_FOUND,
        category="API_NOT_FOUND",
        hint="It was removed, is private, or the address is mistyped: open it in a browser.",
    )


def unavailable() -> VrError:
    """The error for a video that was removed."""
    return VrError(
        "The video is not available any more.",
        Code.UNAVAILABLE,
        category="VIDEO_UNAVAILABLE",
        hint="It was removed, or its channel was closed.",
    )


def private() -> VrError:
    """The error for a video that only invited people may see."""
    return VrError(
        "The video or playlist is private.",
        Code.NOT_ALLOWED,
        category="VIDEO_PRIVATE",
        hint="Its owner can make it public or unlisted.",
    )


def restricted(why: str) -> VrError:
    """The error for a video that is not open to everybody."""
    return VrError(
        f"YouTube restricts it: {why}.",
        Code.NOT_ALLOWED,
        category="VIDEO_RESTRICTED",
        hint="Save the video yourself and give file_path, or take another one.",
    )


def comments_disabled() -> VrError:
    """The error for a video whose comments are turned off."""
    return VrError(
        "Comments are turned off for this video.",
        Code.NOT_FOUND,
        category="COMMENTS_DISABLED",
        hint="video_metadata and video_transcript still work.",
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
        # Windows brings no time zones; in summer this waits an hour too long.
        return timezone(timedelta(hours=-8))
