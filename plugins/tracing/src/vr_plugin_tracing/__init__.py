"""OpenTelemetry traces and metrics of calls and model requests."""
