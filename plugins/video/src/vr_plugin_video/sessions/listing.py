"""The sessions of a principal, page by page."""

from __future__ import annotations

import math

from vr_kernel import Call, Code, VrError

from vr_plugin_video.sessions.creation import summary_of
from vr_plugin_video.sessions.models import SessionList
from vr_plugin_video.sessions.rows import PageStart, owner_of
from vr_plugin_video.sessions.store import SessionStore

SEE = "The log names them, and so does `vr doctor`."
"""The places that name a damaged row."""


async def list_sessions(call: Call, limit: int, cursor: str | None) -> SessionList:
    """The caller's sessions, the last active first.

    Raises:
        VrError: INVALID_INPUT, category CURSOR_INVALID; UNAVAILABLE.
    """
    store = call.services.providers.get(SessionStore)
    found = await store.page(owner_of(call), limit + 1, read_cursor(cursor) if cursor else None)
    if store.left_out:
        call.note(f"Damaged rows that are left out: {store.left_out}. {SEE}")
    page = found[:limit]
    more = len(found) > limit
    return SessionList(
        sessions=[summary_of(store, session) for session in page],
        next_cursor=f"{page[-1].last_active!r}-{page[-1].id}" if more else None,
    )


def read_cursor(cursor: str) -> PageStart:
    """Read where the next page begins.

    Raises:
        VrError: INVALID_INPUT, category CURSOR_INVALID.
    """
    moment, _, session_id = cursor.rpartition("-")
    try:
        place = PageStart(float(moment), session_id)
    except ValueError:
        place = PageStart(math.nan, "")
    if math.isnan(place.last_active):
        raise VrError(
            "The cursor does not come from this tool.",
            Code.INVALID_INPUT,
            category="CURSOR_INVALID",
            hint="Give next_cursor of the page before.",
        )
    return place
