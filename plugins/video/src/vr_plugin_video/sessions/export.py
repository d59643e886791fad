"""A whole conversation as a file to read or to process."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import Literal

from vr_kernel import Call, visible, visible_json

from vr_plugin_video.sessions.creation import summary_of
from vr_plugin_video.sessions.listing import SEE
from vr_plugin_video.sessions.models import SessionExport, utc
from vr_plugin_video.sessions.moments import moments_of
from vr_plugin_video.sessions.rows import Session, SessionTurn, owner_of
from vr_plugin_video.sessions.store import SessionStore

ExportFormat = Literal["md", "json"]
MIME: dict[ExportFormat, str] = {"md": "text/markdown", "json": "application/json"}
PREVIEW_CHARS = 1500
FRONT = '---\nkind: "SessionTranscripts"\nderived: "true"\n---\n\n'
"""Front matter that tells a reader of the file that it is not a source."""


async def export(call: Call, session_id: str, form: ExportFormat) -> SessionExport:
    """Write a conversation, expired or not, to a file.

    Raises:
        VrError: as `SessionStore.find`; UNAVAILABLE when the file cannot be written.
    """
    store = call.services.providers.get(SessionStore)
    session = await store.find(session_id, owner_of(call))
    turns = await store.turns(session)
    if len(turns) < session.turn_count:
        lost = session.turn_count - len(turns)
        call.note(f"Turns of this session that are damaged and left out: {lost}. {SEE}")
    text = await asyncio.to_thread(_written, store, session, turns, form)
    kept = await asyncio.to_thread(call.artifact, text.encode(), MIME[form])
    cut = len(text) > PREVIEW_CHARS
    return SessionExport(
        session_id=session.id,
        video_title=session.title,
        turn_count=len(turns),
        format=form,
        uri=kept.uri,
        path=str(kept.path),
        preview=text[:PREVIEW_CHARS] + ("…" if cut else ""),
    )


def _written(
    store: SessionStore, session: Session, turns: Sequence[SessionTurn], form: ExportFormat
) -> str:
    if form == "md":
        return visible(_as_markdown(session, turns))
    return visible_json(_as_json(store, session, turns))


def _as_markdown(session: Session, turns: Sequence[SessionTurn]) -> str:
    purpose = f"\n{session.description}\n" if session.description else ""
    head = f"{FRONT}# {session.title}\n\n{session.source}\n{purpose}"
    return head + "".join(_turn_as_markdown(session, turn) for turn in turns)


def _turn_as_markdown(session: Session, turn: SessionTurn) -> str:
    asked = "\n".join(f"> {line}".rstrip() for line in turn.prompt.splitlines())
    links = [f"[{m.time}](<{m.link}>)" for m in moments_of(turn.response, session)]
    moments = f"\nMoments: {', '.join(links)}\n" if links else ""
    made = f"{utc(turn.asked_at)}, {turn.model}"
    return f"\n## {turn.number}\n\n{asked}\n\n{turn.response}\n{moments}\n*{made}*\n"


def _as_json(store: SessionStore, session: Session, turns: Sequence[SessionTurn]) -> str:
    told = [
        {
            "turn": turn.number,
            "prompt": turn.prompt,
            "response": turn.response,
            "moments": [m.model_dump(mode="json") for m in moments_of(turn.response, session)],
            "model": turn.model,
            "asked_at": utc(turn.asked_at),
        }
        for turn in turns
    ]
    whole = {**summary_of(store, session).model_dump(mode="json"), "turns": told}
    return json.dumps(whole, ensure_ascii=False, indent=1)
