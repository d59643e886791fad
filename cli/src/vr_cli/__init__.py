"""The command line: `vr`."""

from __future__ import annotations

__all__ = ["main"]


def main() -> None:
    """Run `vr` and end the process with its exit code."""
    import gc

    gc.disable()  # until the command's own code runs
    from vr_cli.root import run

    code = run()
    from vr_cli.process.exits import end_if_held

    end_if_held(code)
    raise SystemExit(code)
