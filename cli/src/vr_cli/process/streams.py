"""Protects the standard streams while code of plugins runs."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any


@contextmanager
def diverted_stdout() -> Iterator[None]:
    """Send all writes to stdout to stderr meanwhile: code of plugins runs here."""
    sys.stdout.flush()
    kept = os.dup(1)
    os.dup2(2, 1)
    try:
        with own_streams():
            yield
    finally:
        sys.stdout.flush()
        os.dup2(kept, 1)
        os.close(kept)


@contextmanager
def own_streams() -> Iterator[None]:
    """Put the standard streams back afterwards, as code of plugins may replace them."""
    before = {name: getattr(sys, name) for name in ("stdin", "stdout", "stderr")}
    try:
        yield
    finally:
        for name, own in before.items():
            now = getattr(sys, name)
            if now is not own and _is_open(own):
                setattr(sys, name, own)
                with suppress(AttributeError):
                    # A stream around the same buffer would close it when garbage collected.
                    own.taken_over_by = now


def _is_open(stream: Any) -> bool:
    try:
        return stream is None or not stream.closed
    except ValueError:  # its buffer was detached: only the stream that took it is left
        return False
