"""The comments on a video, as a result: read by a model when asked, and cut to fit."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from pydantic import BaseModel, TypeAdapter
from vr_kernel import Call, VrError, cache_key
from vr_kernel.text import take_fitting, tokens_of

from vr_plugin_video.analyses.fitting import BRIEF_TOKENS
from vr_plugin_video.analyses.recording import is_recorded
from vr_plugin_video.reactions.reading import ROLE, read_reactions
from vr_plugin_video.reactions.records import reactions_record
from vr_plugin_video.record_kinds import REACTIONS
from vr_plugin_video.text.plain_text import clipped
from vr_plugin_video.youtube.addresses import watch_url
from vr_plugin_video.youtube.client import YouTube, youtube_of
from vr_plugin_video.youtube.models import Comment, Reactions, VideoComments

VERSION = 1
"""Raised when the prompt for the same comments changes."""
TEXT_TOKENS = 125
"""Tokens of one comment that an answer shows."""
SHOWN_TOKENS = BRIEF_TOKENS - 600
"""Tokens for the comments; the rest is for a model's reading of them."""


async def comments_of(call: Call, video_id: str, most: int, *, analyze: bool) -> VideoComments:
    """Return at most `most` top comments; with `analyze` also a model's reading of them.

    Raises:
        VrError: as `YouTube.comments`; with `analyze` AUTH or UNAVAILABLE when there is no
            model, before anything is fetched.
    """
    if analyze:
        call.services.models.identity(ROLE)

    def seen(count: int) -> None:
        call.progress(count, most, f"{count} comments")

    call.progress(0, most, "Asking YouTube")
    youtube = youtube_of(call.services)
    comments, engine = await youtube.comments(video_id, most, seen)
    result = VideoComments(
        video_id=video_id,
        url=watch_url(video_id),
        count=len(comments),
        comments=comments,
        engine=engine,
    )
    if analyze and comments:
        result = await _judged(call, youtube, result)
    return await asyncio.to_thread(_shortened, call, result)


class Judged(BaseModel):
    """A model's reading of comments, as it is cached."""

    reactions: Reactions
    model: str
    cached: bool = False


async def _judged(call: Call, youtube: YouTube, result: VideoComments) -> VideoComments:
    """Add a model's reading of the comments; equal comments are read and recorded once.

    Records that were deleted are written again.
    """
    key = await _key(call, result)

    async def record(own: Call, reactions: Reactions) -> None:
        title = await _title(youtube, result.video_id)
        own.record(reactions_record(result.video_id, result.url, title, result.count, reactions))

    call.progress(result.count, result.count, "A model is reading the comments")

    async def produce(shared: Call) -> Judged:
        reactions, model = await read_reactions(shared, result.comments)
        await record(shared, reactions)
        return Judged(reactions=reactions, model=model)

    kept = await call.services.cache.model(key, Judged).get()
    if kept is not None and not await _has_record(call, result.video_id):
        await record(call, kept.reactions)
    judged = await call.once(key, Judged, produce, content_id=result.video_id)
    return result.model_copy(update={"reactions": judged.reactions, "model": judged.model})


async def _has_record(call: Call, video_id: str) -> bool:
    key = call.services.kinds[REACTIONS].identify({"video_id": video_id})
    return await is_recorded(call, [(REACTIONS, key)])


async def _key(call: Call, result: VideoComments) -> str:
    """Return the key of a reading, without likes, which grow all the time and change little."""
    services = call.services
    return cache_key(
        result="reactions",
        version=VERSION,
        home=[services.workspace, await services.journal.home()],
        content=result.video_id,
        comments=[comment.text for comment in result.comments],
        answers=services.models.identity(ROLE),
    )


async def _title(youtube: YouTube, video_id: str) -> str:
    """Return the video's title; empty when it cannot be found out."""
    try:
        return (await youtube.describe(video_id)).title
    except VrError:
        return ""


def _shortened(call: Call, result: VideoComments) -> VideoComments:
    """Cut the comments to fit an answer, the most relevant first; all of them are in a file."""
    briefly = (
        comment.model_copy(update={"text": clipped(comment.text, TEXT_TOKENS)})
        for comment in result.comments
    )
    shown = take_fitting(briefly, SHOWN_TOKENS, lambda comment: tokens_of(comment) + 1)
    if shown == result.comments:
        return result
    uri, lost = _kept(call, result.comments)
    said = f"{len(shown)} of {result.count} comments are shown, long ones cut; {lost}"
    return result.model_copy(
        update={"comments": shown, "comments_uri": uri, "limits": [*result.limits, said]}
    )


def _kept(call: Call, comments: Sequence[Comment]) -> tuple[str, str]:
    """Keep all comments in a file; return its address, and a remark that says where the rest is."""
    try:
        content = TypeAdapter(list[Comment]).dump_json(list(comments), indent=1)
        return call.artifact(content, "application/json").uri, "comments_uri has all."
    except VrError as error:
        return "", f"the rest was not kept: {error.message} {error.hint}"
