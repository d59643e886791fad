"""The times that an answer names, as links that open the video there."""

from __future__ import annotations

import re
from pathlib import Path

from vr_plugin_video.sessions.models import SessionMoment
from vr_plugin_video.sessions.rows import Session
from vr_plugin_video.text.times import SLACK_S, format_time, parse_time

MOST = 40
"""Most moments listed for an answer; one that names more is a list of chapters."""
MOST_CHARS = 200_000
"""Characters of an answer that are searched: a model may write millions, and searching blocks."""
_TIME = re.compile(r"(?<![\d:.,])(?:\d{1,2}:[0-5]\d:[0-5]\d|\d{1,3}:[0-5]\d)(?![\d:])")


def moments_of(text: str, session: Session) -> list[SessionMoment]:
    """Return each time that a text names, once, in the order of the text.

    A time outside the video is left out: it is a time of day, or wrong.
    """
    end = session.duration + SLACK_S if session.duration else float("inf")
    named = dict.fromkeys(_TIME.findall(text[:MOST_CHARS]))
    times = (parse_time(time, "time") for time in named)
    seconds = list(dict.fromkeys(moment for moment in times if moment <= end))
    return [
        SessionMoment(time=format_time(moment), seconds=moment, link=link(session, moment))
        for moment in seconds[:MOST]
    ]


def link(session: Session, seconds: float) -> str:
    """An address that opens the session's video at that time."""
    whole = max(0, int(seconds))
    if session.from_youtube:
        return f"{session.address}&t={whole}s"
    return f"{session.address or Path(session.path).as_uri()}#t={whole}"
