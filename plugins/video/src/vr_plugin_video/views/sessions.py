"""Views of the results of tools about sessions."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from vr_kernel import Services, View, view, visible_line
from vr_kernel.views import (
    MORE,
    Block,
    Cell,
    Code,
    File,
    Link,
    Moment,
    Moments,
    Table,
    shown_instant,
)

from vr_plugin_video.text.times import parse_time
from vr_plugin_video.views.parts import counted, facts, prose
from vr_plugin_video.views.places import name_of

if TYPE_CHECKING:
    from vr_plugin_video.sessions.models import (
        SessionExport,
        SessionInfo,
        SessionList,
        SessionMoment,
        SessionResponse,
    )

_CLOCK = re.compile(r"\d{1,3}:[0-5]\d(?::[0-5]\d)?")
LINE_CHARS = 160
ID_CHARS = 8
"""Characters of an id in a list; they are enough to name it."""


@view(tool="video_create_session")
async def show_session(services: Services, session: SessionInfo) -> View:
    """A session that was begun, and the id by which questions are asked."""
    del services
    rows: list[tuple[str, Cell]] = [
        ("Session", session.session_id),
        ("Ends", f"{shown_instant(session.expires_at)}, unless something is asked before"),
        ("Context cache", session.cache),
    ]
    title = session.video_title or name_of(session.source)
    blocks = [*facts(rows), *prose("", session.description)]
    return View(title, blocks, [session.status], session.source, session.limits)


@view(tool="video_continue_session")
async def show_answer(services: Services, answer: SessionResponse) -> View:
    """An answer, and the times that it names."""
    del services
    times = [
        Moment(it.seconds, _line_with(answer.response, it), None, it.link) for it in answer.moments
    ]
    blocks: list[Block] = [*prose("", answer.response)]
    if times:
        blocks.append(Moments(times, title="Times in the answer", detail=True))
    if answer.response_uri:
        blocks.append(File(answer.response_uri, title="The whole answer"))
    about = [f"turn {answer.turn_count}", answer.model]
    return View(
        answer.video_title or "Answer", blocks, [it for it in about if it], notes=answer.limits
    )


@view(tool="video_list_sessions")
async def show_sessions(services: Services, sessions: SessionList) -> View:
    """The sessions, the last active first."""
    del services
    rows: list[list[Cell]] = [
        [
            it.session_id[:ID_CHARS],
            Link(it.source, it.video_title or name_of(it.source)),
            it.turn_count,
            it.status,
            shown_instant(it.last_active),
            visible_line(it.description, LINE_CHARS),
        ]
        for it in sessions.sessions
    ]
    columns = ["Session", "Video", "Turns", "State", "Last active", "For"]
    if not any(row[-1] for row in rows):
        columns, rows = columns[:-1], [row[:-1] for row in rows]
    shown: list[Block] = [Table(columns, rows)] if rows else [*prose("", "No sessions.")]
    more = [MORE] if sessions.next_cursor else []
    return View("Sessions", shown, notes=more)


@view(tool="video_export_session")
async def show_exported_session(services: Services, export: SessionExport) -> View:
    """The file of a conversation, and how it begins."""
    del services
    blocks: list[Block] = [File(export.uri)]
    preview = "markdown" if export.format == "md" else export.format
    blocks.append(Code(export.preview, preview, title="It begins", detail=True))
    about = [counted(export.turn_count, "turn"), export.format]
    return View(export.video_title or "Session", blocks, about)


def _line_with(text: str, moment: SessionMoment) -> str:
    """The line of an answer that names a time."""
    named = (line for line in text.split("\n") if moment.seconds in _times_in(line))
    found = next(named, "")
    return visible_line(found.strip("#*->• \t"), LINE_CHARS)


def _times_in(line: str) -> list[float]:
    return [parse_time(found, "time") for found in _CLOCK.findall(line)]
