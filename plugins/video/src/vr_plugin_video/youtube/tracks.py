"""The captions of a video at YouTube, and the choice among them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from vr_kernel import Code, VrError

from vr_plugin_video.captions.transcripts import Segment, Transcript

LISTED = 30
"""Most languages that a hint names."""


@dataclass(frozen=True, slots=True)
class Track:
    """Captions in one language, not fetched yet.

    Args:
        language: as YouTube names it, such as `en` or `pt-BR`.
        generated: recognised by YouTube, not written by a person.
        read: fetches them; blocks.
    """

    language: str
    generated: bool
    read: Callable[[], Sequence[Segment]]


def best_transcript(
    video_id: str, tracks: Sequence[Track], wanted: str, spoken: str = ""
) -> Transcript:
    """Return the captions in a language; blocks. Captions that a person wrote come first.

    Args:
        video_id: for the error.
        tracks: the available tracks.
        wanted: a language without a region; empty for the spoken one.
        spoken: the spoken language, when known; else that of the recognised speech is taken.

    Raises:
        VrError: NOT_FOUND, category CAPTIONS_MISSING, naming the available languages.
    """
    recognised = next((track.language for track in tracks if track.generated), "")
    meant = wanted or spoken or recognised
    fitting = [track for track in tracks if _base(track.language) == _base(meant)]
    if not fitting and not wanted:
        fitting = list(tracks)
    # Of several regions, the plain language comes first, then YouTube's order.
    best = min(fitting, key=lambda t: (t.generated, t.language != meant), default=None)
    if best is None:
        raise captions_missing(video_id, wanted, tracks)
    return Transcript(
        segments=tuple(_in_turn(best.read())),
        origin="captions",
        language=_base(best.language),
        notes=("YouTube recognised the words; nobody corrected them.",) if best.generated else (),
    )


def captions_missing(video_id: str, wanted: str, tracks: Sequence[Track] = ()) -> VrError:
    """The error for a video without captions, or without those in a language."""
    there = sorted({track.language for track in tracks})
    listed = f"There are: {', '.join(there[:LISTED])}." if there else ""
    return VrError(
        f"The video {video_id} has no captions{f' in {wanted!r}' if wanted and there else ''}.",
        Code.NOT_FOUND,
        category="CAPTIONS_MISSING",
        hint=listed or "A model can listen to it: set GEMINI_API_KEY.",
    )


def _base(language: str) -> str:
    return language.lower().partition("-")[0]


def _in_turn(segments: Sequence[Segment]) -> list[Segment]:
    """End each segment when the next begins, as YouTube shows lines for longer."""
    following = [*(s.start for s in segments[1:]), float("inf")]
    return [
        s.model_copy(update={"end": max(s.start, min(s.end, start))})
        for s, start in zip(segments, following, strict=True)
    ]
