"""Garbage is not looked for while a command starts: what is made then lives to the end."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


def begin_late() -> None:
    """Collect from now on, and never among what is there already."""
    gc.freeze()
    gc.enable()


@contextmanager
def uncollected() -> Iterator[None]:
    """Look for no garbage meanwhile."""
    gc.disable()
    try:
        yield
    finally:
        begin_late()
