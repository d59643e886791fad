"""Media types, by the names of files and by the streams in them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePath

_VIDEO = {
    "mp4": "video/mp4",
    "webm": "video/webm",
    "mov": "video/quicktime",
    "avi": "video/x-msvideo",
    "mkv": "video/x-matroska",
    "mpeg": "video/mpeg",
    "mpg": "video/mpeg",
    "wmv": "video/x-ms-wmv",
    "3gp": "video/3gpp",
    "3gpp": "video/3gpp",
    "m4v": "video/mp4",
}
_AUDIO = {
    "mp3": "audio/mpeg",
    "m4a": "audio/mp4",
    "wav": "audio/x-wav",
    "flac": "audio/flac",
    "ogg": "audio/ogg",
    "opus": "audio/ogg",
    "aac": "audio/aac",
}
VIDEO_EXTENSIONS = tuple(_VIDEO)
AUDIO_EXTENSIONS = tuple(_AUDIO)
_KNOWN = {f".{extension}": mime for extension, mime in (_VIDEO | _AUDIO).items()}
_PICTURES = {"avi": _VIDEO["avi"], "mpeg": _VIDEO["mpeg"], "asf": _VIDEO["wmv"]}
_SOUND = {name: _AUDIO[name] for name in ("mp3", "wav", "flac", "ogg", "aac")}
_OF_WEBM = frozenset({"vp8", "vp9", "av1", "opus", "vorbis", "webvtt"})
"""WebM is Matroska with these codecs alone: https://www.webmproject.org/docs/container/."""
_QUICKTIME = ("", "qt")


def split_name(name: str) -> tuple[str, str]:
    """A file's name in two parts: `("talk.en", ".mp4")`; the ending may be empty.

    A dot at either end begins no ending; `PurePath.suffix` splits `...mp4` differently since 3.14.
    """
    whole = PurePath(name).name
    stem, dot, ending = whole.rpartition(".")
    return (stem, f"{dot}{ending.lower()}") if stem and ending else (whole, "")


def is_media_name(name: str) -> bool:
    """True when a file of that name may be a video or a sound."""
    return split_name(name)[1] in _KNOWN


def mime_of(name: str) -> str:
    """The media type for a file name."""
    return _KNOWN.get(split_name(name)[1], "video/mp4")


def mime_of_streams(container: str, brand: str, codecs: Iterable[str], *, pictures: bool) -> str:
    """The media type of a file's content; empty for a container that is not listed above.

    Args:
        container: its name in FFmpeg, such as `matroska,webm`.
        brand: the major brand that an MP4 file names; empty without one.
        codecs: of all streams, by their names in FFmpeg.
        pictures: whether there are moving ones.
    """
    name = container.partition(",")[0]
    if name == "matroska":
        kind = "webm" if _OF_WEBM.issuperset(codecs) else "x-matroska"
        return f"{'video' if pictures else 'audio'}/{kind}"
    if name != "mov":
        return (_PICTURES if pictures else _SOUND).get(name, "")
    if not pictures:
        return _AUDIO["m4a"]
    if brand.startswith("3g"):
        return _VIDEO["3gp"]
    return _VIDEO["mov" if brand.strip() in _QUICKTIME else "mp4"]
