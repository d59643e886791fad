"""Fetching from the web: every address checked, every answer bounded in size and time."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from vr_kernel.config.settings import HttpSettings
from vr_kernel.http.names import Resolver
from vr_kernel.http.pages import Download, Page
from vr_kernel.http.terms import Terms, checked_headers
from vr_kernel.http.urls import Url, check_url
from vr_kernel.http.visits import Visits
from vr_kernel.isolation.previewing import refuse_in_preview
from vr_kernel.log import Log

if TYPE_CHECKING:
    import httpcore2


class Fetcher:
    """Fetches pages and files of public hosts, and of local ones the user allowed by name.

    Only http and https are used, without cookies, proxies or persistent connections: every hop
    resolves its host again, checks each address of the answer and connects to one of those.
    """

    def __init__(
        self,
        settings: HttpSettings,
        *,
        log: Log,
        resolve: Resolver | None = None,
        network: httpcore2.AsyncNetworkBackend | None = None,
    ) -> None:
        """`resolve` replaces the name service; `network` opens connections to addresses."""
        self._settings = settings
        self._visits = Visits(settings, log, resolve, network)

    def check(self, url: str) -> Url:
        """`check_url` with this fetcher's settings, to refuse an address early."""
        return check_url(url, self._settings)

    async def fetch(
        self,
        url: str,
        *,
        accept: Sequence[str] = (),
        max_bytes: int | None = None,
        deadline_s: float | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Page:
        """Fetch a whole page.

        Args:
            url: an absolute http or https address.
            accept: types the caller reads, such as `text/html` or `image/*`; empty for any.
            max_bytes: bound of what arrives, and of what it unpacks to.
            deadline_s: seconds for all of it: names, redirects, body.
            headers: sent to the first origin only, never past a redirect to another one.

        Raises:
            VrError: URL_INVALID, URL_NOT_ALLOWED, NETWORK_ERROR (may be retried),
                FILE_TOO_LARGE, TOO_MANY_REDIRECTS, CONTENT_TYPE, CONTENT_ENCODING, or the
                error that a status stands for: HTTP_NOT_FOUND, HTTP_FORBIDDEN,
                HTTP_TOO_MANY_REQUESTS, HTTP_SERVER_ERROR, HTTP_STATUS.
        """
        return await self._whole(
            url, self._terms(accept, max_bytes, deadline_s, headers, packed=True)
        )

    async def post(
        self,
        url: str,
        body: Any,
        *,
        max_bytes: int | None = None,
        deadline_s: float | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Page:
        """Send a JSON value to a service that the user configured, and read its JSON answer.

        Redirects are not followed, so the body only reaches the address it was meant for.

        Args:
            url: as in `fetch`, like the three that follow `body`.
            body: a JSON value.
            max_bytes: bound of the answer.
            deadline_s: seconds for all of it.
            headers: sent with it, such as `Authorization`.

        Raises:
            VrError: as `fetch`; HTTP_STATUS for a redirect.
        """
        refuse_in_preview("send anything to a service")
        terms = self._terms(("application/json",), max_bytes, deadline_s, headers, packed=True)
        sent = json.dumps(body, allow_nan=False).encode()
        return await self._whole(url, replace(terms, body=sent))

    def open(
        self,
        url: str,
        *,
        accept: Sequence[str] = (),
        max_bytes: int | None = None,
        deadline_s: float | None = None,
        headers: Mapping[str, str] | None = None,
        offset: int = 0,
    ) -> AbstractAsyncContextManager[Download]:
        """Open an answer that is too large for memory: `async with` gives a `Download`.

        Args:
            url: as in `fetch`, like the four that follow.
            accept: types the caller reads.
            max_bytes: bound of the whole file, the part before `offset` included.
            deadline_s: seconds until the last byte.
            headers: sent to the first origin only.
            offset: the byte to continue at. See `Download.offset`: not every server supports it.

        Raises:
            VrError: as `fetch`, and INVALID_INPUT, category RANGE_INVALID, for an offset
                beyond the end.
        """
        terms = self._terms(accept, max_bytes, deadline_s, headers, offset=offset)
        return self._visit(url, terms)

    async def aclose(self) -> None:
        """Close the connections of answers that still arrive, and stop resolving names."""
        await self._visits.aclose()

    async def _whole(self, url: str, terms: Terms) -> Page:
        async with self._visit(url, terms) as found:
            content = b"".join([chunk async for chunk in found.chunks()])
            return Page(
                url=found.url,
                status=found.status,
                headers=found.headers,
                mime=found.mime,
                charset=found.charset,
                content=content,
                redirects=found.redirects,
            )

    def _terms(
        self,
        accept: Sequence[str],
        max_bytes: int | None,
        deadline_s: float | None,
        headers: Mapping[str, str] | None,
        *,
        offset: int = 0,
        packed: bool = False,
    ) -> Terms:
        return Terms(
            accept=tuple(accept),
            max_bytes=self._settings.max_bytes if max_bytes is None else max_bytes,
            deadline_s=self._settings.deadline_s if deadline_s is None else deadline_s,
            headers=checked_headers(headers or {}),
            offset=max(0, offset),
            packed=packed,
        )

    @asynccontextmanager
    async def _visit(self, url: str, terms: Terms) -> AsyncIterator[Download]:
        async with self._visits.visit(self.check(url), terms) as found:
            yield found
