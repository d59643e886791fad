"""Analyses to be shown, tame and hostile."""

from __future__ import annotations

from typing import Any

from vr_plugin_video.captions.transcripts import Segment
from vr_plugin_video.models import (
    ChapterPart,
    MeetingNotes,
    Moment,
    Scene,
    TranscriptSummary,
    VideoAnalysis,
)

ID = "dQw4w9WgXcQ"
WATCH = f"https://www.youtube.com/watch?v={ID}"
HOSTILE = (
    "<script>document.title=1</script>",
    "</script><script>document.title=1</script>",
    "</style><img src=x onerror=document.title=1>",
    '"><svg onload="document.title=1">',
    "' onmouseover='document.title=1' x='",
    "javascript:document.title=1",
    "{{script}} ${document.title=1} `\u2028\u2029",
    "<!--<script>",
    "&lt;b&gt; &amp; &#60;",
    "[00:47] <a href='javascript:document.title=1'>",
    "12:60 99:99:99 \udc00",
)


def analysis(text: str = "said", **other: Any) -> VideoAnalysis:
    """An analysis with that text in every field of text."""
    given = {
        "source": WATCH, "video_id": ID, "duration": 600.0, "engine": "gemini", "model": text,
        "title": text, "summary": f"{text}\n{text}", "key_points": [text], "topics": [text],
        "sentiment": text, "limits": [text],
        "timestamps": [
            Moment(time="01:33", seconds=93, description=text, quote=text, status="moved",
                   original_time=text),
        ],
        "chapters": [ChapterPart(start=0, end=600, title=f"Chapter {text}")],
        "slides": [Scene(start=5, end=9, title=text, text=f"{text}\nmore", thumbnail_uri=text)],
        "transcript": TranscriptSummary(origin=text, language=text, segments=1),
        "segments": [Segment(start=1, end=2, text=text, speaker=text)],
        "meeting": MeetingNotes(participants=[text], decisions=[text], action_items=[text]),
    }  # fmt: skip
    return VideoAnalysis.model_construct(**{**given, **other})
