"""Collects no garbage while a command starts: objects made then live to the end."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


def begin_late() -> None:
    """Collect from now on, but never among the objects that exist already."""
    gc.freeze()
    gc.enable()


@contextmanager
def uncollected() -> Iterator[None]:
    """Collect no garbage meanwhile."""
    gc.disable()
    try:
        yield
    finally:
        begin_late()
