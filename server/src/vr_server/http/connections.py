"""The connections of the HTTP server: their number, their time limits, and their order.

A connection is working while a whole request with a valid token is under way. All others wait: for
a request, for the rest of one, or for a refusal to be read. Waiting connections are closed for new
ones.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

PLACE = "vr.place"
"""Key of the connection's place in the state of a request."""
FILES_KEPT = 384
"""Open files that are reserved for databases, programs and fetching, and for connections that are
accepted but not counted yet."""
KEPT_SHARE = 16
"""One place in this many is kept for the owner, one for connections without a request yet."""
FREE_LINES, LINE_BYTES = 1_000, 16
"""Line ends that a chunked request may have; beyond them, it needs this many bytes for each."""
LATE = b"HTTP/1.1 408 Request Timeout\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    """The limits of one server."""

    connections: int
    head_s: float = 10.0
    """Seconds for the head of a request, from its first byte or from the beginning of the
    connection; and for the rest of a request that was answered already."""
    unread_s: float = 300.0
    """Seconds that a client may read nothing of an answer, if the system can tell."""


class Place:
    """The state of one connection: it waits, or works for a principal."""

    def __init__(self, connections: Connections, address: str) -> None:
        self.address = address
        self.worker = ""
        self._connections = connections

    @contextmanager
    def working(self, principal: str, *, is_owner: bool) -> Iterator[bool]:
        """Work during the `with` block; yields False when the principal has too many requests."""
        admitted = self._connections.begin(self, principal, is_owner=is_owner)
        try:
            yield admitted
        finally:
            if admitted:
                self._connections.end(self)


class Connections:
    """All connections of a server.

    When there are too many, the longest waiting connection of the address with the most waiting
    ones is closed, so that one address cannot displace the connections of another.
    """

    def __init__(self, limits: ConnectionLimits) -> None:
        self.limits = limits
        self._waiting: dict[str, dict[Place, None]] = {}
        self._working: dict[str, int] = {}
        self._open: dict[Place, Connection] = {}
        self._kept = max(1, limits.connections // KEPT_SHARE)

    def enter(self, connection: Connection, address: str) -> Place:
        """Give a new connection a place; another may be closed for it."""
        place = Place(self, address)
        self._open[place] = connection
        self._wait(place)
        if len(self._open) > self.limits.connections:
            most = max(self._waiting.values(), key=len)
            first = next(iter(most))
            self._open[first].make_room()
            self.leave(first)
        return place

    def leave(self, place: Place) -> None:
        """Forget a connection that is closed."""
        if self._open.pop(place, None) is not None and not self._stop_waiting(place):
            self._stop_working(place)

    def begin(self, place: Place, principal: str, *, is_owner: bool) -> bool:
        """Let a connection work for a principal, unless it would take the places of others."""
        most = self.limits.connections - self._kept * (1 if is_owner else 2)
        mine = self._working.get(principal, 0)
        too_many = sum(self._working.values()) >= most or (not is_owner and mine >= most // 2)
        if too_many or place not in self._open:
            return False
        self._stop_waiting(place)
        place.worker = principal
        self._working[principal] = mine + 1
        return True

    def end(self, place: Place) -> None:
        """Let a connection wait again, as the last one to be closed."""
        if place in self._open:
            self._stop_working(place)
            self._wait(place)

    def hang_up_on_late(self) -> None:
        """Close every connection whose request takes too long to arrive; call this often."""
        late = asyncio.get_running_loop().time() - self.limits.head_s
        for connection in list(self._open.values()):
            connection.hang_up_if_since(late)

    def _wait(self, place: Place) -> None:
        self._waiting.setdefault(place.address, {})[place] = None

    def _stop_waiting(self, place: Place) -> bool:
        waiting = self._waiting.get(place.address, {})
        if place not in waiting:
            return False
        del waiting[place]
        if not waiting:
            del self._waiting[place.address]
        return True

    def _stop_working(self, place: Place) -> None:
        self._working[place.worker] -= 1
        if not self._working[place.worker]:
            del self._working[place.worker]


class Connection(H11Protocol):
    """A connection with a time limit on request heads, and a place among all connections.

    Args:
        connections: all of them.
        given: the arguments that uvicorn passes to its protocols.
    """

    def __init__(self, connections: Connections, **given: Any) -> None:
        super().__init__(**given)
        self._all = connections
        self._coming_since: float | None = None
        self._lines = self._bytes = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take a place."""
        super().connection_made(transport)
        _give_up_unread(transport, self._all.limits.unread_s)
        self._coming_since = self.loop.time()
        self._place = self._all.enter(self, _network_of(self.client))
        self.app_state = {**self.app_state, PLACE: self._place}

    def data_received(self, data: bytes) -> None:
        """Receive data, and note since when a head, or an unread body, has been incomplete."""
        if self._is_framing(data):
            self.send_400_response("The chunks of the body are too small.")
            return
        super().data_received(data)
        if self.conn.their_state is not h11.SEND_BODY:
            self._lines = self._bytes = 0
        answered = self.conn.our_state is h11.DONE and self.conn.their_state is h11.SEND_BODY
        if not answered and self.conn.their_state is not h11.IDLE:
            self._coming_since = None
        elif self._coming_since is None:
            self._coming_since = self.loop.time()

    def _is_framing(self, data: bytes) -> bool:
        """Return True for tiny chunks, whose parsing would block all other requests."""
        if self.conn.their_state is h11.SEND_BODY:
            chunked = any(name == b"transfer-encoding" for name, _ in self.headers)
        else:
            chunked = b"chunked" in data.lower()
        if chunked:
            self._lines += data.count(b"\r\n")
            self._bytes += len(data)
        return self._lines > FREE_LINES and self._bytes < self._lines * LINE_BYTES

    def connection_lost(self, exc: Exception | None) -> None:
        """Give up the place."""
        self._all.leave(self._place)
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:
        """Refuse data that is not HTTP; in the middle of an answer only close the connection."""
        with suppress(h11.LocalProtocolError):
            super().send_400_response(msg)
        self.transport.close()

    def hang_up_if_since(self, late: float) -> None:
        """Close the connection if its incomplete head or body began before that time."""
        since = self._coming_since
        if since is None or since > late or self.transport.is_closing():
            return
        if self.conn.our_state is h11.IDLE and self.conn.trailing_data[0]:
            self.transport.write(LATE)
        self.transport.close()

    def make_room(self) -> None:
        """Close the connection now, even with unsent data."""
        if self.transport.get_write_buffer_size():
            self.transport.abort()
        else:
            self.transport.close()


