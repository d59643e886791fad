"""Content that a client is shown unchanged: text, an image, a sound, a file."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Content:
    """Words or bytes with their media type; `uri` names a file, an image needs none."""

    data: str | bytes
    mime: str = "text/plain"
    uri: str = ""
