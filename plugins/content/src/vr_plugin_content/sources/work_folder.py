"""Folders of the cache for files on their way; those that a killed process left are removed."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from vr_kernel import Services, private_folder

NAME = "documents"
OLD_S = 24 * 3600
"""Seconds after which nobody is at work in such a folder any more."""


@contextmanager
def work_folder(services: Services) -> Iterator[Path]:
    """Make a folder for a `with` block, which removes it.

    Args:
        services: whose cache it is in; where that cannot be written, it is the system's folder.

    Raises:
        OSError: when nothing can be written anywhere.
    """
    with TemporaryDirectory(dir=_prepared(services.paths.cache / NAME)) as folder:
        yield Path(folder)


def _prepared(above: Path) -> Path | None:
    try:
        private_folder(above)
        _sweep(above)
    except OSError:
        return None
    return above


def _sweep(above: Path) -> None:
    before = time.time() - OLD_S
    for left in above.iterdir():
        with suppress(OSError):
            if left.stat().st_mtime < before:
                shutil.rmtree(left)
