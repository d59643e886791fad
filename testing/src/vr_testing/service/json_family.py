"""The part of a family that is the same wherever requests and answers are JSON."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, ClassVar, Generic, TypeVar

from vr_testing.service.behaviour import ServiceBehaviour
from vr_testing.service.bill import Bill
from vr_testing.service.errors import ServiceError
from vr_testing.service.faults import ServiceFault
from vr_testing.service.http import HttpRequest
from vr_testing.service.reply import HttpReply
from vr_testing.service.script import Script

R = TypeVar("R", bound=HttpRequest)


class JsonFamily(ABC, Generic[R]):
    """Reads and answers the requests of one fake service, and writes its bill."""

    request_type: ClassVar[type[Any]]

    def __init__(self, behaviour: ServiceBehaviour, script: Script) -> None:
        self.behaviour = behaviour
        self.script = script
        self.bill = Bill()

    @abstractmethod
    def reply(self, request: R, fault: ServiceFault | None) -> HttpReply:
        """The answer to a request.

        Raises:
            ServiceError: for a request that is refused.
        """

    @abstractmethod
    def error(self, error: ServiceError) -> HttpReply:
        """The error with its body."""

    @abstractmethod
    def error_event(self, body: bytes) -> bytes:
        """The body of an error as an event of a stream."""

    def key_of(self, request: R) -> str:
        """The key of a request; empty when it has none."""
        return str(getattr(request, "api_key", ""))

    def keeps_body(self, _method: str, _target: str, _headers: Mapping[str, str]) -> bool:
        """True: every body is JSON."""
        return True

    def read(
        self, method: str, target: str, headers: Mapping[str, str], raw: bytes | None, at: float
    ) -> Any:
        """Parse a request as read from the socket."""
        return self.request_type.read(method, target, headers, raw, at)

    def abandon(self, request: R, data: Iterator[bytes]) -> None:
        """Do nothing: a request whose connection is reset leaves nothing behind."""

    def failure(self, message: str) -> HttpReply:
        """500, with what the script said."""
        return self.error(ServiceError(500, message))

    def answer(self, request: R, fault: ServiceFault | None, _data: Iterable[bytes]) -> HttpReply:
        """The answer to a request, or the error that it ends in."""
        try:
            keys = self.behaviour.keys
            if keys is not None and self.key_of(request) not in keys:
                raise ServiceError(401)  # noqa: TRY301 - so does an unknown model
            if fault is None or fault.error is None:
                return self.reply(request, fault)
            if fault.events is None:
                raise fault.error(request)
            sent = self.reply(request, fault)
            body = self.error(fault.error(request)).body
            return replace(sent, events=(*sent.events[: fault.events], self.error_event(body)))
        except ServiceError as error:
            return self.error(error)
