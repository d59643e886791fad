"""Transitions in samples of a recording: still, moving, still again."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

from vr_plugin_video.vision.likeness import differ, difference

if TYPE_CHECKING:
    from vr_plugin_video.vision.likeness import Gray, Mask

SHARE = 0.005
"""A picture is another one when more than this share of it differs (measured on talks)."""
DRIFT = 0.05
"""The same for a picture that changed too slowly to be seen from one sample to the next."""
HOLD_S = 1.0
"""Seconds; a picture that stays for less is a flash, or a part of a transition."""
NEARLY = 0.9
"""Tolerance in seconds, as samples are rarely exactly a second apart."""
REVERT_S = 2.0
"""Seconds within which a return to the previous picture makes a picture an interruption."""
MOTION_S = 6.0
"""Seconds; a picture that moves for longer than any transition is film."""
EARLY = 0.45
"""A fade is timed when this share of it is done: near its middle, from either end."""
CUT = 0.2
"""A cut in film changes at least this share of the picture,"""
SHARP = 4.0
"""and this many times more than a frame usually changes there."""


class Transition(NamedTuple):
    """A change somewhere between two samples, in seconds.

    `cut` asks for a sharp change, since the picture moves anyway; `reverts` says that the picture
    before the previous transition is back; `counted` masks the pixels that count.
    """

    before: float
    after: float
    counted: Mask | None
    cut: bool = False
    reverts: bool = False


class TransitionDetector:
    """Follows samples in order of time and collects transitions in `found`."""

    def __init__(self) -> None:
        self.found: list[Transition] = []
        self._still: Gray | None = None
        self._earlier: Gray | None = None
        self._last: tuple[float, Gray] | None = None
        self._moving: list[tuple[float, float, float]] = []

    def see(self, time: float, gray: Gray, counted: Mask | None) -> None:
        """Take the next sample."""
        if self._last is None or self._still is None:
            self._drift(time, time, gray, counted)
            self._still = gray if self._still is None else self._still
        else:
            before, last = self._last
            change = difference(last, gray, counted)
            if change > SHARE:
                self._moving.append((before, time, change))
            elif self._moving:
                if time - self._moving[-1][1] >= HOLD_S * NEARLY:
                    self._settle(gray, counted)
            else:
                self._drift(before, time, gray, counted)
        self._last = (time, gray)

    def leave(self, counted: Mask | None, *, at_end: bool) -> None:
        """End a stretch; what follows is like its last sample, unless the video ends there."""
        if self._moving and self._last is not None:
            if not at_end:
                self._settle(self._last[1], counted)
            elif self._is_film():
                self._keep_cuts(counted)
        self._moving = []
        self._last = None

    def _settle(self, gray: Gray, counted: Mask | None) -> None:
        before, after = self._moving[0][0], self._moving[-1][1]
        film = self._is_film()
        if film:
            self._keep_cuts(counted)
        if self._is_new(gray, counted, SHARE):
            if film:
                before = self._moving[-1][0]
            if self.found and self.found[-1].after == after:
                self.found.pop()
            self._accept(Transition(before, after, counted), gray)
        self._moving = []

    def _drift(self, before: float, after: float, gray: Gray, counted: Mask | None) -> None:
        if self._is_new(gray, counted, DRIFT):
            self._accept(Transition(before, after, counted), gray)

    def _is_new(self, gray: Gray, counted: Mask | None, share: float) -> bool:
        return self._still is not None and difference(self._still, gray, counted) > share

    def _accept(self, transition: Transition, gray: Gray) -> None:
        earlier, self._earlier, self._still = self._earlier, self._still, gray
        reverts = earlier is not None and difference(earlier, gray, transition.counted) <= SHARE
        self.found.append(transition._replace(reverts=reverts))

    def _is_film(self) -> bool:
        return self._moving[-1][1] - self._moving[0][0] > MOTION_S

    def _keep_cuts(self, counted: Mask | None) -> None:
        self.found += [
            Transition(before, after, counted, cut=True)
            for before, after, change in self._moving
            if change >= CUT
        ]


def locate(transition: Transition, frames: Sequence[tuple[float, Gray]]) -> float | None:
    """The time of the first frame of the new picture, or of the middle of a fade.

    Args:
        transition: what to look for.
        frames: times and pictures, from the last of the old to the first of the new.

    Returns:
        None when a cut is asked for and there is none.
    """
    if transition.cut:
        return _locate_cut(transition, frames)
    import numpy as np

    old, new = (frames[edge][1].astype(np.int16) for edge in (0, -1))
    where = differ(frames[0][1], frames[-1][1])
    if transition.counted is not None:
        where &= transition.counted
    following = frames[-1][0]
    for time, gray in reversed(frames):
        done = np.abs(gray - old)[where].sum()
        if done <= EARLY * (done + np.abs(gray - new)[where].sum()):
            return following
        following = time
    return following


def _locate_cut(transition: Transition, frames: Sequence[tuple[float, Gray]]) -> float | None:
    """Find the frame that changes far more than the frames around it do."""
    steps = [
        difference(first, second, transition.counted)
        for (_, first), (_, second) in pairwise(frames)
    ]
    if not steps or max(steps) < max(CUT, SHARP * median(steps)):
        return None
    return frames[steps.index(max(steps)) + 1][0]
