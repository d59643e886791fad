"""Records of conversations: every turn, as an event."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vr_kernel import Record

from vr_plugin_video.record_kinds import TURNS

if TYPE_CHECKING:
    from vr_plugin_video.sessions.rows import Session, SessionTurn


def turn_record(session: Session, turn: SessionTurn) -> Record:
    """A turn as the event of the call that asked."""
    return Record(
        TURNS,
        {
            "session_id": session.id,
            "video_title": session.title,
            "turn_index": turn.number,
            "turn_prompt": turn.prompt,
            "turn_response": turn.response,
            "video_id": session.video_id,
            "source_url": session.source,
        },
    )
