"""A circuit breaker: stops calls to a failing target, and notices when it works again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from vr_kernel.errors import Code, VrError
from vr_kernel.storage.database_faults import DAMAGED, UNAVAILABLE

CIRCUIT_OPEN = "CIRCUIT_OPEN"
NO_ROOM = "NO_ROOM"
"""Category of an error when a call waited too long for its turn."""
NOT_ASKED = frozenset({CIRCUIT_OPEN, NO_ROOM, UNAVAILABLE, DAMAGED})
"""Categories of errors of attempts that did not reach their target; they are not retried."""
FAILED_CALLS = 5
"""Calls in a row that must fail before the circuit opens."""
PROBE_PAUSE_S = 3.0
"""Seconds from one probe to the next, and from the end of a failed one."""


class Circuit:
    """The circuit of one target. Closed, it lets every call through.

    It opens when `FAILED_CALLS` calls in a row fail with a retryable UNAVAILABLE, such as a passed
    deadline. Invalid, throttled or cancelled requests, and those that only waited for room, do not
    count. When open, it lets one call through every `PROBE_PAUSE_S`, even while an earlier one
    hangs, and refuses all others. The first success closes it.

    Args:
        target: what the calls go to, as messages name it.
        clock: a monotonic clock, in seconds.
    """

    def __init__(self, target: str, clock: Callable[[], float]) -> None:
        self._target = target
        self._clock = clock
        self._failures = 0
        self._next_probe: float | None = None

    @property
    def closed(self) -> bool:
        """True when every call is let through."""
        return self._next_probe is None

    def rests(self) -> float | None:
        """Seconds until the next probe may go, 0 when it may go now; None when closed."""
        return None if self._next_probe is None else max(0.0, self._next_probe - self._clock())

    @contextmanager
    def call(self) -> Iterator[bool]:
        """Wrap one call with all its attempts, and learn from its outcome.

        Yields True when the call is a probe.

        Raises:
            VrError: UNAVAILABLE, category CIRCUIT_OPEN, when the call is refused.
        """
        probe = self._enter()
        try:
            yield probe
        except BaseException as error:
            self._learn(error, probe=probe)
            raise
        self._failures, self._next_probe = 0, None

    def check(self) -> None:
        """Check that a call that has waited, and is no probe, may still go.

        Raises:
            VrError: UNAVAILABLE, category CIRCUIT_OPEN, when the circuit has opened meanwhile.
        """
        rest = self.rests()
        if rest is not None:
            raise self._refused(rest)

    def _enter(self) -> bool:
        rest = self.rests()
        if rest is None:
            return False
        if rest > 0:
            raise self._refused(rest)
        self._next_probe = self._clock() + PROBE_PAUSE_S
        return True

    def _learn(self, error: BaseException, *, probe: bool) -> None:
        if isinstance(error, VrError) and _is_ill(error):
            self._failures += 1
        if (probe and not self.closed) or (self.closed and self._failures >= FAILED_CALLS):
            self._next_probe = self._clock() + PROBE_PAUSE_S

    def _refused(self, rest: float) -> VrError:
        return VrError(
            f"{self._target} failed again and again, so it is left alone for {rest:.1f} s.",
            Code.UNAVAILABLE,
            category=CIRCUIT_OPEN,
            hint="Try again then, or name another model for the role in [models].",
            retryable=True,
            retry_after=rest,
        )


def _is_ill(error: VrError) -> bool:
    """Check if the error says that the target is failing."""
    unwell = error.retryable and error.code is Code.UNAVAILABLE
    return unwell and error.category not in NOT_ASKED
