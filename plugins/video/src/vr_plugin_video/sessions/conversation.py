"""One turn of a conversation: asked with the earlier turns, kept, and never paid twice."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from vr_kernel import Call, ModelInfo, Part, Reply, Text, Turn, VrError, estimate_tokens

from vr_plugin_video.analyses.local_engine import LocalEngine
from vr_plugin_video.analyses.prompt import SYSTEM
from vr_plugin_video.analyses.vision_models import ROLE, ask_in_turn, watches
from vr_plugin_video.sessions.context import context_of, watching_models
from vr_plugin_video.sessions.export import FRONT
from vr_plugin_video.sessions.models import SessionResponse
from vr_plugin_video.sessions.moments import moments_of
from vr_plugin_video.sessions.opening import Opening, described, watched
from vr_plugin_video.sessions.records import turn_record
from vr_plugin_video.sessions.rows import Session, SessionTurn, owner_of
from vr_plugin_video.sessions.store import SessionStore
from vr_plugin_video.sessions.video import reopened
from vr_plugin_video.settings import VideoSettings
from vr_plugin_video.task import VideoTask
from vr_plugin_video.text.plain_text import clipped
from vr_plugin_video.text.times import Window

GUIDE = (
    "This is a conversation about the video. Answer what is asked last, as briefly as it allows."
    " Name the time of each moment that you speak of as mm:ss, or h:mm:ss from one hour on."
)
RESPONSE_TOKENS = 6_000
"""Tokens of the longest answer that is returned as it is; a longer one is kept as a file."""


async def take_turn(call: Call, session_id: str, prompt: str) -> SessionResponse:
    """Ask a model within a session, after the turns that came before.

    Raises:
        VrError: as `SessionStore.live`, `watching_models` and `reopened`; what the model raises.
    """
    store = call.services.providers.get(SessionStore)
    session = await store.find(session_id, owner_of(call))
    async with _in_order(call, store, session.id):
        found = await call.step("turn", lambda: _asked(call, store, session.id, prompt))
        reply, limits = Reply.model_validate(found["reply"]), list(found["limits"])
        turn = SessionTurn(
            session_id=session.id,
            number=found["turn"],
            call_id=call.id,
            prompt=prompt,
            response=reply.text,
            model=reply.model,
            asked_at=store.clock(),
        )
        turn = await _kept(store, session, turn, limits)
    call.record(turn_record(session, turn))
    response, uri = await asyncio.to_thread(_fitted, call, turn.response, limits)
    return SessionResponse(
        response=response,
        turn_count=turn.number,
        video_title=session.title,
        model=reply.model,
        moments=moments_of(turn.response, session),
        cached_context=found["cached"],
        usage=reply.usage,
        response_uri=uri,
        limits=limits,
    )


def history_of(
    session: Session, turns: Sequence[SessionTurn], video: Sequence[Part | str], prompt: str
) -> tuple[list[Turn], list[Any]]:
    """Return the earlier turns and the new prompt; the video comes first."""
    purpose = session.description and f"What the conversation is for: {session.description}"
    shown = [Text(part) if isinstance(part, str) else part for part in video]
    opening = (*shown, Text(f"{GUIDE} {purpose}".strip()))
    said = [
        turn
        for kept in turns
        for turn in (Turn("user", (Text(kept.prompt),)), Turn("model", (Text(kept.response),)))
    ]
    if not said:
        return [], [*opening, prompt]
    return [Turn("user", (*opening, *said[0].parts)), *said[1:]], [prompt]


def last_turns(turns: Sequence[SessionTurn], room: int | None) -> Sequence[SessionTurn]:
    """The last turns that have room; all where it is not bounded."""
    if room is None:
        return turns
    for number, turn in enumerate(reversed(turns)):
        room -= estimate_tokens(turn.prompt) + estimate_tokens(turn.response)
        if room < 0:
            return turns[len(turns) - number :]
    return turns


def _unseen(session: Session, turns: Sequence[SessionTurn]) -> Iterator[str]:
    """A remark when the model does not see all turns."""
    if session.turn_count > len(turns):
        yield f"The model saw the last {len(turns)} of {session.turn_count} turns."


@asynccontextmanager
async def _in_order(call: Call, store: SessionStore, session_id: str) -> AsyncIterator[None]:
    """Wait until the turns before this one have ended, in this process and in others."""
    held = call.services.leases.held(
        f"video/session/{session_id}",
        # Without leases, turns of several processes may be out of order; none is lost. A retryable
        # error is raised: another process hangs in the middle of its writes.
        without=lambda error: not error.retryable,
        waiting=lambda: call.progress(0, 100, "Waiting for an earlier turn of this session"),
    )
    async with store.order(session_id), held:
        yield


async def _asked(call: Call, store: SessionStore, session_id: str, prompt: str) -> dict[str, Any]:
    """Ask the model, and return its reply as it is committed."""
    services = call.services
    watching_models(services)
    await store.require_room()
    session = await store.live(session_id, owner_of(call))
    settings: VideoSettings = services.settings
    turns = await store.turns(session, settings.session_max_turns)
    call.progress(10, 100, "A model is looking at the video")
    async with reopened(services, session) as (source, remarks):
        task = services.providers.get(LocalEngine).task(call, source, Window(), use_cache=True)
        reply, cached, limits = await _answered(task, session, turns, prompt)
    return {
        "reply": reply.model_dump(mode="json"),
        "turn": session.turn_count + 1,
        "cached": cached,
        "limits": [*remarks, *limits],
    }


async def _answered(
    task: VideoTask, session: Session, turns: Sequence[SessionTurn], prompt: str
) -> tuple[Reply, bool, list[str]]:
    """The reply, whether the video came from a context cache, and remarks.

    When the models that watch fail, those are asked that are given pictures and words.
    """

    async def watch() -> tuple[Reply, bool, list[str]]:
        opening = await watched(task, session.duration)
        reply, cached = await _put(task, session, turns, opening, prompt)
        return reply, cached, [*_unseen(session, turns)]

    async def read(model: ModelInfo) -> tuple[Reply, bool, list[str]]:
        opening = await described(task, model)
        kept = last_turns(turns, opening.room)
        reply, _ = await _put(task, session, kept, opening, prompt)
        return reply, False, [*opening.limits, *_unseen(session, kept)]

    return await ask_in_turn(task, watch if watches(task) else None, read)


async def _put(
    task: VideoTask, session: Session, turns: Sequence[SessionTurn], opening: Opening, prompt: str
) -> tuple[Reply, bool]:
    services = task.services
    context = "" if opening.media is None else await context_of(services, opening.media)
    history, said = history_of(session, turns, opening.parts, prompt)
    reply = await services.models.generate(
        said,
        role=ROLE,
        history=history,
        system=SYSTEM,
        cached_content=context,
        model=opening.model,
    )
    return reply, bool(context) and reply.usage.cached_tokens > 0


async def _kept(
    store: SessionStore, session: Session, turn: SessionTurn, limits: list[str]
) -> SessionTurn:
    """Save a turn and number it; it is returned even when it cannot be saved, as it is paid for."""
    try:
        turn = await store.append(session, turn)
    except VrError as error:
        limits.append(f"This turn was not kept in the session: {error.message} {error.hint}")
    else:
        if store.has_pending:
            limits.append("This turn is held in memory until it can be written.")
    return turn


def _fitted(call: Call, response: str, limits: list[str]) -> tuple[str, str]:
    """Cut an answer to fit, and return the address of the whole; blocks."""
    short = clipped(response, RESPONSE_TOKENS)
    if short == response:
        return response, ""
    try:
        return short, call.artifact((FRONT + response).encode(), "text/markdown").uri
    except VrError as error:
        limits.append(f"The answer was cut: {error.message} {error.hint}")
        return short, ""
