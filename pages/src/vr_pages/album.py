"""Pictures that travel inside a page, as far as they fit."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Protocol

from vr_kernel import Artifact, VrError
from vr_kernel.views import Compare, Pages, Pictures, View, image_address

MOST_PICTURES = 120
MOST_BYTES = 8_000_000
"""Bytes of all pictures of a page in base64, which is 4/3 of their size as files."""
ARTIFACT = "vr://artifacts/"
_BEGINNINGS = (b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n")
_INLINE = re.compile(r"data:image/(?:jpeg|png);base64,([A-Za-z0-9+/]{16,}={0,2})")


class Finder(Protocol):
    """Gives the artifact of a name, as `services.artifacts` does."""

    def find(self, name: str) -> Artifact:
        """The artifact of that name."""


@dataclass(slots=True)
class Album:
    """Pictures as `data:` addresses, by what a view says of them, and those that did not fit.

    Attributes:
        pictures: those that fit.
        left_out: those that did not.
        pages: numbers of the pages of a document that can be linked to.
    """

    pictures: dict[str | bytes, str] = field(default_factory=dict)
    left_out: set[str | bytes] = field(default_factory=set)
    pages: set[int] = field(default_factory=set)


def collect(
    view: View, artifacts: Finder, *, most: int = MOST_PICTURES, size: int = MOST_BYTES
) -> Album:
    """The pictures of a view in their order, up to `most` pictures or `size` bytes; blocks.

    A picture that was cleaned up since, or lies elsewhere, is not counted as left out.
    """
    album = Album()
    for image in dict.fromkeys(_images(view)):
        picture = _read(image, artifacts)
        if not picture:
            continue
        size -= len(picture)
        if album.left_out or size < 0 or len(album.pictures) >= most:
            album.left_out.add(image)
        else:
            album.pictures[image] = picture
    return album


def _images(view: View) -> Iterator[str | bytes]:
    """Every picture of a view, in the order of its blocks."""
    for block in view.blocks:
        if isinstance(block, Pictures | Pages):
            yield from (item.image for item in block.items if item.image)
        elif isinstance(block, Compare):
            yield from _images(block.left)
            yield from _images(block.right)


def _read(image: str | bytes, artifacts: Finder) -> str:
    if isinstance(image, str):
        if inline := _INLINE.fullmatch(image):
            return image if _is_picture(_decoded(inline[1][:16])) else ""
        if not image.startswith(ARTIFACT):
            return ""
        try:
            image = artifacts.find(image.removeprefix(ARTIFACT)).path.read_bytes()
        except (VrError, OSError):
            return ""
    return image_address(image) if _is_picture(image) else ""


def _decoded(text: str) -> bytes:
    try:
        return base64.b64decode(text)
    except binascii.Error:
        return b""


def _is_picture(content: bytes) -> bool:
    return content.startswith(_BEGINNINGS)
