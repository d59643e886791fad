"""Views of the results of tools about several videos, and about what people say of one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from vr_kernel import Services, View, view, visible_line
from vr_kernel.views import (
    Block,
    Cell,
    Item,
    Link,
    Prose,
    Records,
    Table,
    clock,
    shown_host,
    shown_instant,
)

from vr_plugin_video.views.parts import (
    bullets,
    counted,
    data,
    divided,
    facts,
    listed,
    prose,
)
from vr_plugin_video.views.places import name_of

if TYPE_CHECKING:
    from vr_plugin_video.batch.results import BatchVideoItem, BatchVideoResult
    from vr_plugin_video.youtube.models import PlaylistInfo, Reactions, VideoComments

ITEM_CHARS = 300
_AN_OUTLINE = re.compile(r"(?<=[.!?])\s+\[?(?=\d{1,3}:[0-5]\d)")
"""The place where an outline on the same line begins."""


@view(tool="video_batch_analyze")
async def show_batch(services: Services, batch: BatchVideoResult) -> View:
    """Each video of a batch with its summary, or why it has none."""
    del services
    counts = [
        (batch.ok, "watched"),
        (batch.failed, "failed"),
        (batch.skipped, "left out"),
        (batch.cached, "known before"),
    ]
    about = [counted(batch.total, "video"), *(f"{count} {what}" for count, what in counts if count)]
    items = [_video(item) for item in batch.items]
    return View(
        shown_host(batch.source),
        [
            Records(items, batch.total) if items else Records(()),
            *_estimate(batch),
            *_details(batch),
        ],
        about,
        batch.source,
        batch.limits,
    )


@view(tool="video_playlist")
async def show_playlist(services: Services, playlist: PlaylistInfo) -> View:
    """The videos of a playlist."""
    del services
    rows: list[list[Cell]] = [
        [
            item.position,
            Link(item.url, item.title or item.availability),
            item.channel if item.channel != playlist.channel else "",
            shown_instant(item.published_at),
        ]
        for item in playlist.items
    ]
    columns = ["", "Video", "Channel", "Published"]
    told = [at for at, _ in enumerate(columns) if any(row[at] for row in rows)]
    shown = [[row[at] for at in told] for row in rows]
    about = [playlist.channel, counted(playlist.total, "video")]
    return View(
        "Playlist" if playlist.title in playlist.url else playlist.title,
        [Table([columns[at] for at in told], shown, playlist.total)] if rows else [],
        [each for each in about if each],
        playlist.url,
        playlist.limits,
    )


@view(tool="video_comments")
async def show_comments(services: Services, found: VideoComments) -> View:
    """The opinions of viewers, where a model was asked, then the comments."""
    del services
    items = [
        Item(
            comment.author or "Somebody",
            comment.text,
            facts=[
                fact
                for fact in (
                    counted(comment.like_count, "like") if comment.like_count else "",
                    counted(comment.reply_count, "answer") if comment.reply_count else "",
                    shown_instant(comment.published_at),
                )
                if fact
            ],
        )
        for comment in found.comments
    ]
    read = f"read by {found.model}" if found.reactions and found.model else ""
    return View(
        f"Comments on {name_of(found.url)}",
        [
            *(_reactions(found.reactions) if found.reactions else ()),
            *([Records(items, found.count, title="Comments")] if items else ()),
        ],
        [each for each in (counted(found.count, "comment"), read) if each],
        found.url,
        found.limits,
    )


def _video(item: BatchVideoItem) -> Item:
    failed = f"{item.error.message} {item.error.hint}" if item.error else ""
    summary = divided(item.title, item.summary)[0] or item.summary
    text = visible_line(failed or _AN_OUTLINE.split(summary)[0], ITEM_CHARS)
    state = "known before" if item.cached else "" if item.status == "ok" else item.status
    name = item.title or name_of(item.source)
    facts_of = [fact for fact in (state, shown_host(item.source)) if fact]
    return Item(name, text, Link(item.source), facts_of)


def _estimate(batch: BatchVideoResult) -> list[Block]:
    """The work that would be paid, where only that was asked for."""
    planned = batch.estimate
    if not planned.files or batch.ok + batch.failed:
        return []
    unknown = f"{planned.unknown} not counted, as their length is not known"
    rows: list[tuple[str, Cell]] = [
        ("Videos to watch", planned.files),
        ("Length", clock(planned.seconds)),
        ("Tokens", planned.tokens_in),
        ("Unknown", unknown if planned.unknown else ""),
    ]
    return facts(rows, "Still to be paid")


def _details(batch: BatchVideoResult) -> Iterator[Block]:
    """Key points and results of another form, each below the name of its video."""
    for number, item in enumerate(batch.items, 1):
        heading = f"{number}. {item.title or name_of(item.source)}"
        if item.key_points:
            points = bullets(item.key_points)
            yield Prose(points, title=f"{heading}: key points", detail=True)
        if item.custom:
            yield data(f"{heading}: result", item.custom)


def _reactions(read: Reactions) -> list[Block]:
    shares: list[tuple[str, Cell]] = [
        ("Positive", f"{read.sentiment_positive:.0f} %"),
        ("Negative", f"{read.sentiment_negative:.0f} %"),
        ("Neutral", f"{read.sentiment_neutral:.0f} %"),
    ]
    return [
        *prose("Consensus", read.consensus),
        *facts(shares),
        *listed("Liked", read.themes_positive),
        *listed("Criticised", read.themes_critical),
    ]
