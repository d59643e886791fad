"""Takes all secrets of an installation out of a text, also when its settings cannot be read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

from vr_kernel.config.config import Config
from vr_kernel.config.paths import env_files, find_paths
from vr_kernel.config.sources import PROJECT_FILE
from vr_kernel.errors import VrError
from vr_kernel.kernel import Kernel
from vr_kernel.text.redaction import redactor, secrets_in_text, secrets_of


def report_redactor(
    variables: Mapping[str, str],
    folder: Path,
    read: Config | VrError,
    kernel: Kernel | None = None,
) -> Callable[[str], str]:
    """A function that hides the secrets of variables, settings and their files in a text.

    Args:
        variables: the environment, and settings given as flags.
        folder: the working folder.
        read: the settings, or the error of reading them.
        kernel: made of those settings; it adds the secrets of its plugins.
    """
    sections = list(kernel.settings.values()) if kernel is not None else []
    if isinstance(read, Config):
        sections += [read.models, read.serve]
    found = secrets_of(variables, sections)
    config = find_paths(variables).config
    for file in [*env_files(variables, config), folder / PROJECT_FILE, config / "config.toml"]:
        with suppress(OSError):
            found += secrets_in_text(file.read_text("utf-8", errors="replace"))
    return redactor(found)
