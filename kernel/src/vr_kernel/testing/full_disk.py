"""A disk without room for this process, on every system that limits the size of files."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

SMALL = 16 << 10
"""Bytes; every database of ours is larger, once something was written to it."""


@contextmanager
def no_room(largest: int = SMALL) -> Iterator[None]:
    """Meanwhile nothing is written beyond that size of any file."""
    resource = pytest.importorskip("resource", reason="this system does not limit files")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (largest, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
