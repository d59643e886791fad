"""An analysis as a document to read."""

from __future__ import annotations

from vr_plugin_video.models import VideoAnalysis
from vr_plugin_video.speech.transcripts import render


def report_of(analysis: VideoAnalysis) -> str:
    """An analysis as Markdown."""
    points = "\n".join(f"- {point}" for point in analysis.key_points)
    moments = "\n".join(f"- **{m.time}** {m.description}" for m in analysis.timestamps)
    limits = "\n".join(f"- {limit}" for limit in analysis.limits)
    sections = [
        ("Summary", analysis.summary),
        ("Key points", points),
        *_meeting(analysis),
        ("Timestamps", moments),
        ("Transcript", render(analysis.segments, "md")),
        ("Limits", limits),
    ]
    body = "\n\n".join(f"## {name}\n\n{text}" for name, text in sections if text)
    return f"# {analysis.title}\n\n{analysis.source}\n\n{body}\n"


def _meeting(analysis: VideoAnalysis) -> list[tuple[str, str]]:
    if analysis.meeting is None:
        return []
    parts = {
        "Participants": analysis.meeting.participants,
        "Decisions": analysis.meeting.decisions,
        "Action items": analysis.meeting.action_items,
    }
    return [(name, "\n".join(f"- {item}" for item in items)) for name, items in parts.items()]
