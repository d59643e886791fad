"""All views of the plugin."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from vr_plugin_video.views import lists, records, results, sessions

VIEWS: tuple[Callable[..., Any], ...] = (
    results.show_analysis,
    results.show_transcript,
    results.show_scenes,
    results.show_clip,
    results.show_export,
    results.show_video,
    lists.show_batch,
    lists.show_playlist,
    lists.show_comments,
    sessions.show_session,
    sessions.show_answer,
    sessions.show_sessions,
    sessions.show_exported_session,
    records.show_analyses,
    records.show_segments,
    records.show_notes,
    records.show_metadata,
    records.show_reactions,
    records.show_turns,
)
