"""The request for a clip, and what was written."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from vr_plugin_video.media.info import MediaInfo

LONGEST_GIF_S = 30.0


@dataclass(frozen=True, slots=True)
class ClipRequest:
    """The part of a file to cut, and the file to write.

    `tick` is told up to which second the clip is done, and raises to stop; `largest` is in bytes.
    """

    file: BinaryIO
    media: MediaInfo
    start: float
    end: float
    target: Path
    largest: int
    tick: Callable[[float], None]


@dataclass(frozen=True, slots=True)
class WrittenClip:
    """A clip that was written: media type, the second at which it ends, and size in pixels."""

    mime: str
    end: float
    width: int = 0
    height: int = 0
