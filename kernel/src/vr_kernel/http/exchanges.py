"""One request and its answer over one connection. Imported with the first page fetched."""

from __future__ import annotations

import asyncio
import re
import ssl
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Mapping
from contextlib import aclosing, asynccontextmanager

import httpcore2
import httpx2  # noqa: TID253 - this module is imported with the first page

from vr_kernel.http.errors import (
    failures_named,
    network_error,
    status_error,
    too_large,
    wrong_coding,
)
from vr_kernel.http.network import CONNECT_S, CheckedNetwork
from vr_kernel.http.urls import Url

PACKED = ("gzip", "deflate")
"""The accepted content codings, unpacked in bounded pieces; any other is refused unread."""
REDIRECTS = (301, 302, 303, 307, 308)
_RANGE = re.compile(r"bytes (\d{1,18})-\d{1,18}/(?:\d{1,18}|\*)")


class Deadline:
    """A total time limit that no slow answer can extend."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._at = asyncio.get_running_loop().time() + seconds

    @asynccontextmanager
    async def held(self, where: str) -> AsyncIterator[None]:
        """Cancel the block when the time is over, with an error that may be retried."""
        try:
            async with asyncio.timeout_at(self._at):
                await asyncio.sleep(0)  # so that even an answer that never waits can time out
                yield
        except TimeoutError:
            raise network_error(
                f"{where} was not done within {self._seconds:g} s.",
                hint="Try again later, or raise deadline_s in [kernel.http].",
            ) from None


class Exchange:
    """An arriving answer. Closing it closes its connection, which is not shared."""

    def __init__(self, url: Url, network: CheckedNetwork) -> None:
        self.url = url
        self.status = 0
        self.headers = httpx2.Headers()
        self._network = network
        self._body: AsyncIterable[bytes] | None = None

    async def send(
        self, headers: Mapping[str, str], tls: ssl.SSLContext | None, body: bytes | None = None
    ) -> None:
        """Connect, ask, and wait for the head of the answer; a body makes it a POST."""
        url = self.url
        parts = (url.scheme.encode(), url.host.encode(), url.port, url.target.encode())
        wire = httpcore2.URL(scheme=parts[0], host=parts[1], port=parts[2], target=parts[3])
        connection = httpcore2.AsyncHTTPConnection(
            wire.origin, ssl_context=tls, network_backend=self._network
        )
        sent, bounds = list(headers.items()), {"timeout": {"connect": CONNECT_S}}
        method = "GET" if body is None else "POST"
        request = httpcore2.Request(method, wire, headers=sent, content=body, extensions=bounds)
        with failures_named(url.name):
            response = await connection.handle_async_request(request)
        self.status, self.headers = response.status, httpx2.Headers(response.headers)
        self._body = response.stream if isinstance(response.stream, AsyncIterable) else None

    @property
    def location(self) -> str | None:
        """The address that the answer redirects to, as the server writes it."""
        return self.headers.get("location") if self.status in REDIRECTS else None

    def body(self, limit: int, deadline: Deadline) -> AsyncGenerator[bytes, None]:
        """The unpacked body in pieces; `limit` bounds the bytes both as received and unpacked."""
        coding = self._coding()
        if self._declared() > limit:
            raise too_large(limit)
        stream = _Limited(self._body, limit)
        head = [("content-encoding", coding)] if coding else []
        return self._pieces(httpx2.Response(200, headers=head, stream=stream), limit, deadline)

    def begins_at(self, offset: int) -> int:
        """The file's byte at which the body begins, `offset` being the one asked for.

        Raises:
            VrError: UNAVAILABLE when the server sends another part of the file.
        """
        if self.status != httpx2.codes.PARTIAL_CONTENT:
            return 0
        span = _RANGE.fullmatch(self.headers.get("content-range", ""))
        if not offset or self._coding() or span is None or int(span[1]) != offset:
            raise network_error(
                f"{self.url.name} sent another part of the file than the one asked for.",
                retryable=False,
                hint="Start over, without an offset.",
            )
        return offset

    def size(self, offset: int) -> int | None:
        """Bytes of the whole file, when the server says so."""
        known = "content-length" in self.headers and not self._coding()
        return offset + self._declared() if known else None

    def require_success(self, where: str) -> None:
        """Raise the error of a status other than success."""
        if not httpx2.codes.is_success(self.status):
            raise status_error(self.status, self.headers, where)

    async def aclose(self) -> None:
        """Close the connection at once, even while data is arriving."""
        await self._network.aclose()

    async def _pieces(
        self, response: httpx2.Response, limit: int, deadline: Deadline
    ) -> AsyncGenerator[bytes, None]:
        left = limit
        async with aclosing(response.aiter_bytes()) as pieces:
            while True:
                async with deadline.held(self.url.name):
                    with failures_named(self.url.name):
                        piece = await anext(pieces, None)
                if piece is None:
                    return
                left -= len(piece)
                if left < 0:
                    raise too_large(limit)
                yield piece

    def _coding(self) -> str:
        named = self.headers.get("content-encoding", "").lower().replace(" ", "")
        if named in ("", "identity"):
            return ""
        if named not in PACKED:
            raise wrong_coding(named[:40])
        return named

    def _declared(self) -> int:
        text = self.headers.get("content-length", "")
        return int(text) if text.isascii() and text.isdigit() else 0


class _Limited(httpx2.AsyncByteStream):
    """Pass on what arrives, and raise an error once it is too much."""

    def __init__(self, source: AsyncIterable[bytes] | None, limit: int) -> None:
        self._source = source
        self._limit = limit

    async def __aiter__(self) -> AsyncIterator[bytes]:
        left = self._limit
        if self._source is None:
            return
        async for chunk in self._source:
            left -= len(chunk)
            if left < 0:
                raise too_large(self._limit)
            yield chunk
