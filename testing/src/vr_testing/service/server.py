"""A fake service of any family: started and stopped, scripted and asked what happened."""

from __future__ import annotations

import threading
from abc import abstractmethod
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from types import TracebackType
from typing import Generic, Protocol, Self, TypeVar, cast

from vr_kernel.generation import Usage

from vr_testing.service.answer import Reaction
from vr_testing.service.behaviour import ServiceBehaviour
from vr_testing.service.bill import Bill
from vr_testing.service.connection import Family, Listener
from vr_testing.service.faults import ServiceFault
from vr_testing.service.request import Received
from vr_testing.service.script import Predicate, Script
from vr_testing.service.traffic import Traffic

POLL_S = 0.005
CLOSING_S = 5.0
R = TypeVar("R", bound=Received)


class BilledFamily(Family, Protocol):
    """A family that writes a bill."""

    bill: Bill


class FakeService(ServiceBehaviour, Generic[R]):
    """A service on this machine: real HTTP, scripted answers, real errors, a bill.

    It runs in threads of its own: a test may be synchronous or run an event loop, and clients may
    be other processes. All that its behaviour names (`latency`, `keys`, …) is an attribute here and
    may be set at any time. A request without a script is answered with an instance of the requested
    schema, or a short text.
    """

    def __init__(self, *, port: int = 0, seed: int = 0) -> None:
        """Prepare the service.

        Args:
            port: where to listen on 127.0.0.1; any free port when left out.
            seed: of the random numbers for `fail(..., rate=...)`.
        """
        self._script = Script(seed)
        self._family = self.serve_with(self._script)
        self._traffic = Traffic()
        self._listener = Listener(port, self, self._script, self._family, self._traffic)
        self._thread = threading.Thread(
            target=self._listener.serve_forever, args=(POLL_S,), name="fake-service", daemon=True
        )

    @abstractmethod
    def serve_with(self, script: Script) -> BilledFamily:
        """Return what reads and answers the requests of this family."""

    @property
    def url(self) -> str:
        """The base address of the service, without a slash at its end."""
        return f"http://127.0.0.1:{self._listener.server_address[1]}"

    def start(self) -> Self:
        """Begin to serve."""
        self._thread.start()
        return self

    def close(self) -> None:
        """Abort what is under way, and stop; calling it twice does no harm."""
        self._traffic.closing = True
        if self._thread.is_alive():
            self._listener.shutdown()
            self._thread.join()
        self._listener.server_close()
        self._traffic.cut_off()
        if self._traffic.wait_until_empty(CLOSING_S):
            self._traffic.close_gates()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Stop; an exception of a scripted function, which is the test's, is raised again here."""
        self.close()
        if error is None and self._traffic.problems:
            raise self._traffic.problems[0]

    def answer(
        self,
        reaction: Reaction,
        *,
        thought: str = "",
        when: Predicate | None = None,
        times: int | None = None,
    ) -> None:
        """Script an answer; rules are tried in the order in which they were given.

        Args:
            reaction: a text, a value to send as JSON, an `Answer`, or a function of the request
                that returns one of them.
            thought: the model's thoughts before the answer.
            when: the requests that it answers; all when left out.
            times: how often; always when left out.
        """
        self._script.add_answer(reaction, thought, when, times)

    def fail(
        self,
        fault: ServiceFault,
        *,
        when: Predicate | None = None,
        times: int | None = 1,
        rate: float | None = None,
    ) -> None:
        """Make requests fail; rules are tried in the order in which they were given.

        Args:
            fault: what happens.
            when: the requests it may happen to; all that the fault applies to when left out.
            times: how often; None for always.
            rate: the chance that it happens, 0 to 1, from a seeded generator; `times` does not
                count then.
        """
        self._script.add_fault(fault, when, times, rate)

    def heal(self) -> None:
        """Forget every scripted answer and fault."""
        self._script.clear()

    def hold(self) -> AbstractContextManager[None]:
        """Hold all answers back until the `with` block ends, so that requests pile up."""
        return self._traffic.held()

    def wait(self, condition: Callable[[], bool], timeout: float = 10.0) -> None:
        """Wait until a condition on this object holds, such as `service.in_flight == 3`.

        From an event loop, call it in a thread: `await asyncio.to_thread(service.wait, ...)`.

        Raises:
            TimeoutError: it does not hold within `timeout` seconds.
        """
        self._traffic.wait(condition, timeout)

    @property
    def down(self) -> bool:
        """True while every connection is refused; set it to True to abort all connections, too."""
        return self._traffic.down

    @down.setter
    def down(self, value: bool) -> None:
        self._traffic.down = value
        if value:
            self._traffic.cut_off()

    @property
    def requests(self) -> list[R]:
        """Every request so far, in the order in which they came."""
        return cast("list[R]", self._traffic.requests)

    def requests_of(self, *actions: str) -> list[R]:
        """The requests of these actions."""
        return [request for request in self.requests if request.action in actions]

    def forget(self) -> None:
        """Forget the requests so far, and the counts of cancelled ones and the peak."""
        self._traffic.forget()

    @property
    def cancelled(self) -> int:
        """Number of requests whose client hung up before the answer was sent."""
        return self._traffic.cancelled

    @property
    def in_flight(self) -> int:
        """Number of requests that are being answered at this moment."""
        return self._traffic.in_flight

    @property
    def peak_in_flight(self) -> int:
        """The most requests that were being answered at the same time."""
        return self._traffic.peak_in_flight

    @property
    def bill(self) -> Usage:
        """The cost of all that was generated so far, delivered or not; an error costs nothing."""
        return self._family.bill.total

    @property
    def bills(self) -> Mapping[str, Usage]:
        """The same bill by model."""
        return self._family.bill.by_model
