"""Checks of settings: files that are valid, private, and name folders that exist."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping, Sequence
from pathlib import Path

from vr_kernel.config.config import Config
from vr_kernel.config.paths import Paths, env_files
from vr_kernel.config.sources import PROJECT_FILE, is_trusted
from vr_kernel.errors import VrError, did_you_mean
from vr_kernel.health import Check, Diagnosis

OTHERS = stat.S_IRWXG | stat.S_IRWXO


def configuration_checks(
    paths: Paths, environ: Mapping[str, str], folder: Path, read: Config | VrError
) -> list[Check]:
    """The checks of settings; `read` is the settings, or the error of reading them."""
    checks = [
        Check("settings", lambda: settings_valid(paths, read)),
        Check("private files", lambda: private_files(paths, environ)),
        Check("project file", lambda: project_file(paths, folder)),
    ]
    if isinstance(read, Config):
        roots = read.kernel.allowed_roots
        checks.append(Check("allowed folders", lambda: allowed_roots(roots, _home(environ))))
    return checks


def settings_valid(paths: Paths, read: Config | VrError) -> Diagnosis:
    """Check that every file, variable and flag is understood."""
    if isinstance(read, VrError):
        return Diagnosis.fault(read.message, read.hint)
    file = paths.config / "config.toml"
    return Diagnosis.ok(f"{file} is valid." if file.is_file() else f"Defaults; there is no {file}.")


def known_sections(sections: Sequence[str], plugins: Sequence[str]) -> Diagnosis:
    """Check that every section of a plugin is that of one that is installed."""
    for section in sections:
        name = section.removeprefix("plugins.")
        if section.startswith("plugins.") and name not in plugins:
            return Diagnosis.warning(
                f"[{section}] is set, and no plugin {name!r} is installed.",
                f"{did_you_mean(name, plugins)}Installed: {', '.join(sorted(plugins)) or 'none'}.",
            )
    return Diagnosis.ok("All are of plugins that are installed.")


def private_files(paths: Paths, environ: Mapping[str, str]) -> Diagnosis:
    """Check that no other user of the machine can read the files that hold keys."""
    if os.name != "posix":
        return Diagnosis.ok("This system keeps the files of users apart.")
    files = [*env_files(environ, paths.config), paths.config / "config.toml"]
    present = [file for file in files if file.is_file()]
    open_to_all = [file for file in present if file.stat().st_mode & OTHERS and _holds_key(file)]
    if open_to_all:
        names = " ".join(str(file) for file in open_to_all)
        return Diagnosis.warning(
            f"Other users can read {names}, which holds a key.", f"chmod 600 {names}"
        )
    return Diagnosis.ok("No file with a key is open to other users.")


def project_file(paths: Paths, folder: Path) -> Diagnosis:
    """Check that the settings of the current folder are in force."""
    file = folder / PROJECT_FILE
    if not file.is_file():
        return Diagnosis.ok(f"No {PROJECT_FILE} in this folder.")
    if is_trusted(folder, paths.config):
        return Diagnosis.ok(f"{file} is trusted, its settings are in force.")
    return Diagnosis.warning(
        f"{file} is not trusted, so its settings are not in force.",
        f"Read it, then: vr config trust {folder}",
    )


def allowed_roots(roots: list[Path], home: Path | None) -> Diagnosis:
    """Check that the configured folders exist, can be read, and are no more than is needed."""
    fix = "Correct allowed_roots in [kernel] of config.toml, or VR_ALLOWED_ROOTS."
    for root in roots:
        if not root.is_dir():
            return Diagnosis.fault(f"The allowed folder {root} does not exist.", fix)
        if not os.access(root, os.R_OK | os.X_OK):
            return Diagnosis.fault(f"The allowed folder {root} cannot be read.", fix)
    for root in roots:
        real = root.resolve()
        if real == Path(real.anchor) or (home and (real == home or real in home.parents)):
            return Diagnosis.warning(
                f"The allowed folder {root} opens the whole home folder or more.",
                "Allow only the folders with your videos and documents.",
            )
    if not roots:
        return Diagnosis.ok("None configured: the folder a program is started in may be read.")
    return Diagnosis.ok(f"Folders that may be read: {len(roots)}.")


def _home(environ: Mapping[str, str]) -> Path | None:
    home = environ.get("HOME") or environ.get("USERPROFILE")
    return Path(home).resolve() if home else None


def _holds_key(file: Path) -> bool:
    try:
        text = file.read_text("utf-8", errors="replace").upper()
    except OSError:
        return False
    return any(word in text for word in ("KEY", "TOKEN", "SECRET", "PASSWORD"))
