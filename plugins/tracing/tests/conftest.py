"""The fixtures of the tracing plugin's tests."""

from traced_kernels import collector, gemini, traced  # noqa: F401 - pytest finds them here
