"""The pictures of a clip: exactly those of its time span, upright, with square pixels, scaled."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from vr_plugin_video.clips.request import ClipRequest
from vr_plugin_video.media.streams import find_video
from vr_plugin_video.vision.frames import EPSILON, need_video, walk

if TYPE_CHECKING:
    from av.container import InputContainer
    from av.video.frame import VideoFrame

QUARTER = 90
QUARTERS: dict[int, tuple[tuple[str, str], ...]] = {
    1: (("transpose", "clock"),),
    2: (("hflip", ""), ("vflip", "")),
    3: (("transpose", "cclock"),),
}
"""Filters that turn a picture clockwise, by the number of quarter turns."""
MAX_STRETCH = 10
"""Largest ratio of a pixel's width to its height, or the reverse; more is a broken header."""


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture on screen from `time` to `until`, in seconds of the video."""

    time: float
    until: float
    frame: VideoFrame


@dataclass(frozen=True, slots=True)
class Fit:
    """The size that pictures may have: no side above `longest`, not both above `shortest`."""

    longest: int
    shortest: int
    even: bool = False

    def size(self, width: float, height: float) -> tuple[int, int]:
        """The size of a picture in pixels, scaled down where needed, never up."""
        scale = min(1.0, self.longest / max(width, height), self.shortest / min(width, height))
        step = 2 if self.even else 1
        wide, tall = (max(step, step * round(side * scale / step)) for side in (width, height))
        return wide, tall


class Canvas:
    """Converts pictures of a video to those of a clip."""

    def __init__(self, container: InputContainer, first: Picture, fit: Fit, form: str) -> None:
        """Set up for pictures like `first`, to be drawn in the pixel format `form`."""
        self._turns = round(-first.frame.rotation / QUARTER) % 4
        wide, tall = first.frame.width * _stretch(container), float(first.frame.height)
        lies = bool(self._turns % 2)
        self.width, self.height = fit.size(*((tall, wide) if lies else (wide, tall)))
        self._drawn = (self.height, self.width) if lies else (self.width, self.height)
        self._form = form
        self._graph: Any = None

    def draw(self, frame: VideoFrame) -> VideoFrame:
        """Convert a picture; time and frame type of the original are not carried over."""
        from av.video.frame import PictureType

        drawn = frame.reformat(*self._drawn, format=self._form, interpolation="AREA")
        if self._turns:
            drawn = self._turned(drawn)
        drawn.pict_type = PictureType.NONE  # or the encoder would make its key frames there
        return drawn

    def _turned(self, frame: VideoFrame) -> VideoFrame:
        if self._graph is None:
            self._graph = _filters(frame, QUARTERS[self._turns])
        self._graph.vpush(frame)
        turned: VideoFrame = self._graph.vpull()
        return turned


def pictures_of(container: InputContainer, request: ClipRequest) -> Iterator[Picture]:
    """Yield the pictures of a clip, from its start to its end; the first begins at the start.

    The last picture of a whole file stays until the end.
    """
    whole = request.media.complete
    pending: Picture | None = None
    for shown in walk(container, need_video(container), [(request.start, request.end)]):
        request.tick(max(shown.time, request.start))
        begin, until = max(shown.time, request.start), min(shown.until, request.end)
        if pending is not None:
            yield pending
        if begin >= request.end - EPSILON:
            return
        past = max(shown.time, shown.until) < request.start - EPSILON
        pending = None if past and not whole else Picture(begin, max(begin, until), shown.picture)
    if pending is not None:
        yield replace(pending, until=request.end) if whole else pending


def _stretch(container: InputContainer) -> float:
    """Return the width of a pixel divided by its height."""
    video = find_video(container)
    stretch = float((video and video.sample_aspect_ratio) or 1)
    return stretch if 1 / MAX_STRETCH <= stretch <= MAX_STRETCH else 1.0


def _filters(frame: VideoFrame, steps: tuple[tuple[str, str], ...]) -> Any:
    from av.filter import Graph

    graph = Graph()
    base = frame.time_base or Fraction(1, 1000)
    size: dict[str, Any] = {"width": frame.width, "height": frame.height, "format": frame.format}
    nodes = [graph.add_buffer(time_base=base, **size)]
    nodes += [graph.add(name, arguments) for name, arguments in steps]
    nodes.append(graph.add("buffersink"))
    graph.link_nodes(*nodes).configure()
    return graph
