"""A fake service of any family as the contract of model providers sees it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import Generic, TypeVar

from vr_kernel.generation import Usage

from vr_testing.contracts.model_wire import Sent, Trouble
from vr_testing.service.errors import ServiceError
from vr_testing.service.faults import ServiceFault
from vr_testing.service.request import Received
from vr_testing.service.server import FakeService

FOR_EVER_S = 600.0
R = TypeVar("R", bound=Received)


class ServiceWire(ABC, Generic[R]):
    """Speaks for a running fake service; see `ModelWire`."""

    overloaded_status = 503

    def __init__(self, service: FakeService[R]) -> None:
        self.service = service

    @abstractmethod
    def bad_key(self) -> ServiceFault:
        """The refusal of a key."""

    @abstractmethod
    def read(self, request: R) -> Sent:
        """A question as it came over the wire."""

    def answer(self, text: str, *, thought: str = "") -> None:
        """See `ModelWire.answer`."""
        self.service.answer(text, thought=thought)

    def trouble(self, trouble: Trouble, *, retry_after: float | None = None) -> None:
        """See `ModelWire.trouble`."""
        faults: Mapping[Trouble, ServiceFault] = {
            **_FAULTS,
            "bad_key": self.bad_key(),
            "throttled": _throttled(retry_after),
            "overloaded": ServiceFault.status(self.overloaded_status),
        }
        self.service.fail(faults[trouble], when=lambda request: request.generates)

    def trickle(self) -> None:
        """See `ModelWire.trickle`."""
        self.service.pause = FOR_EVER_S

    def hold(self) -> AbstractContextManager[None]:
        """See `ModelWire.hold`."""
        return self.service.hold()

    def wait(self, condition: Callable[[], bool], timeout: float = 10.0) -> None:
        """See `ModelWire.wait`."""
        self.service.wait(condition, timeout)

    @property
    def sent(self) -> list[Sent]:
        """See `ModelWire.sent`."""
        return [self.read(request) for request in self.service.requests if request.generates]

    @property
    def attempts(self) -> int:
        """See `ModelWire.attempts`."""
        return sum(request.asks_model for request in self.service.requests)

    @property
    def in_flight(self) -> int:
        """See `ModelWire.in_flight`."""
        return self.service.in_flight

    @property
    def cancelled(self) -> int:
        """See `ModelWire.cancelled`."""
        return self.service.cancelled

    @property
    def bill(self) -> Usage:
        """See `ModelWire.bill`."""
        return self.service.bill


def _throttled(retry_after: float | None) -> ServiceFault:
    headers = {} if retry_after is None else {"Retry-After": f"{retry_after:g}"}
    return ServiceFault("throttled", error=lambda _request: ServiceError(429, headers=headers))


_FAULTS: dict[Trouble, ServiceFault] = {
    "bad_request": ServiceFault.status(400),
    "forbidden": ServiceFault.status(403),
    "not_found": ServiceFault.status(404),
    "internal": ServiceFault.status(500),
    "reset": ServiceFault.reset(),
    "lost": ServiceFault.lost(),
    "cut_off": ServiceFault.truncated(),
    "garbled": ServiceFault.truncated("clean"),
    "prompt_blocked": ServiceFault.prompt_blocked(),
    "answer_blocked": ServiceFault.answer_blocked(),
    "max_tokens": ServiceFault.max_tokens(),
    "stream_closed": ServiceFault.truncated("closed"),
    "stream_reset": ServiceFault.truncated("reset"),
    "stream_unfinished": ServiceFault.truncated("clean"),
}
