"""Creates a session: the video is probed, uploaded and cached, and the session saved."""

from __future__ import annotations

import os
from contextlib import suppress

from pydantic import BaseModel
from vr_kernel import Call, Code, Media, VrError, cache_key

from vr_plugin_video.analyses.analysis import damage
from vr_plugin_video.analyses.local_engine import LocalEngine
from vr_plugin_video.analyses.prompt import SYSTEM
from vr_plugin_video.analyses.vision_models import ROLE
from vr_plugin_video.sessions.context import cache_state, context_of, gemini_model, watching_models
from vr_plugin_video.sessions.models import SessionInfo, SessionStatus, SessionSummary, utc
from vr_plugin_video.sessions.opening import opening_of
from vr_plugin_video.sessions.rows import Session
from vr_plugin_video.sessions.store import SessionStore
from vr_plugin_video.sources import Source, check_source, open_source
from vr_plugin_video.task import VideoTask
from vr_plugin_video.text.plain_text import one_line
from vr_plugin_video.text.times import Window
from vr_plugin_video.youtube.addresses import watch_url

ID_LENGTH = 12
TITLE_CHARS = 200
TITLE_TASK = "Give the title of this video, or one that fits it: a few words, and nothing else."
GLANCE_S = 60.0
QUOTES = " \n\"'\u201c\u201d"
INLINE_BYTES = 20_000_000
"""Smaller files travel with each request; larger ones are uploaded once."""


async def create(
    call: Call, url: str | None, file_path: str | None, description: str, *, download: bool
) -> SessionInfo:
    """Begin a conversation about the video that exactly one of `url` and `file_path` names.

    Raises:
        VrError: as `open_source`; as `watching_models`, before anything is fetched; for a file that
            is not media; as `opening_of`; UNAVAILABLE, category STATE_UNAVAILABLE, before anything
            is paid, when no session could be saved; what the service says of an upload.
    """
    services = call.services
    await check_source(services, url, file_path)
    watching_models(services)
    store = services.providers.get(SessionStore)
    async with open_source(services, url, file_path, download=download) as source:
        task = services.providers.get(LocalEngine).task(call, source, Window(), use_cache=True)
        probed = await task.media()
        opening = await opening_of(task, probed.duration)
        await store.check()
        await services.journal.check()
        name = ""
        if opening.media is not None:
            services.models.require(ROLE, opening.media)
            await _upload(call, opening.media)
            name = await context_of(services, opening.media)
        title = await _title(task, probed.title)
        session = await _session(call, source, description, store.clock())
        session = session._replace(title=title, duration=probed.duration)
    session = await store.add(session)
    summary = summary_of(store, session, "created")
    told = [*damage(probed, partial=not probed.complete), *task.limits, *opening.limits]
    return SessionInfo(
        **summary.model_dump(),
        cache=cache_state(services, opening.media, name),
        limits=list(dict.fromkeys(told)),
    )


def summary_of(
    store: SessionStore, session: Session, status: SessionStatus | None = None
) -> SessionSummary:
    """A session as its owner sees it."""
    return SessionSummary(
        session_id=session.id,
        status=status or ("expired" if store.is_expired(session) else "active"),
        video_title=session.title,
        source=session.source,
        description=session.description,
        turn_count=session.turn_count,
        created_at=utc(session.created_at),
        last_active=utc(session.last_active),
        expires_at=utc(store.expires_at(session)),
    )


async def _upload(call: Call, media: Media) -> None:
    """Bring a large file to the service now, so that the first turn need not wait for it."""
    services = call.services
    if media.file is None or os.fstat(media.file.fileno()).st_size <= INLINE_BYTES:
        return
    if gemini_model(services):
        await services.gemini.upload(media, call.progress)


async def _title(task: VideoTask, title: str) -> str:
    """Return the title that the file or YouTube gives; else one by a model, or the file's name."""
    source = task.source
    at_youtube = source.url == watch_url(source.video_id)
    if at_youtube and not source.at_youtube:
        with suppress(VrError):
            title = (await task.youtube.describe(source.video_id)).title
    if at_youtube and not title:
        title = await _named(task)
    return one_line(title, TITLE_CHARS) or source.name


class Named(BaseModel):
    """A title that a model gave, as it is cached."""

    title: str


async def _named(task: VideoTask) -> str:
    """Have a model give a title after watching the beginning; empty when it gives none."""
    beginning = Media.youtube(task.source.video_id, end=GLANCE_S, resolution="low")
    call = task.work.call

    async def produce(own: Call) -> Named:
        reply = await own.services.models.generate(
            [beginning, TITLE_TASK], role=ROLE, system=SYSTEM, thinking="minimal"
        )
        return Named(title=reply.text.strip(QUOTES))

    try:
        answers = call.services.models.identity(ROLE, thinking="minimal")
        home = call.workspace
        key = cache_key(
            what="title", home=home, video=task.source.video_id, task=TITLE_TASK, **answers
        )
        named = await call.once(key, Named, produce, content_id=task.source.video_id)
    except VrError as error:
        if error.code is Code.CONFLICT:  # another process took over the work
            raise
        return ""
    task.limits.append("YouTube told no title: a model gave it one by its beginning.")
    return named.title


async def _session(call: Call, source: Source, description: str, now: float) -> Session:
    at_youtube = source.at_youtube
    path = "" if at_youtube else str(source.path)
    digest = "" if at_youtube else await call.services.digests.sha256(source.file)
    return Session(
        # The call's own id, so that a call resumed after a crash makes only one session.
        id=call.id[:ID_LENGTH],
        principal=call.services.identity.mark,
        workspace=call.workspace,
        video_id=source.video_id,
        title=source.name,
        address="" if source.url == path else source.url,
        path=path,
        digest=digest,
        duration=0.0,
        description=description.strip(),
        created_at=now,
        last_active=now,
    )
