"""Errors of sessions that cannot be used."""

from __future__ import annotations

from vr_kernel import Code, VrError
from vr_kernel.storage import DAMAGED

from vr_plugin_video.sessions.rows import Session

SECONDS_PER_HOUR = 3600.0


def expired(session: Session, timeout_s: float) -> VrError:
    """Return the error of a session in which nothing was asked for that many seconds."""
    where = f"url={session.address!r}" if session.address else f"file_path={session.path!r}"
    return VrError(
        f"Session {session.id} expired: nothing was asked for"
        f" {timeout_s / SECONDS_PER_HOUR:g} hours.",
        Code.NOT_FOUND,
        category="SESSION_EXPIRED",
        hint=f"Begin a new one: video_create_session({where}). What was said is in"
        " video_export_session; session_timeout_hours in [plugins.video] sets the time.",
    )


def unknown() -> VrError:
    """Return the error of a session that there is not, or that belongs to others."""
    return VrError(
        "There is no such session.",
        Code.NOT_FOUND,
        category="SESSION_UNKNOWN",
        hint="video_list_sessions names yours; video_create_session begins one.",
    )


def damaged(key: str) -> VrError:
    """Return the error of a damaged row."""
    return VrError(
        f"A row of the sessions is damaged and cannot be used: {key}.",
        Code.UNAVAILABLE,
        category=DAMAGED,
        hint="All others are there. To have it again, restore the state from a backup.",
    )
