"""Where the program keeps what: one object, made from the environment or given by a test."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from platformdirs import PlatformDirs

APP_NAME = "video-research"


@dataclass(frozen=True, slots=True)
class Paths:
    """Folders of one installation; none is created before something is written to it."""

    config: Path
    state: Path
    cache: Path

    @property
    def artifacts(self) -> Path:
        """Files that tools produced."""
        return self.state / "artifacts"

    @property
    def downloads(self) -> Path:
        """Files from the web that are looked at, kept for a while to be looked at again."""
        return self.cache / "downloads"

    @property
    def models(self) -> Path:
        """Downloaded models."""
        return self.state / "models"

    @property
    def journal(self) -> Path:
        """The journal's database file."""
        return self.state / "journal.db"


def find_paths(environ: Mapping[str, str]) -> Paths:
    """The platform's folders, each replaced by `VR_CONFIG_DIR`, `VR_STATE_DIR`, `VR_CACHE_DIR`.

    `GEMINI_CACHE_DIR`, the first seed's variable, stands in for `VR_CACHE_DIR`.
    """
    platform = PlatformDirs(APP_NAME, appauthor=False)

    def folder(default: str, *variables: str) -> Path:
        given = next((environ[name] for name in variables if environ.get(name)), default)
        return Path(given).expanduser().absolute()

    return Paths(
        config=folder(platform.user_config_dir, "VR_CONFIG_DIR"),
        state=folder(platform.user_state_dir, "VR_STATE_DIR"),
        cache=folder(platform.user_cache_dir, "VR_CACHE_DIR", "GEMINI_CACHE_DIR"),
    )
