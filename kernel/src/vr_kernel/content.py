"""Content that a client is shown unchanged: text, an image, a sound, a file."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Content:
    """Words or bytes with their media type; `uri` names a file, an image needs none."""

    data: str | bytes
    mime: str = "text/plain"
    uri: str = ""

    def __post_init__(self) -> None:
        """Refuse a part that cannot be sent.

        Raises:
            TypeError: when the data are neither text nor bytes, or type or address is no text.
        """
        if not isinstance(self.data, str | bytes) or not isinstance(self.mime, str):
            raise TypeError("content is a text or bytes, with a media type")
        if not isinstance(self.uri, str):
            raise TypeError("the address of content is a text")
