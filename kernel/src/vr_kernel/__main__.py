"""`python -m vr_kernel` starts the front door that is installed, such as the command `vr`."""

from __future__ import annotations

import sys
from importlib.metadata import entry_points

GROUP = "vr.fronts"
"""Entry points of programs that stand before a kernel: a function that takes `sys.argv`."""
NO_FRONT = """vr-kernel is a library and has no commands of its own. Install a command line:
  pip install "vr-cli[serve]"
"""
CONFIGURATION = 3
"""The exit code of `vr` for what must be set up first."""


def main() -> None:
    """Run the front door named `vr`, or the first there is; exit code 3 without any."""
    found = {point.name: point for point in entry_points(group=GROUP)}
    if not found:
        sys.stderr.write(NO_FRONT)
        raise SystemExit(CONFIGURATION)
    found.get("vr", next(iter(found.values()))).load()()


if __name__ == "__main__":
    main()
