"""The command line: `vr`."""

from __future__ import annotations


def main() -> None:
    """Run `vr` and end the process with its exit code."""
    from vr_kernel.cli.root import run

    raise SystemExit(run())
