"""Folders of the program, closed to other users whatever the umask is."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from platformdirs import PlatformDirs

APP_NAME = "video-research"
SEED_ENV_FILE = Path(".config/video-research-mcp/.env")
"""File of variables of the first seed, below the home folder."""
FOLDER_MODE = 0o700
FILE_MODE = 0o600
OTHERS = 0o077
"""Permission bits of all users but the owner."""


@dataclass(frozen=True, slots=True)
class Paths:
    """Folders of one installation; none is created before something is written to it."""

    config: Path
    state: Path
    cache: Path

    @property
    def all(self) -> tuple[Path, Path, Path]:
        """The folders of settings, state and cache."""
        return self.config, self.state, self.cache

    @property
    def artifacts(self) -> Path:
        """Files that tools produced."""
        return self.state / "artifacts"

    @property
    def downloads(self) -> Path:
        """Files fetched from the web, kept for a while to be used again."""
        return self.cache / "downloads"

    @property
    def pages(self) -> Path:
        """Pages that were made to be looked at once, in a browser."""
        return self.cache / "pages"

    @property
    def models(self) -> Path:
        """Downloaded models."""
        return self.state / "models"

    def of_workspace(self, name: str) -> Paths:
        """The folders of one workspace other than the owner's."""
        inner = Path("workspaces", name)
        return Paths(self.config, self.state / inner, self.cache / inner)

    def workspaces(self) -> list[Paths]:
        """The folders of each workspace other than the owner's that has any."""
        tops = (self.state / "workspaces", self.cache / "workspaces")
        names = {each.name for top in tops if top.is_dir() for each in top.iterdir()}
        return [self.of_workspace(name) for name in sorted(names)]

    @property
    def journal(self) -> Path:
        """The journal's database file."""
        return self.state / "journal.db"

    @property
    def rows(self) -> Path:
        """The database file of what registries and plugins keep by key."""
        return self.state / "rows.db"


def find_paths(environ: Mapping[str, str]) -> Paths:
    """The platform's folders, each replaced by `VR_CONFIG_DIR`, `VR_STATE_DIR`, `VR_CACHE_DIR`.

    `GEMINI_CACHE_DIR`, the first seed's variable, stands in for `VR_CACHE_DIR`. All but the first
    can also be set in a user's `.env`.
    """
    platform = PlatformDirs(APP_NAME, appauthor=False)

    def folder(default: str, variables: Sequence[str], *layers: Mapping[str, str]) -> Path:
        given = (layer[name] for layer in layers for name in variables if layer.get(name))
        return Path(next(given, default)).expanduser().absolute()

    config = folder(platform.user_config_dir, ["VR_CONFIG_DIR"], environ)
    files = [env_variables(file) for file in reversed(env_files(environ, config))]
    caches = ["VR_CACHE_DIR", "GEMINI_CACHE_DIR"]
    return Paths(
        config=config,
        state=folder(platform.user_state_dir, ["VR_STATE_DIR"], environ, *files),
        cache=folder(platform.user_cache_dir, caches, environ, *files),
    )


def server_roots(working_folder: Path, home: Path) -> list[Path]:
    """The folder a server was started in, unless that would open the home folder or more."""
    folder, own = working_folder.resolve(), home.resolve()
    too_wide = folder == Path(folder.anchor) or folder == own or folder in own.parents
    return [] if too_wide else [folder]


def env_files(environ: Mapping[str, str], config_folder: Path) -> list[Path]:
    """The user's `.env` files, lowest precedence first: the first seed's, then ours."""
    home = environ.get("HOME") or environ.get("USERPROFILE")
    return [*([Path(home) / SEED_ENV_FILE] if home else []), config_folder / ".env"]


def env_variables(path: Path) -> dict[str, str]:
    """The variables of a `.env` file; none when it does not exist, or cannot be read."""
    if not path.is_file():
        return {}
    from dotenv import dotenv_values

    with suppress(OSError, UnicodeDecodeError):
        values = dotenv_values(path, interpolate=False)
        return {name: value for name, value in values.items() if value is not None}
    return {}


def known_variables(environ: Mapping[str, str]) -> dict[str, str]:
    """All variables that are set, in the environment or in one of the user's `.env` files."""
    known: dict[str, str] = {}
    for file in env_files(environ, find_paths(environ).config):
        known |= env_variables(file)
    return {**known, **environ}


def private_folder(folder: Path) -> Path:
    """Make a folder and its missing parents, for the user alone.

    An existing folder of the user is closed to others.

    Raises:
        OSError: when it cannot be made.
    """
    # The mode that `mkdir` takes holds for the last folder alone, not for its parents.
    for each in reversed([it for it in (folder, *folder.parents) if not it.exists()]):
        each.mkdir(mode=FOLDER_MODE, exist_ok=True)
    folder.mkdir(exist_ok=True)  # raises for what is no folder
    _take_from_others(folder)
    return folder


def private_file(file: Path) -> Path:
    """Close a file to other users; make it, empty, if it is missing.

    Its folder must exist. If it cannot be made, opening it later gives the error. Files that a
    database makes next to it get the same permissions.
    """
    with suppress(OSError):
        os.close(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, FILE_MODE))
    # Opening and closing an existing file would drop the locks SQLite holds on it.
    for each in (file, *(file.with_name(file.name + suffix) for suffix in ("-wal", "-shm"))):
        _take_from_others(each)
    return file


def keep_private(top: Path) -> None:
    """Close to others what an older version, or another program, left open in a folder.

    Looks only at its direct entries, and deeper only if something was open.
    """
    opened = _take_from_others(top)
    with suppress(OSError), os.scandir(top) as entries:
        for entry in entries:
            if (_take_from_others(entry) or opened) and entry.is_dir(follow_symlinks=False):
                make_private(Path(entry))


def make_private(top: Path) -> None:
    """Close a folder and everything in it to others; links are not followed."""
    _take_from_others(top)
    for folder, folders, files in os.walk(top):
        for name in (*folders, *files):
            _take_from_others(Path(folder, name))


def _take_from_others(path: Path | os.DirEntry[str]) -> bool:
    """Close a path to others; True if it was open. Files of other users are left alone."""
    if os.name == "nt":  # folders of a profile are private there
        return False
    try:
        found = path.stat(follow_symlinks=False)
        plain = stat.S_ISREG(found.st_mode) or stat.S_ISDIR(found.st_mode)
        if not (plain and found.st_mode & OTHERS and found.st_uid == os.geteuid()):
            return False
        Path(path).chmod(stat.S_IMODE(found.st_mode) & ~OTHERS)
    except OSError:
        return False
    return True
