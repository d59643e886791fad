"""Settings: where they come from, and the folders of an installation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vr_kernel.exports import lazy_exports

if TYPE_CHECKING:
    from vr_kernel.config.config import described
    from vr_kernel.config.paths import Paths, find_paths, known_variables, server_roots
    from vr_kernel.config.settings import Groups
    from vr_kernel.config.sources import config_error, trust_folder

__all__ = [
    "Groups",
    "Paths",
    "config_error",
    "described",
    "find_paths",
    "known_variables",
    "server_roots",
    "trust_folder",
]

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "config": "described",
        "paths": "Paths find_paths known_variables server_roots",
        "settings": "Groups",
        "sources": "config_error trust_folder",
    },
)
