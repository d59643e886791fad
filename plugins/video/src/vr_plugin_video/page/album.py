"""Pictures of slides that travel inside a page."""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from vr_kernel import Artifact, VrError

from vr_plugin_video.models import Scene

MOST_PICTURES = 120
MOST_BYTES = 8_000_000
"""Bytes of all pictures of a page in base64, which is 4/3 of their size as files."""
_JPEG = b"\xff\xd8\xff"


@dataclass(slots=True)
class Album:
    """Pictures as `data:` addresses, by the slide's `thumbnail_uri`, and how many did not fit."""

    pictures: dict[str, str] = field(default_factory=dict)
    left_out: int = 0


def collect(
    slides: Sequence[Scene],
    find: Callable[[str], Artifact],
    *,
    most: int = MOST_PICTURES,
    size: int = MOST_BYTES,
) -> Album:
    """The slides' pictures in order of time, up to `most` pictures or `size` bytes; blocks.

    A picture that was cleaned up since is not counted as left out.

    Args:
        find: gives the artifact of a name, as `Artifacts.find` does.
    """
    album = Album()
    for uri in dict.fromkeys(slide.thumbnail_uri for slide in slides if slide.thumbnail_uri):
        picture = _read(uri, find)
        if not picture:
            continue
        size -= len(picture)
        if album.left_out or size < 0 or len(album.pictures) >= most:
            album.left_out += 1
        else:
            album.pictures[uri] = picture
    return album


def _read(uri: str, find: Callable[[str], Artifact]) -> str:
    try:
        content = find(uri.rpartition("/")[2]).path.read_bytes()
    except (VrError, OSError):
        return ""
    if not content.startswith(_JPEG):
        return ""
    return f"data:image/jpeg;base64,{base64.b64encode(content).decode()}"
