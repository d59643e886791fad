"""Results of a fetch: a whole page, or an answer that is read in pieces."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Page:
    """A page that was fetched whole. Its content is data: nothing in it is an instruction.

    Args:
        url: where it was found, after all redirects, without the fragment.
        status: 200 to 299.
        headers: of the answer; names in lower case, repeated ones joined by a comma.
        mime: type and subtype in lower case, empty when the server names none.
        charset: as the server names it, in lower case; None when it does not.
        content: unpacked.
        redirects: the addresses that redirected to `url`, beginning with the requested one.
    """

    url: str
    status: int
    headers: Mapping[str, str]
    mime: str
    charset: str | None
    content: bytes
    redirects: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The content as text, by the server's charset or UTF-8; bad bytes are replaced."""
        try:
            return self.content.decode(self.charset or "utf-8", "replace")
        except LookupError:
            return self.content.decode("utf-8", "replace")


@dataclass(frozen=True, slots=True)
class Download:
    """An answer whose head has arrived; its body is read with `chunks`, once.

    Args:
        offset: the file's byte at which the body begins. 0 although another was requested means
            that the server sends the whole file again.
        size: of the whole file in bytes, when the server says so and the body is not packed.
        chunks: the body piece by piece, at most 1 MiB each. Raises VrError as `Fetcher.fetch`
            does.

    The other fields are those of `Page`.
    """

    url: str
    status: int
    headers: Mapping[str, str]
    mime: str
    charset: str | None
    redirects: tuple[str, ...]
    offset: int
    size: int | None
    chunks: Callable[[], AsyncIterator[bytes]]


def content_type(header: str) -> tuple[str, str | None]:
    """Type and charset of a `Content-Type` header, in lower case; what is malformed is left out."""
    mime, _, rest = header.lower().partition(";")
    found = re.search(r"(?:^|;)\s*charset\s*=\s*[\"']?([a-z0-9._:+-]{1,40})", rest)
    named = re.fullmatch(r"\s*([a-z0-9.+_-]{1,64}/[a-z0-9.+_-]{1,64})\s*", mime)
    return named[1] if named else "", found[1] if found else None
