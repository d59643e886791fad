"""Moments of a film: in links, and where a text about it names them before its words."""

from __future__ import annotations

import re
from collections.abc import Sequence

_MOMENT = re.compile(r"(?P<before>[#?&]t=)(?P<seconds>\d+(?:\.\d+)?)(?P<after>s?(?:$|[&#]))")
_CLOCK = re.compile(r"\W{0,4}(?:(\d{1,2}):)?(\d{1,3}):(\d\d)\b")
MINUTE_S = 60


def seconds_of(link: str) -> float | None:
    """The moment that a link opens, in seconds; None for one that opens no moment."""
    found = _MOMENT.search(link)
    return float(found["seconds"]) if found else None


def link_at_moment(text: str, quote: str, links: Sequence[str]) -> str:
    """A link to the moment at the beginning of the line in which a quote stands.

    Args:
        text: names moments as `[1:33]` or `1:02:03` where a line begins.
        quote: words of that text, their white space aside.
        links: into the film; one of them opens the moment, or is made to.

    Returns:
        the link; empty when the line names no moment, or no link opens one.
    """
    words = " ".join(quote.split())
    line = next((each for each in text.splitlines() if words in " ".join(each.split())), "")
    clock, placed = _CLOCK.match(line), [each for each in links if seconds_of(each) is not None]
    if not words or clock is None or not placed:
        return ""
    hours, minutes, rest = (int(each or 0) for each in clock.groups())
    seconds = (hours * MINUTE_S + minutes) * MINUTE_S + rest
    exact = next((each for each in placed if int(seconds_of(each) or 0) == seconds), "")
    return exact or _MOMENT.sub(rf"\g<before>{seconds}\g<after>", placed[0], count=1)
