"""Settings: where they come from, and the folders of an installation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vr_kernel.exports import lazy_exports

if TYPE_CHECKING:
    from vr_kernel.config.config import shown
    from vr_kernel.config.paths import (
        FILE_MODE,
        FOLDER_MODE,
        Paths,
        env_files,
        env_variables,
        find_paths,
        server_roots,
    )
    from vr_kernel.config.settings import KernelSettings, ModelsSettings
    from vr_kernel.config.sources import PROJECT_FILE, TRUST_FILE, config_error, trusted_folders

__all__ = [  # noqa: RUF022 - sorted as a dictionary is
    "FILE_MODE",
    "FOLDER_MODE",
    "KernelSettings",
    "ModelsSettings",
    "PROJECT_FILE",
    "Paths",
    "TRUST_FILE",
    "config_error",
    "env_files",
    "env_variables",
    "find_paths",
    "server_roots",
    "shown",
    "trusted_folders",
]

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "config": "shown",
        "paths": "FILE_MODE FOLDER_MODE Paths env_files env_variables find_paths server_roots",
        "settings": "KernelSettings ModelsSettings",
        "sources": "PROJECT_FILE TRUST_FILE config_error trusted_folders",
    },
)
