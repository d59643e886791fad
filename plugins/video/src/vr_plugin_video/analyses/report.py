"""An analysis as a document to read."""

from __future__ import annotations

from collections.abc import Iterable

from vr_kernel import visible

from vr_plugin_video.captions.transcripts import markdown_link, render
from vr_plugin_video.models import Moment, VideoAnalysis
from vr_plugin_video.text.times import format_time

_VERDICTS = {
    "": "",
    "verified": "The quote was found at this time.",
    "moved": "Moved to where the quote was found",
    "not_found": "The quote was not found: take the time with care.",
    "unchecked": "Not checked: there was no text to look in.",
}
FRONT = '---\nkind: "VideoAnalyses"\nderived: "true"\n---\n\n'
"""Front matter that tells a reader of the file that it is not a source."""


def report_of(analysis: VideoAnalysis) -> str:
    """An analysis as Markdown."""
    chapters = (f"**{format_time(c.start)}** {c.title}" for c in analysis.chapters)
    sections = [
        ("Summary", analysis.summary),
        ("Key points", _bullets(analysis.key_points)),
        *_meeting(analysis),
        ("Topics", _bullets(analysis.topics)),
        ("Sentiment", analysis.sentiment),
        ("Chapters", _bullets(chapters)),
        ("Timestamps", _bullets(_moment(moment) for moment in analysis.timestamps)),
        ("Transcript", render(analysis.segments, "md")),
        ("Limits", _bullets(analysis.limits)),
    ]
    body = "\n\n".join(f"## {name}\n\n{text}" for name, text in sections if text)
    return visible(f"{FRONT}# {analysis.title}\n\n{analysis.source}\n\n{body}\n")


def verdict_of(moment: Moment) -> str:
    """Return the verdict on a moment's quote in words; empty when it was not checked."""
    verdict = _VERDICTS[moment.status]
    if moment.status != "moved":
        return verdict
    return verdict + (f"; the model said {moment.original_time}." if moment.original_time else ".")


def _moment(moment: Moment) -> str:
    time = markdown_link(moment.time, moment.link) if moment.link else moment.time
    quote = f"“{moment.quote}”" if moment.quote else ""
    checked = " ".join(part for part in (quote, verdict_of(moment)) if part)
    return f"**{time}** {moment.description}" + (f"\n  - {checked}" if checked else "")


def _meeting(analysis: VideoAnalysis) -> list[tuple[str, str]]:
    if analysis.meeting is None:
        return []
    parts = {
        "Participants": analysis.meeting.participants,
        "Decisions": analysis.meeting.decisions,
        "Action items": analysis.meeting.action_items,
    }
    return [(name, _bullets(items)) for name, items in parts.items()]


def _bullets(items: Iterable[str]) -> str:
    return "\n".join(f"- {item}" for item in items)
