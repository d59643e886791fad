"""The fixtures that all tests of the kernel and its fronts share."""

from kernel_fixtures import (  # noqa: F401 - pytest finds them here
    config,
    environ,
    gemini,
    kernel,
    make_plugin,
    open_kernel,
    start,
    working_folder,
)
