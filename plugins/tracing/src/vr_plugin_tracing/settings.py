"""The section `[plugins.tracing]`."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, SecretStr
from vr_kernel import EnvAlias, Section

OTLP, CONSOLE, NONE = "otlp", "console", "none"
Names = Literal["none", "hash", "plain"]


class TracingSettings(Section):
    """Destinations of traces and metrics, and their content; off while no address is set."""

    enabled: Annotated[bool, EnvAlias("GEMINI_TRACING_ENABLED")] = Field(
        True, description="Off, it turns tracing off although an address is set."
    )
    sdk_disabled: Annotated[bool, EnvAlias("OTEL_SDK_DISABLED")] = Field(
        False, description="The same switch under OpenTelemetry's own name."
    )
    exporter: Literal["otlp", "console", "none"] = Field(
        "otlp", description="Where spans go: to the addresses, to stderr, or nowhere."
    )
    endpoint: Annotated[str, EnvAlias("OTEL_EXPORTER_OTLP_ENDPOINT")] = Field(
        "",
        max_length=2000,
        description="Address of a collector that takes OTLP over HTTP, such as"
        " http://localhost:4318; v1/traces and v1/metrics are added.",
    )
    headers: Annotated[SecretStr, EnvAlias("OTEL_EXPORTER_OTLP_HEADERS")] = Field(
        SecretStr(""), description="Headers for the collector, as name=value, separated by commas."
    )
    certificate: Annotated[str, EnvAlias("OTEL_EXPORTER_OTLP_CERTIFICATE")] = Field(
        "", max_length=4096, description="File of certificates to trust; empty: the system's."
    )
    service_name: Annotated[str, EnvAlias("OTEL_SERVICE_NAME")] = Field(
        "video-research", min_length=1, max_length=200, description="Name of this program."
    )
    mlflow_uri: Annotated[str, EnvAlias("MLFLOW_TRACKING_URI")] = Field(
        "", max_length=2000, description="Address of an MLflow server that gets the spans."
    )
    mlflow_experiment: Annotated[str, EnvAlias("MLFLOW_EXPERIMENT_NAME")] = Field(
        "video-research-mcp",
        min_length=1,
        max_length=500,
        description="Experiment of that server; it is made if it is missing.",
    )
    mlflow_token: Annotated[SecretStr, EnvAlias("MLFLOW_TRACKING_TOKEN")] = Field(
        SecretStr(""), description="Token for that server."
    )
    metrics: bool = Field(True, description="Send metrics to the collector, too.")
    names: Names = Field(
        "none",
        description="Principals and workspaces in spans: left out, as a hash, or in plain text.",
    )
    sample: float = Field(
        1.0, ge=0, le=1, description="Share of traces that are kept when the client does not say."
    )
    queue: int = Field(2048, ge=1, le=100_000, description="Most spans that wait to be sent.")
    interval_s: float = Field(
        2.0, ge=0.05, le=600, description="How often spans are sent, in seconds."
    )
    metrics_interval_s: float = Field(
        60.0, ge=0.05, le=3600, description="How often metrics are sent, in seconds."
    )
    timeout_s: float = Field(
        5.0, gt=0, le=60, description="How long a collector may take to answer, in seconds."
    )

    @property
    def on(self) -> bool:
        """True when there is a place to send spans to."""
        if not self.enabled or self.sdk_disabled or self.exporter == NONE:
            return False
        return self.exporter == CONSOLE or bool(self.endpoint or self.mlflow_uri)
