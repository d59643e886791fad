"""Which files are looked at, told by their names; their bytes are judged when they are opened."""

from __future__ import annotations

import mimetypes
from pathlib import PurePath

VIDEO_EXTENSIONS = ("mp4", "webm", "mov", "avi", "mkv", "mpeg", "mpg", "wmv", "3gp", "3gpp", "m4v")
AUDIO_EXTENSIONS = ("mp3", "m4a", "wav", "flac", "ogg", "opus", "aac")
_KNOWN = frozenset(f".{extension}" for extension in VIDEO_EXTENSIONS + AUDIO_EXTENSIONS)
_MIME = {".mkv": "video/x-matroska", ".3gp": "video/3gpp", ".opus": "audio/opus"}


def is_media_name(name: str) -> bool:
    """Whether a file of that name may be a video or a sound."""
    return PurePath(name).suffix.lower() in _KNOWN


def mime_of(name: str) -> str:
    """The media type that a name stands for."""
    suffix = PurePath(name).suffix.lower()
    return _MIME.get(suffix) or mimetypes.guess_type(f"x{suffix}")[0] or "video/mp4"
