"""The similarity of two pictures, and the parts of a recording that always move."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from av.video.frame import VideoFrame
    from numpy.typing import NDArray

    Gray = NDArray[np.uint8]
    Mask = NDArray[np.bool_]

WIDTH, HEIGHT = 320, 180
LEVEL = 24
"""Gray levels of 255 by which a pixel must change to count; codecs and dithering stay below."""
CELL = 5
BUSY_PIXELS = 2
"""A cell of 5x5 pixels is busy when this many of them change."""
STILLER = 2 / 3
"""Restlessness is judged by this share of the pairs: those with the least change."""
SEED, GROWTH, ROUNDS = 0.3, 0.15, 3
"""A cell is restless if it is busy in this share of them; fewer suffice next to such a cell."""
KEY_SEED = 0.9
"""The same for key frames, which lie far apart: only cells that differ in nearly all count."""
OFTEN = 7
"""A cell is restless, too, if it is busy this often while little else is,"""
MOSTLY, AROUND = 0.7, (4, 8)
"""that is, this share of the busy cells lies as near, in cells vertically and horizontally."""
FILM = 0.5
"""If more than this share of the picture is restless, it is film, and nothing is left out."""


def gray_maker() -> Callable[[VideoFrame], Gray]:
    """Make a function that turns decoded pictures small and gray; it reuses one scaler."""
    from av.video.reformatter import VideoReformatter

    scaler = VideoReformatter()

    def make(picture: VideoFrame) -> Gray:
        gray: Any = scaler.reformat(picture, WIDTH, HEIGHT, "gray").to_ndarray()
        return _smooth(gray)

    return make


def _smooth(gray: Gray) -> Gray:
    """The mean of each pixel and its neighbours, which keeps text and removes codec noise."""
    import numpy as np

    padded = np.pad(gray, 1, mode="edge").astype(np.uint16)
    rows = padded[:-2] + padded[1:-1] + padded[2:]
    smooth: Gray = ((rows[:, :-2] + rows[:, 1:-1] + rows[:, 2:]) // 9).astype(np.uint8)
    return smooth


def differ(first: Gray, second: Gray) -> Mask:
    """Return a mask of the pixels that differ by more than `LEVEL`."""
    import numpy as np

    distance: Gray = np.maximum(first, second) - np.minimum(first, second)
    return distance > LEVEL


def difference(first: Gray, second: Gray, counted: Mask | None) -> float:
    """The share of differing pixels among those where `counted` is True."""
    changed = differ(first, second)
    return float((changed if counted is None else changed & counted).mean())


def find_calm(pairs: Sequence[tuple[Gray, Gray]], seed: float = SEED) -> Mask | None:
    """Find the pixels that rest between changes: all but webcams, clocks and moving pictures.

    A part is restless if it changes while the rest is still, or, below `KEY_SEED`, changes again
    and again in one place. None when nothing has to be left out.
    """
    import numpy as np

    busy = np.stack([_busy_cells(first, second) for first, second in pairs])
    stiller = np.argsort(busy.mean(axis=(1, 2)), kind="stable")[: round(len(pairs) * STILLER)]
    activity = busy[stiller].mean(axis=0)
    often = _local(busy).sum(axis=0) if seed < KEY_SEED else np.zeros_like(activity)
    restless = (activity >= seed) | (often >= OFTEN)
    if not restless.any():
        return None
    for _ in range(ROUNDS):
        restless |= _grow(restless) & ((activity >= GROWTH) | (often > 1))
    restless = _grow(restless)
    if restless.mean() > FILM:
        return None
    calm: Mask = ~np.kron(restless, np.ones((CELL, CELL), bool))
    return calm


def _local(busy: Mask) -> Mask:
    """The busy cells near which most changes of their pair lie."""
    import numpy as np

    tall, wide = AROUND
    edges = ((0, 0), (tall + 1, tall), (wide + 1, wide))
    sums = np.pad(busy, edges).cumsum(axis=1, dtype=np.int32).cumsum(axis=2, dtype=np.int32)
    high, low = slice(2 * tall + 1, None), slice(None, -2 * tall - 1)
    right, left = slice(2 * wide + 1, None), slice(None, -2 * wide - 1)
    near = sums[:, high, right] - sums[:, low, right] - sums[:, high, left] + sums[:, low, left]
    local: Mask = busy & (near >= MOSTLY * busy.sum(axis=(1, 2), keepdims=True))
    return local


def _busy_cells(first: Gray, second: Gray) -> Mask:
    cells = differ(first, second).reshape(HEIGHT // CELL, CELL, WIDTH // CELL, CELL)
    busy: Mask = cells.sum(axis=(1, 3)) >= BUSY_PIXELS
    return busy


def _grow(cells: Mask) -> Mask:
    """The cells and their eight neighbours."""
    import numpy as np

    padded = np.pad(cells, 1)
    tall, wide = cells.shape
    grown = np.zeros_like(cells)
    for down in range(3):
        for right in range(3):
            grown |= padded[down : down + tall, right : right + wide]
    return grown
