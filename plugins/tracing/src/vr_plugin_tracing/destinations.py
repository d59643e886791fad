"""Destinations of spans and metrics: a collector, an MLflow server, the terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol
from urllib.parse import quote

from vr_plugin_tracing.addresses import address_of, headers_of
from vr_plugin_tracing.posting import Server, UndeliveredError
from vr_plugin_tracing.settings import CONSOLE

if TYPE_CHECKING:
    from opentelemetry.sdk.metrics.export import MetricsData
    from opentelemetry.sdk.trace import ReadableSpan

    from vr_plugin_tracing.settings import TracingSettings

_PROTOBUF = "application/x-protobuf"
_EXPERIMENTS = "/api/2.0/mlflow/experiments"
_MISSING, _EXISTS = 404, (400, 409)


class Destination(Protocol):
    """A place that spans are sent to, by a thread of its own."""

    @property
    def name(self) -> str:
        """The place, for a person."""

    @property
    def takes_metrics(self) -> bool:
        """True when it takes metrics, too."""

    def send_spans(self, spans: Sequence[ReadableSpan]) -> None:
        """Send a batch.

        Raises:
            UndeliveredError: when it did not arrive.
        """

    def send_metrics(self, data: MetricsData) -> None:
        """Send the metrics as they are now.

        Raises:
            UndeliveredError: when they did not arrive.
        """


class Collector:
    """A server that takes OTLP over HTTP."""

    def __init__(self, server: Server, *, takes_metrics: bool) -> None:
        self._server = server
        self.takes_metrics = takes_metrics

    @property
    def name(self) -> str:
        """Its host and port."""
        return self._server.address.name

    def send_spans(self, spans: Sequence[ReadableSpan]) -> None:
        """Send a batch."""
        self._server.post("/v1/traces", encoded_spans(spans), _PROTOBUF)

    def send_metrics(self, data: MetricsData) -> None:
        """Send the metrics."""
        from opentelemetry.exporter.otlp.proto.common.metrics_encoder import encode_metrics

        self._server.post("/v1/metrics", encode_metrics(data).SerializeToString(), _PROTOBUF)


class MlflowServer:
    """An MLflow server, which keeps spans under an experiment; it takes no metrics.

    Args:
        server: its address.
        experiment: the name, by which its id is looked up before the first batch.
    """

    takes_metrics = False

    def __init__(self, server: Server, experiment: str) -> None:
        self._server = server
        self._experiment = experiment
        self._id = ""

    @property
    def name(self) -> str:
        """Its host and port."""
        return f"MLflow at {self._server.address.name}"

    def send_spans(self, spans: Sequence[ReadableSpan]) -> None:
        """Send a batch to the experiment; a missing one is made."""
        self._id = self._id or self._found() or self._made()
        header = {"x-mlflow-experiment-id": self._id}
        try:
            self._server.post("/v1/traces", encoded_spans(spans), _PROTOBUF, **header)
        except UndeliveredError as failure:
            self._id = ""
            if failure.status != _MISSING:
                raise
            reason = "it takes no spans, which MLflow does from version 3.6"
            raise UndeliveredError(reason, temporary=False, status=_MISSING) from None

    def send_metrics(self, data: MetricsData) -> None:
        """Do nothing."""

    def _found(self) -> str:
        path = f"{_EXPERIMENTS}/get-by-name?experiment_name={quote(self._experiment, safe='')}"
        try:
            answer = self._server.get_json(path).get("experiment")
        except UndeliveredError as failure:
            if failure.status == _MISSING:
                return ""
            raise
        found = answer if isinstance(answer, dict) else {}
        if found.get("lifecycle_stage") == "deleted":
            raise UndeliveredError("its experiment of that name is deleted", temporary=False)
        return _id_in(found)

    def _made(self) -> str:
        try:
            return _id_in(
                self._server.post_json(f"{_EXPERIMENTS}/create", {"name": self._experiment})
            )
        except UndeliveredError as failure:
            if failure.status in _EXISTS and (found := self._found()):
                return found  # another process was quicker
            raise


class Terminal:
    """The standard error stream; standard output belongs to the protocol."""

    name = "stderr"
    takes_metrics = False

    def send_spans(self, spans: Sequence[ReadableSpan]) -> None:
        """Write each span as one line of JSON."""
        sys.stderr.write("".join(f"{span.to_json(indent=None)}\n" for span in spans))
        sys.stderr.flush()

    def send_metrics(self, data: MetricsData) -> None:
        """Do nothing."""


def collector_of(settings: TracingSettings) -> Collector:
    """Return the collector that the settings name.

    Raises:
        ValueError: for an address or headers that cannot be used.
    """
    headers = headers_of(settings.headers.get_secret_value())
    address = address_of(settings.endpoint)
    server = Server(address, headers, settings.timeout_s, settings.certificate)
    return Collector(server, takes_metrics=settings.metrics)


def mlflow_of(settings: TracingSettings) -> MlflowServer:
    """Return the MLflow server that the settings name.

    Raises:
        ValueError: as `collector_of`.
    """
    token = settings.mlflow_token.get_secret_value()
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    server = Server(
        address_of(settings.mlflow_uri), headers, settings.timeout_s, settings.certificate
    )
    return MlflowServer(server, settings.mlflow_experiment)


def chosen(settings: TracingSettings) -> dict[str, Callable[[], Destination]]:
    """Return what makes each destination that the settings choose, by the setting that names it."""
    if settings.exporter == CONSOLE:
        return {"exporter": Terminal}
    made: dict[str, Callable[[], Destination]] = {}
    if settings.endpoint:
        made["endpoint"] = lambda: collector_of(settings)
    if settings.mlflow_uri:
        made["mlflow_uri"] = lambda: mlflow_of(settings)
    return made


def encoded_spans(spans: Sequence[ReadableSpan]) -> bytes:
    """Return spans as the body of a request of OTLP."""
    from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans

    data: bytes = encode_spans(spans).SerializeToString()
    return data


def _id_in(answer: dict[str, object]) -> str:
    found = answer.get("experiment_id")
    if not isinstance(found, str) or not found.isalnum():
        raise UndeliveredError("it names no id of the experiment", temporary=False)
    return found
