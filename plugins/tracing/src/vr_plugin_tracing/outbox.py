"""Spans on their way: a bounded queue, and a thread that empties it without holding up a call."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from vr_plugin_tracing.posting import UndeliveredError

if TYPE_CHECKING:
    from opentelemetry.sdk.metrics.export import MetricsData
    from opentelemetry.sdk.trace import ReadableSpan
    from vr_kernel import Log

    from vr_plugin_tracing.destinations import Destination
    from vr_plugin_tracing.settings import TracingSettings

BATCH = 512
"""Most spans in one request."""


class Outbox:
    """Everything that waits to be sent to one destination.

    Spans that could not be delivered for a reason that may pass wait for the next time, as many as
    the queue holds; of more the oldest are lost, and counted. The log gets one line about the first
    failure, and one about what was lost in the end.

    Args:
        destination: gets everything.
        settings: size of the queue, and how often it is emptied.
        log: gets failures.
        collect: returns the metrics as they are now.
    """

    def __init__(
        self,
        destination: Destination,
        settings: TracingSettings,
        log: Log,
        collect: Callable[[], MetricsData | None],
    ) -> None:
        self._destination = destination
        self._settings = settings
        self._log = log
        self._collect = collect
        self._queue: deque[ReadableSpan] = deque(maxlen=settings.queue)
        self._wake = threading.Event()
        self._closing = False
        self._overflown = self._refused = self._flying = 0
        self._told = False
        self._thread = threading.Thread(target=self._run, name="vr-tracing", daemon=True)

    def open(self) -> None:
        """Begin to send."""
        self._thread.start()

    def put(self, span: ReadableSpan) -> None:
        """Have a span sent; never waits."""
        if len(self._queue) == self._settings.queue:
            self._overflown += 1
        self._queue.append(span)
        if len(self._queue) == BATCH:
            self._wake.set()

    def finish(self) -> None:
        """Have what is left sent now; nothing is put in any more."""
        self._closing = True
        self._wake.set()

    def close(self, limit_s: float) -> None:
        """Wait until everything is sent, as long as the limit allows."""
        self._thread.join(limit_s)
        lost = self._overflown + self._refused + self._flying + len(self._queue)
        if lost:
            self._log.warning(
                "spans were lost, or nobody confirmed them", to=self._destination.name, spans=lost
            )

    def _run(self) -> None:
        due = time.monotonic() + self._settings.metrics_interval_s
        closing = False
        while not closing:
            self._wake.wait(self._settings.interval_s)
            self._wake.clear()
            closing = self._closing
            sent = self._send_all()
            if self._destination.takes_metrics and (closing or time.monotonic() >= due):
                due = time.monotonic() + self._settings.metrics_interval_s
                if sent:
                    self._attempt(self._send_metrics)

    def _send_all(self) -> bool:
        """Send batch after batch, until nothing is left or one fails."""
        while self._queue:
            batch = [self._queue.popleft() for _ in range(min(BATCH, len(self._queue)))]
            self._flying = len(batch)
            failure = self._attempt(partial(self._destination.send_spans, batch))
            self._flying = 0
            if failure is not None:
                self._take_back(batch if failure.temporary else [], len(batch))
                return False
        return True

    def _take_back(self, batch: list[ReadableSpan], tried: int) -> None:
        room = self._settings.queue - len(self._queue)
        kept = batch[-room:] if room > 0 else []
        self._queue.extendleft(reversed(kept))
        self._refused += tried - len(kept)

    def _attempt(self, send: Callable[[], None]) -> UndeliveredError | None:
        try:
            send()
        except UndeliveredError as error:
            failure = error
        except Exception as error:  # noqa: BLE001 - a thread that ends sends nothing any more
            failure = UndeliveredError(type(error).__name__, temporary=False)
        else:
            return None
        if not self._told:
            self._told = True
            self._log.warning(
                "traces are not delivered; work goes on without them",
                to=self._destination.name,
                reason=str(failure),
            )
        return failure

    def _send_metrics(self) -> None:
        data = self._collect()
        if data is not None:
            self._destination.send_metrics(data)
