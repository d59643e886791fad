"""Connections to addresses that were checked. Imported with the first page that is fetched."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain, zip_longest

import httpcore2

from vr_kernel.http.addresses import special_range
from vr_kernel.http.errors import network_error, no_local_host
from vr_kernel.http.names import Resolver

ADDRESSES_TRIED = 4
CONNECT_S = 10.0
"""Seconds for one address to accept, before the next one is tried."""


class CheckedNetwork(httpcore2.AsyncNetworkBackend):
    """The one place where a host becomes a connection: resolve once, check all, connect.

    It connects to the checked address itself, so a name that resolves differently a moment later
    changes nothing. TLS still verifies the name.
    """

    def __init__(
        self,
        resolve: Resolver,
        network: httpcore2.AsyncNetworkBackend,
        *,
        local_allowed: bool,
    ) -> None:
        """`network` opens connections to addresses; `local_allowed` permits local addresses."""
        self._resolve = resolve
        self._network = network
        self._local_allowed = local_allowed
        self._streams: list[httpcore2.AsyncNetworkStream] = []

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 - the library's signature
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        """Connect to the first address that accepts.

        Raises:
            VrError: NOT_ALLOWED when one address of the answer is special.
        """
        failure: Exception = network_error(f"{host} has no address.", retryable=False)
        for address in _in_turn(await self._addresses(host, port))[:ADDRESSES_TRIED]:
            try:
                stream = await self._network.connect_tcp(
                    address, port, timeout, local_address, socket_options
                )
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as error:
                failure = error
            else:
                self._streams.append(stream)
                return stream
        raise failure

    async def aclose(self) -> None:
        """Close open streams; a cancelled handshake leaves its stream behind."""
        while self._streams:
            await self._streams.pop().aclose()

    async def _addresses(self, host: str, port: int) -> Sequence[str]:
        literal = ":" in host or host.replace(".", "").isdigit()
        addresses = [host] if literal else await self._resolve(host, port)
        for address in addresses:
            self._check(host, address)
        return addresses

    def _check(self, host: str, address: str) -> None:
        try:
            block = special_range(address)
        except ValueError:
            raise no_local_host(host) from None
        if block is not None and not (self._local_allowed and block.reach == "local"):
            raise no_local_host(f"{host}, at an address for {block.purpose},")


def _in_turn(addresses: Sequence[str]) -> list[str]:
    """Alternate IPv6 and IPv4, the resolver's first choice first (as RFC 8305 orders them)."""
    ours = [address for address in addresses if (":" in address) == (":" in addresses[0])]
    others = [address for address in addresses if address not in ours]
    return [address for address in chain(*zip_longest(ours, others)) if address is not None]
