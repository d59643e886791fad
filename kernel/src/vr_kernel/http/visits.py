"""Visits of addresses: requested, redirects followed, and closed when the answer is read."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING
from urllib.parse import urljoin

from vr_kernel.config.settings import HttpSettings
from vr_kernel.errors import VrError
from vr_kernel.http.errors import invalid, led_on, network_error, not_allowed, too_many_redirects
from vr_kernel.http.names import HostNames, Resolver
from vr_kernel.http.pages import Download, content_type
from vr_kernel.http.terms import Terms
from vr_kernel.http.urls import Url, check_url, is_allowed_host, redact_url
from vr_kernel.log import Log

if TYPE_CHECKING:
    import httpcore2

    from vr_kernel.http.exchanges import Deadline, Exchange

CONNECTIONS = 64
"""Maximum number of answers at the same time; another one waits, within its deadline."""
MOST_REDIRECTS = 5
"""Maximum number of redirects of one fetch."""


class Visits:
    """The visits under way. Each resolves its host again and checks every address.

    Args:
        settings: of `[kernel.http]`.
        log: gets each requested address, without its secrets.
        resolve: replaces the name service.
        network: opens connections to addresses.
    """

    def __init__(
        self,
        settings: HttpSettings,
        log: Log,
        resolve: Resolver | None,
        network: httpcore2.AsyncNetworkBackend | None,
    ) -> None:
        self._settings = settings
        self._log = log
        self._names = HostNames()
        self._resolve = resolve or self._names.resolve
        self._network = network
        self._tls: ssl.SSLContext | None = None
        self._turns = asyncio.Semaphore(CONNECTIONS)
        self._exchanges: set[Exchange] = set()

    async def aclose(self) -> None:
        """Close the connections of answers that still arrive, and stop resolving names."""
        self._names.close()
        for exchange in tuple(self._exchanges):
            await exchange.aclose()

    @asynccontextmanager
    async def visit(self, first: Url, terms: Terms) -> AsyncIterator[Download]:
        """Open the answer of an address, or of the one that it redirects to.

        Raises:
            VrError: as `Fetcher.fetch`.
        """
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
        """Send the request, and follow redirects until an answer is no redirect."""
        rules, passed, first = self._settings, list[str](), url.origin
        while True:
            exchange = await self._ask(url, rules, terms, deadline, own=url.origin == first)
            if exchange.location is None or terms.body is not None:
                return exchange, tuple(passed)
            await self._close(exchange)
            passed.append(str(url))
            if len(passed) > MOST_REDIRECTS:
                raise too_many_redirects(MOST_REDIRECTS)
            if not is_allowed_host(url, rules):
                # A public page must not redirect to a local host, even one the user allowed.
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
        """Load the certificates of this machine; `SSL_CERT_FILE` and `SSL_CERT_DIR` are used."""
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
