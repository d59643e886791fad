"""An analysis as one HTML file that opens from the disk and needs no network."""

from __future__ import annotations

import base64
import hashlib
from datetime import date
from importlib.resources import files

from vr_plugin_video.models import VideoAnalysis
from vr_plugin_video.page import sections
from vr_plugin_video.page.album import Album
from vr_plugin_video.page.markup import Html, element, joined
from vr_plugin_video.page.player import Player
from vr_plugin_video.text.times import Window, format_time

_MAKERS = {"local": "the local engine", "gemini": "Gemini", "model": "a model"}
_ORIGINS = {
    "sidecar": "captions beside the file",
    "embedded": "captions in the file",
    "captions": "captions at YouTube",
    "speech": "speech recognition",
    "model": "a model that listened",
}


def as_page(
    analysis: VideoAnalysis, window: Window, player: Player, album: Album, today: date
) -> str:
    """The page; texts are escaped, and its content security policy allows only its own script."""
    here = files(__package__)
    style, script = (here.joinpath(name).read_text("utf-8") for name in ("page.css", "page.js"))
    link, said = player.source.link, analysis.transcript
    parts = {
        "policy": joined(_policy(player, style, script)),
        "title": joined(analysis.title or analysis.source),
        "style": style,
        "about": _about(analysis, window, player, today),
        "layout": _layout(analysis, player),
        "duration": str(_span(analysis)),
        "player": player.element(),
        "language": joined(said.language if said else ""),
        "transcript": sections.transcript(analysis, link),
        "article": joined(
            sections.overview(analysis, link),
            sections.moments(analysis, link),
            sections.slides(analysis, link, album),
            sections.limits(analysis),
        ),
        "script": script,
    }
    page = here.joinpath("page.html").read_text("utf-8")
    before, *rest = page.split("{{")
    pieces = (piece.partition("}}") for piece in rest)
    return before + "".join(parts[name] + after for name, _, after in pieces)


def _policy(player: Player, style: str, script: str) -> str:
    media = f" media-src {player.policy};" if player.policy else ""
    return (
        f"default-src 'none'; img-src data:;{media} style-src {_allowed(style)};"
        f" script-src {_allowed(script)}; base-uri 'none'; form-action 'none'"
    )


def _allowed(text: str) -> str:
    """Return the source expression by which a content security policy allows exactly this text."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _about(analysis: VideoAnalysis, window: Window, player: Player, today: date) -> Html:
    by = f" ({analysis.model})" if analysis.model else ""
    end = "the end" if window.end is None else format_time(window.end)
    said = analysis.transcript
    facts = [
        format_time(analysis.duration) if analysis.duration else "",
        "" if window.is_whole else f"only {format_time(window.start)} to {end}",
        f"watched by {_MAKERS[analysis.engine]}{by}",
        f"words from {_ORIGINS.get(said.origin, said.origin)}" if said else "",
        f"mood: {analysis.sentiment}" if analysis.sentiment else "",
    ]
    home = element("a", analysis.source, href=player.home)
    day = element("time", today.isoformat())
    return joined(home, *(f" · {fact}" for fact in facts if fact), " · exported on ", day)


def _layout(analysis: VideoAnalysis, player: Player) -> str:
    """CSS classes for the parts that are missing."""
    silent, still = not analysis.segments, not player.addresses
    return " ".join(name for name, holds in (("silent", silent), ("still", still)) if holds)


def _span(analysis: VideoAnalysis) -> float:
    """Length of the timeline in seconds; if the duration is unknown, up to the last known time."""
    parts = (analysis.chapters, analysis.slides, analysis.segments)
    ends = [max((each.end for each in part), default=0.0) for part in parts]
    return max(
        [analysis.duration or 0.0, *ends, *(moment.seconds for moment in analysis.timestamps)]
    )
