"""A collector over a real socket: it decodes what it is sent, keeps the raw bytes, and can fail."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from opentelemetry.proto.trace.v1.trace_pb2 import Span as WireSpan

TRACES, METRICS = "/v1/traces", "/v1/metrics"
HANG, CUT = "hang", "cut"


class ReceivedSpan:
    """A span as it came over the wire."""

    def __init__(self, wire: WireSpan, resource: Mapping[str, Any]) -> None:
        from opentelemetry.proto.trace.v1.trace_pb2 import Span

        self.name = wire.name
        self.trace, self.id = wire.trace_id.hex(), wire.span_id.hex()
        self.parent = wire.parent_span_id.hex()
        self.kind = Span.SpanKind.Name(wire.kind).removeprefix("SPAN_KIND_")
        self.begin, self.end = wire.start_time_unix_nano / 1e9, wire.end_time_unix_nano / 1e9
        self.attributes = _values(wire.attributes)
        self.failed = wire.status.code == 2
        self.links = [(it.span_id.hex(), _values(it.attributes)) for it in wire.links]
        self.state = wire.trace_state
        self.resource = resource


class FakeCollector(ThreadingHTTPServer):
    """A collector; `answer` is a status, or `hang` or `cut` for a server that is out of order."""

    daemon_threads = True
    block_on_close = False

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Asked)
        self.answer: int | str = 200
        self.requests: list[tuple[str, dict[str, str], bytes]] = []
        self.arrived = threading.Event()
        self.released = threading.Event()
        self.experiments: dict[str, str] = {}
        self.url = f"http://127.0.0.1:{self.server_port}"
        self._thread = threading.Thread(target=self.serve_forever, args=(0.02,))

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.released.set()
        self.shutdown()
        self._thread.join()
        self.server_close()

    @property
    def raw(self) -> bytes:
        """Every byte that was sent."""
        heads = [f"{path} {headers}".encode() for path, headers, _ in self.requests]
        return b"\n".join([*heads, *(body for _, _, body in self.requests)])

    @property
    def spans(self) -> list[ReceivedSpan]:
        """All spans, in order."""
        from opentelemetry.proto.collector.trace.v1 import trace_service_pb2

        read = trace_service_pb2.ExportTraceServiceRequest.FromString
        found = []
        for path, _, body in self.requests:
            if path == TRACES:
                for group in read(body).resource_spans:
                    resource = _values(group.resource.attributes)
                    for scope in group.scope_spans:
                        found += [ReceivedSpan(it, resource) for it in scope.spans]
        return found

    @property
    def metrics(self) -> dict[str, list[tuple[dict[str, Any], float]]]:
        """The last metrics by their name: attributes, and the value or the sum of each."""
        from opentelemetry.proto.collector.metrics.v1 import metrics_service_pb2

        read = metrics_service_pb2.ExportMetricsServiceRequest.FromString
        bodies = [body for path, _, body in self.requests if path == METRICS]
        found: dict[str, list[tuple[dict[str, Any], float]]] = {}
        for group in read(bodies[-1]).resource_metrics:
            for metric in (it for scope in group.scope_metrics for it in scope.metrics):
                points = getattr(metric, metric.WhichOneof("data")).data_points
                found[metric.name] = [(_values(it.attributes), _value(it)) for it in points]
        return found


class _Asked(BaseHTTPRequestHandler):
    server: FakeCollector

    def do_GET(self) -> None:
        self._experiment(self.path.rpartition("=")[2])

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        server = self.server
        if self.path.endswith("/create"):
            name = json.loads(body)["name"]
            server.experiments[name] = str(len(server.experiments) + 7)
            self._experiment(name)
            return
        server.requests.append((self.path, dict(self.headers), body))
        server.arrived.set()
        if server.answer == HANG:
            server.released.wait()
        if isinstance(server.answer, int):
            self._send(server.answer, {})

    def _experiment(self, name: str) -> None:
        found = self.server.experiments.get(name)
        if found is None:
            self._send(404, {"error_code": "RESOURCE_DOES_NOT_EXIST"})
        elif self.command == "POST":
            self._send(200, {"experiment_id": found})
        else:
            stage = {"experiment_id": found, "name": name, "lifecycle_stage": "active"}
            self._send(200, {"experiment": stage})

    def _send(self, status: int, content: Mapping[str, Any]) -> None:
        data = json.dumps(content).encode()
        self.send_response(status)
        if 300 <= status < 400:
            self.send_header("Location", f"{self.server.url}/elsewhere")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def _values(pairs: Any) -> dict[str, Any]:
    return {it.key: getattr(it.value, it.value.WhichOneof("value")) for it in pairs}


def _value(point: Any) -> float:
    if hasattr(point, "bucket_counts"):
        return float(point.sum)
    return float(getattr(point, point.WhichOneof("value")))
