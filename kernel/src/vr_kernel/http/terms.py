"""Terms of one fetch: the request and its bounds."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase

from vr_kernel.errors import Code, VrError
from vr_kernel.http.errors import wrong_type
from vr_kernel.http.urls import Url

_NAME = re.compile(r"[A-Za-z0-9-]{1,100}")
_OWN = re.compile(
    r"host|connection|accept|accept-encoding|range|content-.*|transfer-encoding|te|trailer|upgrade"
    r"|keep-alive|proxy-.*|expect",
    re.IGNORECASE,
)

USER_AGENT = "Mozilla/5.0 (compatible; video-research)"


@dataclass(frozen=True, slots=True)
class Terms:
    """Terms of one fetch: the request, and its bounds in bytes and seconds.

    Args:
        headers: the caller's own; they win over the program's.
        offset: the byte to continue at.
        packed: whether the server may pack the body.
        body: JSON to send; the request is then a POST, and never follows redirects.
    """

    accept: tuple[str, ...]
    max_bytes: int
    deadline_s: float
    headers: Mapping[str, str]
    offset: int = 0
    packed: bool = False
    body: bytes | None = None

    def request_headers(self, url: Url, *, own: bool) -> dict[str, str]:
        """The headers of one request; the caller's are included only with `own`."""
        sent = {
            "Host": url.authority,
            "User-Agent": USER_AGENT,
            "Accept": ", ".join(self.accept) or "*/*",
            "Accept-Encoding": "gzip, deflate" if self.packed else "identity",
            "Connection": "close",
        }
        if self.offset:
            sent["Range"] = f"bytes={self.offset}-"
        if self.body is not None:
            sent |= {"Content-Type": "application/json", "Content-Length": str(len(self.body))}
        return {**sent, **(self.headers if own else {})}

    def require_type(self, mime: str) -> None:
        """Refuse a type of content that the caller does not read."""
        if self.accept and not any(fnmatchcase(mime, kind.lower()) for kind in self.accept):
            raise wrong_type(mime[:80], " or ".join(self.accept))


def checked_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """Return the caller's headers, after checking that none is malformed or set by the fetcher.

    Raises:
        VrError: INVALID_INPUT, category HEADER_INVALID. The value is not repeated.
    """
    for name, value in headers.items():
        plain = value.isascii() and (value.isprintable() or not value)
        if not plain or _OWN.fullmatch(name) or not _NAME.fullmatch(name):
            raise VrError(
                f"The header {name[:40]!r} cannot be sent.",
                Code.INVALID_INPUT,
                category="HEADER_INVALID",
                hint="Leave it out: it is malformed, or the fetcher's own to set.",
            )
    return {"User-Agent" if n.lower() == "user-agent" else n: v for n, v in headers.items()}
