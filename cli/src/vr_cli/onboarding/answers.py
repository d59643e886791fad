"""Checks a user's answers: folders that the server may read, and a possible key."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from vr_kernel import Code, Config, VrError, load_config
from vr_kernel.config import server_roots

from vr_cli.onboarding.model_choice import KEY_VARIABLE, ModelChoice

KEPT = ("HOME", "USERPROFILE", "VR_CONFIG_DIR")


def home_folder(environ: Mapping[str, str]) -> Path:
    """The user's home folder; taken from the system where the variable is empty."""
    if sys.platform == "win32":
        return Path(environ.get("USERPROFILE") or Path.home())
    if environ.get("HOME"):
        return Path(environ["HOME"])
    import pwd

    return Path(pwd.getpwuid(os.getuid()).pw_dir)


def allowed_folder(text: str, home: Path, several: str = "--folder may be repeated") -> Path:
    """The folder that a text names, if the server may be allowed to read it.

    `several` ends the hint for a missing folder: it tells how to give more than one.

    Raises:
        VrError: NOT_FOUND, INVALID_INPUT, or NOT_ALLOWED for the home folder and its parents.
    """
    try:
        named = home / text[2:] if text.startswith("~/") else Path(text)
        folder = (home if text == "~" else named).absolute()
        str(folder).encode()
        if not text.strip() or not folder.exists():
            raise VrError(
                f"There is no folder {text!r}.",
                Code.NOT_FOUND,
                hint=f"Make it, or name another; {several}.",
            )
        if not folder.is_dir():
            raise VrError(f"{text!r} is no folder.", Code.INVALID_INPUT, hint="Name its folder.")
    except (ValueError, OSError) as error:
        raise VrError(
            f"{text!a} can be no folder's name.", Code.INVALID_INPUT, hint="Name another."
        ) from error
    if not server_roots(folder, home):
        raise VrError(
            f"{folder} may not be opened: it holds your home folder or more.",
            Code.NOT_ALLOWED,
            hint="Allow only the folders with your videos and documents.",
        )
    return folder.resolve()


def checked_key(text: str, service: str = "Gemini") -> str:
    """The key of a service without white space around it.

    Raises:
        VrError: INVALID_INPUT when it cannot be a key; it is not shown.
    """
    from vr_kernel import Level
    from vr_kernel.gemini import examine_keys

    key = text.strip()
    found = examine_keys([key], service)
    if not key or found.level is not Level.OK:
        what = found.what if key else "No key was given."
        raise VrError(what, Code.INVALID_INPUT, category="KEY_REFUSED", hint=found.fix)
    return key


def set_by_files(environ: Mapping[str, str], config_folder: Path) -> Config:
    """The settings of the user's own files, regardless of this run's variables."""
    kept = {name: environ[name] for name in KEPT if name in environ}
    return load_config(kept, working_folder=config_folder)


def overruled(
    environ: Mapping[str, str], folders: Sequence[Path], models: ModelChoice
) -> list[str]:
    """Remarks on settings that override what was written to the user's files."""
    key = models.key
    config = load_config(environ)
    notes = []
    if not set(folders) <= {root.resolve() for root in config.kernel.allowed_roots}:
        origin = config.settings("kernel", type(config.kernel))["allowed_roots"].origin
        notes.append(f"Here the folders of another setting win over config.toml: {origin}.")
    if key and models.key_variable != KEY_VARIABLE:
        if environ.get(models.key_variable, key) != key:
            notes.append(f"Here another {models.key_variable} of the environment wins.")
    elif key:
        setting = config.settings("models", type(config.models))["gemini_api_keys"]
        if setting.value != key:
            notes.append(f"Here another key wins over the one in .env: {setting.origin}.")
    return notes
