"""Counts requests that came, are in flight or were abandoned; waits for them without sleeping."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from vr_testing.service.request import Received


class Gate:
    """A gate to wait for together with a socket: `opened` becomes readable when the gate opens."""

    def __init__(self) -> None:
        self.opened, self._other_end = socket.socketpair()

    def open(self) -> None:
        """Release all that wait, now and later."""
        self._other_end.close()

    def close(self) -> None:
        """Close both ends."""
        self._other_end.close()
        self.opened.close()


class Traffic:
    """The requests and connections of one fake service."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._requests: list[Received] = []
        self._connections: dict[socket.socket, bool] = {}
        self.in_flight = 0
        self.peak_in_flight = 0
        self.cancelled = 0
        self.down = False
        self.closing = False
        self.gate: Gate | None = None
        self._gates: list[Gate] = []
        self.problems: list[BaseException] = []

    @property
    def requests(self) -> list[Received]:
        """All requests so far, in the order in which they came."""
        with self._changed:
            return list(self._requests)

    @contextmanager
    def under_way(self, request: Received) -> Iterator[None]:
        """Record a request, and count it as in flight until the block ends."""
        with self._changed:
            self._requests.append(request)
            self.in_flight += 1
            self.peak_in_flight = max(self.peak_in_flight, self.in_flight)
            self._changed.notify_all()
        try:
            yield
        finally:
            with self._changed:
                self.in_flight -= 1
                self._changed.notify_all()

    def count_cancelled(self) -> None:
        """Count a client that hung up before its answer was sent, unless the service broke off."""
        with self._changed:
            self.cancelled += not (self.down or self.closing)
            self._changed.notify_all()

    def forget(self) -> None:
        """Forget past requests; those in flight stay counted."""
        with self._changed:
            self._requests.clear()
            self.cancelled = 0
            self.peak_in_flight = self.in_flight

    def wait(self, condition: Callable[[], bool], timeout: float) -> None:
        """Wait until the condition holds; it is checked at every change.

        Raises:
            TimeoutError: it does not hold in time.
        """
        with self._changed:
            if not self._changed.wait_for(condition, timeout):
                raise TimeoutError(f"the condition did not hold within {timeout:g} s")

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold all answers back until the block ends."""
        gate = Gate()
        self._gates.append(gate)
        self.gate = gate
        try:
            yield
        finally:
            self.gate = None
            gate.open()

    def close_gates(self) -> None:
        """Close the gates; nothing may wait for them any more."""
        for gate in self._gates:
            gate.close()

    def enter(self, connection: socket.socket) -> None:
        """Record that a connection begins."""
        with self._changed:
            self._connections[connection] = False

    def leave(self, connection: socket.socket) -> bool:
        """Record that a connection ends; return True if it is to end with a reset."""
        with self._changed:
            abrupt = self._connections.pop(connection, False)
            self._changed.notify_all()
            return abrupt or self.down

    def make_abrupt(self, connection: socket.socket) -> None:
        """Mark a connection to end with a reset."""
        with self._changed:
            if connection in self._connections:
                self._connections[connection] = True

    def cut_off(self) -> None:
        """Wake every connection, so that it ends."""
        with self._changed:
            for connection in self._connections:
                try:
                    connection.shutdown(socket.SHUT_RDWR)
                except OSError:
                    continue

    def wait_until_empty(self, timeout: float) -> bool:
        """Wait for every connection to end; False when one did not in time."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._connections, timeout)
