"""The one way to the web: every address checked, every answer bounded in size and time."""

from __future__ import annotations

import asyncio
import json
import ssl
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin

from vr_kernel.config.settings import HttpSettings
from vr_kernel.errors import VrError
from vr_kernel.http.errors import (
    invalid,
    led_on,
    network_error,
    not_allowed,
    too_many_redirects,
)
from vr_kernel.http.names import HostNames, Resolver
from vr_kernel.http.pages import Download, Page, content_type
from vr_kernel.http.terms import Terms, checked_headers
from vr_kernel.http.urls import Url, check_url, is_allowed_host, redact_url
from vr_kernel.log import Log

if TYPE_CHECKING:
    import httpcore2

    from vr_kernel.http.exchanges import Deadline, Exchange

CONNECTIONS = 64
"""Answers that arrive at the same time; a further one waits, within its deadline."""


class Fetcher:
    """Fetches pages and files of public hosts, and of local ones the user allowed by name.

    Only http and https are spoken, without cookies, proxies or a kept connection: every hop
    resolves its host anew, checks each address of the answer and connects to one of those.
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
        self._log = log
        self._names = HostNames()
        self._resolve = resolve or self._names.resolve
        self._network = network
        self._tls: ssl.SSLContext | None = None
        self._turns = asyncio.Semaphore(CONNECTIONS)
        self._exchanges: set[Exchange] = set()

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

        A redirect is not followed: what is sent goes where it was meant to go, or nowhere.

        Args:
            url: as in `fetch`, like the three that follow `body`.
            body: a JSON value.
            max_bytes: bound of the answer.
            deadline_s: seconds for all of it.
            headers: sent with it, such as `Authorization`.

        Raises:
            VrError: as `fetch`; HTTP_STATUS for a redirect.
        """
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
            offset: the byte to go on at. See `Download.offset`: not every server can.

        Raises:
            VrError: as `fetch`, and INVALID_INPUT, category RANGE_INVALID, for an offset
                beyond the end.
        """
        return self._visit(url, self._terms(accept, max_bytes, deadline_s, headers, offset=offset))

    async def aclose(self) -> None:
        """Close the connections of answers that still arrive, and ask for no more names."""
        self._names.close()
        for exchange in tuple(self._exchanges):
            await exchange.aclose()

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
            user_agent=self._settings.user_agent,
            headers=checked_headers(headers or {}),
            offset=max(0, offset),
            packed=packed,
        )

    @asynccontextmanager
    async def _visit(self, url: str, terms: Terms) -> AsyncIterator[Download]:
        first = self.check(url)
        from vr_kernel.http.exchanges import Deadline

        deadline = Deadline(terms.deadline_s)
        async with deadline.held(first.name):
            await self._turns.acquire()
        try:
            exchange, redirects = await self._follow(first, terms, deadline)
            try:
                yield _download(exchange, terms, deadline, redirects)
            finally:
                await self._close(exchange)
        finally:
            self._turns.release()

    async def _follow(
        self, url: Url, terms: Terms, deadline: Deadline
    ) -> tuple[Exchange, tuple[str, ...]]:
        """Ask, and ask where the answer leads, until one leads no further."""
        rules, passed, first = self._settings, list[str](), url.origin
        while True:
            exchange = await self._ask(url, rules, terms, deadline, own=url.origin == first)
            if exchange.location is None or terms.body is not None:
                return exchange, tuple(passed)
            await self._close(exchange)
            passed.append(str(url))
            if len(passed) > self._settings.max_redirects:
                raise too_many_redirects(self._settings.max_redirects)
            if not is_allowed_host(url, rules):
                # A public page must not lead to a local host, even one the user named.
                rules = rules.model_copy(update={"allowed_hosts": []})
            url = _next(url, exchange.location, rules)

    async def _ask(
        self, url: Url, rules: HttpSettings, terms: Terms, deadline: Deadline, *, own: bool
    ) -> Exchange:
        import httpcore2

        from vr_kernel.http.exchanges import Exchange
        from vr_kernel.http.network import CheckedNetwork

        checked = CheckedNetwork(
            self._resolve,
            self._network or httpcore2.AnyIOBackend(),
            local_allowed=is_allowed_host(url, rules),
        )
        exchange = Exchange(url, checked)
        self._exchanges.add(exchange)
        try:
            async with deadline.held(url.name):
                tls = await self._context() if url.scheme == "https" else None
                await exchange.send(terms.request_headers(url, own=own), tls, terms.body)
        except BaseException:
            await self._close(exchange)
            raise
        self._log.debug("asked the web", url=redact_url(str(url)), status=exchange.status)
        return exchange

    async def _close(self, exchange: Exchange) -> None:
        self._exchanges.discard(exchange)
        await exchange.aclose()

    async def _context(self) -> ssl.SSLContext:
        """The certificates of this machine; `SSL_CERT_FILE` and `SSL_CERT_DIR` count."""
        import httpx2

        if self._tls is None:
            try:
                self._tls = await asyncio.to_thread(httpx2.create_ssl_context)
            except OSError as error:
                hint = "Check SSL_CERT_FILE and SSL_CERT_DIR."
                message = "The certificates of this machine cannot be read."
                raise network_error(message, retryable=False, hint=hint) from error
        return self._tls


def _next(url: Url, location: str, rules: HttpSettings) -> Url:
    try:
        found = check_url(_joined(url, location), rules)
        if url.scheme == "https" and found.scheme == "http":
            raise not_allowed("it leaves https for http", "Give an https address.")
    except VrError as error:
        raise led_on(redact_url(str(url)), error) from None
    return found


def _joined(url: Url, location: str) -> str:
    try:
        return urljoin(str(url), location.strip(" ").replace(" ", "%20"))
    except ValueError:
        raise invalid("it is malformed") from None


def _download(
    exchange: Exchange, terms: Terms, deadline: Deadline, redirects: tuple[str, ...]
) -> Download:
    exchange.require_success(redact_url(str(exchange.url)))
    mime, charset = content_type(exchange.headers.get("content-type", ""))
    terms.require_type(mime)
    offset = exchange.begins_at(terms.offset)
    return Download(
        url=str(exchange.url),
        status=exchange.status,
        headers=dict(exchange.headers),
        mime=mime,
        charset=charset,
        redirects=redirects,
        offset=offset,
        size=exchange.size(offset),
        chunks=partial(exchange.body, terms.max_bytes - offset, deadline),
    )
