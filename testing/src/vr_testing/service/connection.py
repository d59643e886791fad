"""One connection of a client: reads requests, waits as a model would, sends or breaks answers."""

from __future__ import annotations

import os
import selectors
import socket
import socketserver
import struct
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from http.server import BaseHTTPRequestHandler
from typing import Any, Protocol

from vr_testing.service.behaviour import ServiceBehaviour
from vr_testing.service.faults import ServiceFault
from vr_testing.service.framing import framed, read_body
from vr_testing.service.reply import HttpReply
from vr_testing.service.request import Received
from vr_testing.service.script import Script
from vr_testing.service.traffic import Gate, Traffic

_PIPELINED_PAUSE_S = 0.01
_LINGER = struct.pack("hh" if os.name == "nt" else "ii", 1, 0)


class Family(Protocol):
    """A family of services: it reads requests and answers them."""

    def keeps_body(self, method: str, target: str, headers: Mapping[str, str]) -> bool:
        """True when the body is read at once; else it is handed to `answer` as it arrives."""

    def read(
        self, method: str, target: str, headers: Mapping[str, str], raw: bytes | None, at: float
    ) -> Received:
        """Parse a request as read from the socket; `raw` is None where the body is not kept."""

    def answer(self, request: Any, fault: ServiceFault | None, data: Iterable[bytes]) -> HttpReply:
        """The answer to a request; `data` is what was not read of its body."""

    def abandon(self, request: Any, data: Iterator[bytes]) -> None:
        """Take what had arrived of a request whose connection is reset."""

    def failure(self, message: str) -> HttpReply:
        """The answer when the script itself failed."""


class HungUp(Exception):  # noqa: N818 - the client's doing, not an error of ours
    """The client is gone, or the service is closing."""


class Listener(socketserver.ThreadingTCPServer):
    """Accepts connections, one thread each."""

    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 512

    def __init__(
        self,
        port: int,
        behaviour: ServiceBehaviour,
        script: Script,
        family: Family,
        traffic: Traffic,
    ) -> None:
        super().__init__(("127.0.0.1", port), Connection)
        self.behaviour = behaviour
        self.script = script
        self.family = family
        self.traffic = traffic

    def process_request(self, request: Any, client_address: Any) -> None:
        """Begin a connection, unless the service is down."""
        self.traffic.enter(request)
        if self.traffic.down or self.traffic.closing:
            self.shutdown_request(request)
        else:
            super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        """End a connection: gracefully, or with a reset."""
        if self.traffic.leave(request):
            request.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _LINGER)
            self.close_request(request)
        else:
            super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ARG002 - its form
        """Ignore a connection that the client broke; report any other error at the end."""
        error = sys.exception()
        if error is not None and not isinstance(error, OSError):
            self.traffic.problems.append(error)


class Connection(BaseHTTPRequestHandler):
    """The requests of one connection, one after another."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: Listener

    def do_POST(self) -> None:
        """Answer a request of any method."""
        at = time.monotonic()
        headers = {name.lower(): value for name, value in self.headers.items()}
        data = read_body(self.rfile, self.headers)
        family = self.server.family
        kept = family.keeps_body(self.command, self.path, headers)
        raw = b"".join(data) if kept else None
        request = family.read(self.command, self.path, headers, raw, at)
        with self.server.traffic.under_way(request):
            try:
                self._answer(request, data)
            except (HungUp, OSError):
                self.close_connection = True
                self.server.traffic.count_cancelled()

    do_GET = do_PATCH = do_DELETE = do_PUT = do_POST  # noqa: N815 - names of the library

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name it overrides
        """Print nothing; `requests` has it all."""

    def _answer(self, request: Received, data: Iterator[bytes]) -> None:
        server = self.server
        fault = server.script.fault_of(request)
        delivery = fault.delivery if fault else "whole"
        if delivery == "reset":
            server.family.abandon(request, data)
            self._reset()
            return
        if delivery == "hang":
            self._wait(None)
        if request.asks_model:
            self._wait_for_gate()
            self._wait(server.behaviour.latency)
        reply = self._reply(request, fault, data)
        for _ in data:
            pass  # unread bytes of the body would be taken for the next request
        if delivery == "lost":
            self._reset()
            return
        self._send(reply, fault)

    def _reply(
        self, request: Received, fault: ServiceFault | None, data: Iterator[bytes]
    ) -> HttpReply:
        try:
            reply = self.server.family.answer(request, fault, data)
        except OSError:
            raise
        except Exception as error:  # noqa: BLE001 - a scripted function is a test's code
            self.server.traffic.problems.append(error)
            return self.server.family.failure(f"The scripted answer failed: {error!r}")
        return reply if fault is None or fault.instead is None else fault.instead

    def _send(self, reply: HttpReply, fault: ServiceFault | None) -> None:
        blocks = framed(reply, fault)
        if fault is not None and fault.delivery == "slow":
            pause = fault.pause
            blocks = [bytes([byte]) for byte in b"".join(blocks)]
        else:
            pause = self.server.behaviour.pause if reply.streams else 0.0
        for block in blocks:
            self._wait(pause if block is not blocks[0] else 0.0)
            self.connection.sendall(block)
        if fault is not None and fault.delivery == "truncated" and fault.ending != "clean":
            self.close_connection = True
            if fault.ending == "reset":
                self._reset()

    def _reset(self) -> None:
        self.close_connection = True
        self.server.traffic.make_abrupt(self.connection)

    def _wait_for_gate(self) -> None:
        if gate := self.server.traffic.gate:
            self._watch(None, gate)

    def _wait(self, seconds: float | None) -> None:
        self._watch(None if seconds is None else time.monotonic() + seconds, None)

    def _watch(self, until: float | None, gate: Gate | None) -> None:
        """Wait until a moment or for a gate.

        Raises:
            HungUp: the client has closed the connection meanwhile.
        """
        with selectors.DefaultSelector() as selector:
            selector.register(self.connection, selectors.EVENT_READ)
            if gate is not None:
                selector.register(gate.opened, selectors.EVENT_READ)
            while True:
                left = None if until is None else max(0.0, until - time.monotonic())
                ready = {key.fileobj for key, _ in selector.select(left)}
                if self.connection in ready and not self.connection.recv(1, socket.MSG_PEEK):
                    raise HungUp
                if not ready or (gate is not None and gate.opened in ready):
                    return
                if until is not None and time.monotonic() >= until:
                    return
                time.sleep(_PIPELINED_PAUSE_S)