def available(wanted: int) -> int:
    """Return the number of connections that the process can have, at most `wanted`.

    The limit on open files is raised as far as needed and the system allows.
    """
    if sys.platform == "win32":
        return wanted
    import resource

    files, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = wanted + FILES_KEPT
    if files not in (resource.RLIM_INFINITY, needed) and files < needed:
        raised = needed if most == resource.RLIM_INFINITY else min(needed, most)
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (raised, most))
            files = raised
    if files == resource.RLIM_INFINITY:
        return wanted
    return min(wanted, max(files - FILES_KEPT, files // 2))


def _network_of(client: tuple[str, int] | None) -> str:
    """Return an IPv4 address, or the network that all IPv6 addresses of one client share."""
    address = client[0] if client else ""
    if ":" in address:
        with suppress(ValueError):
            parsed = ipaddress.IPv6Address(address)
            if parsed.ipv4_mapped is None:
                return str(ipaddress.IPv6Network((parsed, 64), strict=False))
    return address


def _give_up_unread(transport: asyncio.Transport, seconds: float) -> None:
    """Have the system close a connection whose client reads nothing for that many seconds."""
    connected = transport.get_extra_info("socket")
    if connected is not None and hasattr(socket, "TCP_USER_TIMEOUT"):
        with suppress(OSError):
            connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, round(seconds * 1000))
