"""Metrics of calls, requests, tokens, dollars and jobs, counted in this process."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from vr_plugin_tracing import names
from vr_plugin_tracing.attributes import (
    Attributes,
    call_identity,
    request_identity,
    token_counts,
)

if TYPE_CHECKING:
    from opentelemetry.sdk.metrics.export import MetricsData
    from opentelemetry.sdk.resources import Resource
    from vr_kernel import CallFinished, RequestFinished


class Metrics:
    """Counters and histograms of one kernel; every call counts, sampled or not.

    Args:
        resource: describes this program.
        count_jobs: returns the number of jobs by their state.
    """

    def __init__(self, resource: Resource, count_jobs: Callable[[], Mapping[str, int]]) -> None:
        from opentelemetry.sdk.metrics import AlwaysOffExemplarFilter, MeterProvider
        from opentelemetry.sdk.metrics.export import InMemoryMetricReader
        from vr_kernel import VERSION

        self._reader = InMemoryMetricReader()
        self._provider = MeterProvider(
            [self._reader], resource, AlwaysOffExemplarFilter(), shutdown_on_exit=False
        )
        self._meter = self._provider.get_meter(names.SCOPE, VERSION)
        self._count_jobs = count_jobs
        count = self._meter.create_counter
        self._calls = count(names.CALLS, "{call}", "Calls of tools, and turns.")
        self._errors = count(names.ERRORS, "{call}", "Calls that failed.")
        self._records = count(names.RECORDED, "{record}", "Records that calls made.")
        self._spent = count(names.SPENT, "{USD}", "Cost of requests to models, where it is known.")
        self._call_seconds = self._histogram(names.CALL_DURATION, "s", names.CALL_SECONDS)
        self._request_seconds = self._histogram(names.REQUEST_DURATION, "s", names.REQUEST_SECONDS)
        self._tokens = self._histogram(names.TOKENS, "{token}", names.TOKEN_COUNTS)
        self._meter.create_observable_gauge(
            names.JOBS, [self._observed_jobs], "{job}", "Jobs of the owner by their state."
        )

    def add_call(self, event: CallFinished, *, turn: bool) -> None:
        """Count a call or a turn."""
        identity = call_identity(event, turn=turn)
        named: Attributes = {**identity, names.PLUGIN: event.plugin, names.CACHED: event.cached}
        self._calls.add(1, named)
        if not event.ok:
            self._errors.add(1, named)
        if event.records:
            self._records.add(event.records, named)
        if names.METHOD in identity:
            self._call_seconds.record(event.duration_s, identity)

    def add_request(self, event: RequestFinished) -> None:
        """Count an attempt to ask a model."""
        identity = request_identity(event)
        failed: Attributes = {names.ERROR: event.code.value} if event.code is not None else {}
        self._request_seconds.record(event.duration_s, {**identity, **failed})
        if event.usage is None:
            return
        for kind, tokens in token_counts(event.usage).items():
            if tokens:
                self._tokens.record(tokens, {**identity, names.TOKEN_TYPE: kind})
        if event.usage.cost_usd:
            named: Attributes = {**identity, names.PLUGIN: event.plugin, names.TOOL: event.tool}
            self._spent.add(event.usage.cost_usd, named)

    def collect(self) -> MetricsData | None:
        """Return the metrics as they are now."""
        return self._reader.get_metrics_data()

    def close(self) -> None:
        """Let go of what the library keeps."""
        self._provider.shutdown()

    def _histogram(self, name: str, unit: str, bounds: Iterable[float]) -> Any:
        return self._meter.create_histogram(
            name, unit, explicit_bucket_boundaries_advisory=list(bounds)
        )

    def _observed_jobs(self, _: object) -> Iterable[Any]:
        from opentelemetry.metrics import Observation

        counts = self._count_jobs()
        return [Observation(count, {names.STATE: state}) for state, count in counts.items()]
