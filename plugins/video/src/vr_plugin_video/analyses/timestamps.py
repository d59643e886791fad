"""Checks a model's quotes against speech and text on screen, without asking a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from vr_kernel import Passage, QuoteIndex, VrError, find_in

from vr_plugin_video.analyses.prompt import SeenMoment
from vr_plugin_video.captions.transcripts import Segment
from vr_plugin_video.models import Moment
from vr_plugin_video.text.plain_text import one_line
from vr_plugin_video.text.times import format_time, parse_time

TOLERANCE_S = 20.0
"""Most seconds between the claimed time and a quote that counts as verified."""
DESCRIPTION_CHARS = 2000
QUOTE_CHARS = 500


@dataclass(frozen=True, slots=True)
class CheckedMoments:
    """Moments in order of time, and remarks on those that were corrected or left out."""

    moments: list[Moment]
    notes: list[str]


class QuoteCheck:
    """Looks quotes up in speech and in text on screen.

    Args:
        spoken: segments of speech, in order of time.
        shown: texts on screen, in order of time.
    """

    def __init__(self, spoken: Sequence[Segment], shown: Sequence[Segment]) -> None:
        self._indexes = [
            QuoteIndex([Passage(s.text, s.start, s.end) for s in segments], lasts=lasts)
            for segments, lasts in ((spoken, False), (shown, True))
            if segments
        ]

    def check(self, moment: Moment) -> Moment:
        """The moment with its status: `verified`, `moved`, `not_found` or `unchecked`.

        A quote that is said or shown at another time gets that time, and the claimed one is kept.
        A moment without a quote has no status.
        """
        if not moment.quote:
            return moment.model_copy(update={"status": ""})
        found = find_in(self._indexes, moment.quote, moment.seconds, TOLERANCE_S)
        changes: dict[str, object] = {"status": found.verdict}
        if found.verdict == "moved" and found.place is not None:
            changes |= {
                "seconds": found.place,
                "time": format_time(found.place),
                "original_time": moment.time,
            }
        return moment.model_copy(update=changes)


def claimed_moments(seen: Sequence[SeenMoment], start: float, end: float | None) -> CheckedMoments:
    """A model's moments with their claimed times; those without a time in the video are left out.

    Notes say which lie outside the video and which have an unreadable time.

    Args:
        seen: as the model reported them.
        start: where the watched part begins, in seconds.
        end: where it ends; not known when None.
    """
    moments, outside, unread = [], 0, 0
    for claim in seen:
        try:
            seconds = parse_time(claim.time.strip().strip("[]()"), "time")
        except VrError:
            unread += 1
            continue
        if seconds < start - TOLERANCE_S or (end is not None and seconds > end + TOLERANCE_S):
            outside += 1
            continue
        seconds = max(start, seconds if end is None else min(seconds, end))
        moments.append(
            Moment(
                time=format_time(seconds),
                seconds=seconds,
                description=one_line(claim.description, DESCRIPTION_CHARS),
                quote=one_line(claim.quote, QUOTE_CHARS),
            )
        )
    lost = ((outside, "outside the video"), (unread, "without a time that can be read"))
    notes = [
        f"{count} of {len(seen)} timestamps are left out: {why}." for count, why in lost if count
    ]
    return CheckedMoments(moments, notes)


def check_moments(
    moments: Sequence[Moment], spoken: Sequence[Segment], shown: Sequence[Segment]
) -> CheckedMoments:
    """The moments with their quotes looked up, in order of time."""
    check = QuoteCheck(spoken, shown)
    checked = sorted((check.check(moment) for moment in moments), key=lambda m: m.seconds)
    quoted = [moment for moment in checked if moment.quote]
    missing = sum(moment.status == "not_found" for moment in quoted)
    notes = []
    if missing:
        notes.append(f"{missing} of {len(quoted)} quotes were not found in what is known of it.")
    return CheckedMoments(checked, notes)
