"""Checks of `vr doctor`: where traces go, and whether somebody listens there."""

from __future__ import annotations

import socket
from functools import partial
from typing import TYPE_CHECKING

from vr_kernel import Check, Diagnosis, Services

from vr_plugin_tracing.addresses import address_of, headers_of
from vr_plugin_tracing.settings import CONSOLE

if TYPE_CHECKING:
    from vr_plugin_tracing.settings import TracingSettings

PATIENCE_S = 2.0
"""Seconds that a server may take to accept a connection."""
OFF = "Off: no address is set, or it is turned off."
GRPC = 4317


def tracing_checks(services: Services) -> list[Check]:
    """One check for each address; a single one when there is none."""
    settings: TracingSettings = services.settings
    if not settings.on:
        return [Check("tracing", lambda: Diagnosis.ok(OFF))]
    if settings.exporter == CONSOLE:
        return [Check("tracing", lambda: Diagnosis.ok("Spans are written to stderr."))]
    checks = []
    if settings.endpoint:
        headers = settings.headers.get_secret_value()
        look = partial(_examined, "endpoint", settings.endpoint, headers)
        checks.append(Check("tracing: collector", look))
    if settings.mlflow_uri:
        look = partial(_examined, "mlflow_uri", settings.mlflow_uri)
        checks.append(Check("tracing: MLflow", look))
    return checks


def _examined(setting: str, url: str, headers: str = "") -> Diagnosis:
    """Connect, and say nothing: whether the server takes spans shows when some are sent."""
    try:
        address = address_of(url)
        headers_of(headers)
    except ValueError as wrong:
        return Diagnosis.warning(
            f"Traces are not sent: {wrong}.", f"Correct {setting} or headers in [plugins.tracing]."
        )
    try:
        socket.create_connection((address.host, address.port), PATIENCE_S).close()
    except OSError as error:
        reason = error.strerror or type(error).__name__
        return Diagnosis.warning(
            f"Nobody listens at {address.name} ({reason}); work goes on without traces.",
            f"Start that server, or correct {setting} in [plugins.tracing].",
        )
    if address.port == GRPC:
        return Diagnosis.warning(
            f"{address.name} usually takes gRPC, which is not spoken here.",
            "Name the port for OTLP over HTTP, usually 4318.",
        )
    return Diagnosis.ok(f"{address.name} accepts connections.")
