"""Checks of `vr doctor`: the libraries and models of the local engine, YouTube."""

from __future__ import annotations

from importlib.util import find_spec

from vr_kernel import Check, Diagnosis, Remedy, Services, TextRecognizer, VrError

from vr_plugin_video.media.probe import INSTALL_HINT
from vr_plugin_video.settings import AUTO, OFF, ON, VideoSettings
from vr_plugin_video.speech.model_files import WEIGHTS, check_files
from vr_plugin_video.speech.speech_models import (
    DOWNLOAD_MB,
    SUGGESTED,
    find_model,
    is_folder_name,
)

BYTES_PER_MB = 1_000_000


def video_checks(services: Services) -> list[Check]:
    """The checks of the local engine."""
    settings: VideoSettings = services.settings
    return [
        Check("media library", media_library),
        Check("speech model", lambda: speech_model(services, settings)),
        Check("text on screen", lambda: screen_text(services, settings.ocr)),
        Check("YouTube", lambda: youtube(settings)),
    ]


def media_library() -> Diagnosis:
    """Check if videos can be opened; FFmpeg comes inside the library."""
    if find_spec("av") is None:
        return Diagnosis.warning("PyAV is not installed: no video can be read here.", INSTALL_HINT)
    return Diagnosis.ok("PyAV is installed; no ffmpeg program is needed.")


def speech_model(services: Services, settings: VideoSettings) -> Diagnosis:
    """Check if speech can be recognised, with a model whose files are whole."""
    try:
        model = find_model(settings.speech_model, services.paths.models, settings.language)
    except VrError as error:
        remedy = _fetching(error, settings.speech_model)
        return Diagnosis.warning(f"{error.message} Only captions are read.", error.hint, remedy)
    check_files(model.name, model.folder)
    size = (model.folder / WEIGHTS).stat().st_size / BYTES_PER_MB
    return Diagnosis.ok(f"{model.name}, {size:.0f} MB in {model.folder}.")


def _fetching(error: VrError, wanted: str) -> Remedy | None:
    """The command that fetches a missing model, with the size of the download."""
    if error.category not in ("MODEL_MISSING", "LANGUAGE_UNSUPPORTED"):
        return None
    name = wanted if error.category == "MODEL_MISSING" and wanted != AUTO else SUGGESTED
    if is_folder_name(name):
        return None
    size_mb = DOWNLOAD_MB.get(name.removesuffix(".en"))
    size = f"{size_mb:,} MB" if size_mb else "of unknown size"
    question = f"Fetch the speech model {name} ({size}, from huggingface.co), so speech is heard?"
    return Remedy(("video", "fetch-models", name), question)


def youtube(settings: VideoSettings) -> Diagnosis:
    """Check which data of YouTube is available, without asking YouTube."""
    own, lent = settings.youtube_api_key, settings.gemini_api_key
    key = "its own key" if own.get_secret_value() else "the key of Gemini"
    has_key = bool(own.get_secret_value() or lent.get_secret_value())
    if own.get_secret_value() and find_spec("googleapiclient") is None:
        return Diagnosis.warning(
            "YOUTUBE_API_KEY is set, but Google's client is not installed.",
            'pip install "video-research[youtube]"',
        )
    ways = [
        f"metadata by {key}" if has_key and find_spec("googleapiclient") else "",
        "captions" if find_spec("youtube_transcript_api") or find_spec("yt_dlp") else "",
        "downloads by yt-dlp" if find_spec("yt_dlp") else "",
    ]
    found = ", ".join(way for way in ways if way)
    if found:
        return Diagnosis.ok(f"{found[0].upper()}{found[1:]}.")
    return Diagnosis.ok("Only models can watch it; for more: pip install 'video-research[youtube]'")


def screen_text(services: Services, wanted: str) -> Diagnosis:
    """Check if text on slides is read, and name the recogniser."""
    if wanted == OFF:
        return Diagnosis.ok("Turned off by `ocr` in [plugins.video].")
    try:
        reader = services.providers.get(TextRecognizer, None if wanted == ON else wanted)
    except VrError as error:
        return Diagnosis.warning(f"Text on screen is not read. {error.message}", error.hint)
    return Diagnosis.ok(f"{reader.name}.")
