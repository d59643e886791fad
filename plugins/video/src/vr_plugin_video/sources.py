"""What a call is about: one local media file, opened once and known by its content."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path, PurePosixPath
from typing import Never

from vr_kernel import Code, Services, VrError

from vr_plugin_video.media import require_media
from vr_plugin_video.youtube import invalid_url, parse_url, watch_url, youtube_id

VIDEO_EXTENSIONS = ("mp4", "webm", "mov", "avi", "mkv", "mpeg", "mpg", "wmv", "3gp", "3gpp", "m4v")
AUDIO_EXTENSIONS = ("mp3", "m4a", "wav", "flac", "ogg", "opus", "aac")
_KNOWN = frozenset(f".{extension}" for extension in VIDEO_EXTENSIONS + AUDIO_EXTENSIONS)


@dataclass(frozen=True, slots=True)
class Source:
    """A media file; `video_id` is the SHA-256 of its content."""

    file: BufferedReader
    path: Path
    video_id: str

    @property
    def url(self) -> str:
        """Where it is, as records name it."""
        return str(self.path)

    @property
    def name(self) -> str:
        """A title for want of a better one."""
        return self.path.stem

    def link(self, seconds: float) -> str:
        """An address that opens the file at that time."""
        return f"{self.path.as_uri()}#t={max(0, int(seconds))}"


@asynccontextmanager
async def open_source(
    services: Services, url: str | None, file_path: str | None
) -> AsyncIterator[Source]:
    """Open what exactly one of `url` and `file_path` names, for the time of a `with`.

    Raises:
        VrError: INVALID_INPUT for both, neither or a malformed address; what the path policy
            refuses; UNSUPPORTED for another kind of file; UNAVAILABLE for any address.
    """
    if bool(url) == bool(file_path):
        raise VrError(
            "Exactly one of url and file_path is needed.",
            Code.INVALID_INPUT,
            category="SOURCE_AMBIGUOUS",
            hint="Give file_path for a file on this machine, or url for a video on the web.",
        )
    if url:
        refuse_url(url)
    file = await asyncio.to_thread(_open_media, services, file_path or "")
    with file:
        video_id = await services.digests.sha256(file, check=require_media)
        yield Source(file, Path(file.name), video_id)


@asynccontextmanager
async def reopened(services: Services, source: Source) -> AsyncIterator[Source]:
    """The same file, opened anew for work that may outlive the call.

    Raises:
        VrError: CONFLICT, category FILE_CHANGED, when it is not the same any more.
    """
    async with open_source(services, None, source.url) as again:
        if again.video_id != source.video_id:
            raise VrError(
                f"{source.path.name} changed while it was being opened.",
                Code.CONFLICT,
                category="FILE_CHANGED",
                hint="Call again when nothing writes to it any more.",
                retryable=True,
            )
        yield again


def refuse_url(url: str) -> Never:
    """Say what is wrong with an address, or that it cannot be read yet.

    Raises:
        VrError: always.
    """
    parts = parse_url(url)
    video_id = youtube_id(parts)
    if video_id:
        raise _unavailable(f"YouTube arrives later; {watch_url(video_id)} cannot be read yet.")
    if PurePosixPath(parts.path).suffix.lower() not in _KNOWN:
        raise invalid_url("The address is neither a YouTube video nor a video file.")
    raise _unavailable("Videos on the web cannot be read yet.")


def _open_media(services: Services, file_path: str) -> BufferedReader:
    file = services.policy.open_file(file_path)
    suffix = Path(file_path).suffix.lower()
    if suffix in _KNOWN:
        return file
    file.close()
    raise VrError(
        f"{suffix or 'A file without an extension'} is not a kind of media that is read here.",
        Code.UNSUPPORTED,
        category="FILE_UNSUPPORTED",
        hint=f"Video: {', '.join(VIDEO_EXTENSIONS)}. Audio: {', '.join(AUDIO_EXTENSIONS)}.",
    )


def _unavailable(message: str) -> VrError:
    return VrError(
        message,
        Code.UNAVAILABLE,
        category="VIDEO_UNAVAILABLE",
        hint="Local files work now: save the video to an allowed folder and give file_path.",
    )
