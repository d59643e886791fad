"""Turns garbage collection off while a command starts: objects made then live to the end."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


def begin_late() -> None:
    """Turn collection on, but not for the objects that exist already."""
    gc.freeze()
    gc.enable()


@contextmanager
def uncollected() -> Iterator[None]:
    """Turn garbage collection off for the `with` block."""
    gc.disable()
    try:
        yield
    finally:
        begin_late()
