"""Sources of a call: a file of this machine, a file from the web, or a video at YouTube."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from io import BufferedReader
from pathlib import Path, PurePosixPath
from urllib.parse import SplitResult, unquote

from vr_kernel import Code, Services, VrError

from vr_plugin_video.downloads import Downloads
from vr_plugin_video.media.formats import (
    AUDIO_EXTENSIONS,
    VIDEO_EXTENSIONS,
    is_media_name,
    split_name,
)
from vr_plugin_video.media.info import MediaInfo
from vr_plugin_video.media.probe import media_if_readable
from vr_plugin_video.youtube.addresses import invalid_url, parse_url, watch_url, youtube_id
from vr_plugin_video.youtube.client import youtube_of


@dataclass(frozen=True, slots=True)
class Source:
    """A video, known by its content.

    Args:
        video_id: SHA-256 of the file in hexadecimal, or the YouTube id.
        url: where it is, as records name it: a path, or an address.
        name: a title when there is no better one.
        opened: the file; None for a video that only YouTube has.
        media: the facts about the file, where it was probed before.
    """

    video_id: str
    url: str
    name: str
    opened: BufferedReader | None = None
    media: MediaInfo | None = None

    @property
    def at_youtube(self) -> bool:
        """True for a video at YouTube without a local file."""
        return self.opened is None

    @property
    def sha256(self) -> str:
        """The SHA-256 of the file in hexadecimal, empty when it is not known."""
        return "" if self.url == watch_url(self.video_id) else self.video_id

    @property
    def file(self) -> BufferedReader:
        """The file.

        Raises:
            VrError: UNSUPPORTED, category NEEDS_FILE, for a video at YouTube.
        """
        if self.opened is None:
            raise VrError(
                "This needs the file of the video, and YouTube gives none.",
                Code.UNSUPPORTED,
                category="NEEDS_FILE",
                hint="Save the video to an allowed folder and give file_path.",
            )
        return self.opened

    @property
    def path(self) -> Path:
        """The path of the file.

        Raises:
            VrError: as `file`.
        """
        return Path(self.file.name)

    def link(self, seconds: float) -> str:
        """A link that opens the video at that time."""
        whole = max(0, int(seconds))
        if self.url == watch_url(self.video_id):
            return f"{self.url}&t={whole}s"
        on_web = "://" in self.url
        return f"{self.url if on_web else self.path.as_uri()}#t={whole}"


@asynccontextmanager
async def open_source(
    services: Services, url: str | None, file_path: str | None, *, download: bool = False
) -> AsyncIterator[Source]:
    """Open what exactly one of `url` and `file_path` names, for a `with` block.

    A file on the web is downloaded first; a video at YouTube only with `download`.

    Raises:
        VrError: INVALID_INPUT for both, neither or a malformed address; what the path policy
            or the fetcher refuses; UNSUPPORTED for another kind of file.
    """
    require_one(url, file_path)
    if not url:
        file = await asyncio.to_thread(_open_media, services, file_path)
        async with _known(services, file) as found:
            yield found
        return
    parts = _parsed(url)
    video_id = youtube_id(parts)
    if video_id and not download:
        yield Source(video_id, watch_url(video_id), video_id)
        return
    if video_id:
        path, address = await _from_youtube(services, video_id), watch_url(video_id)
    else:
        _require_video(parts)
        address = parts.geturl()
        path = await services.providers.get(Downloads).fetch(address)
    file = await asyncio.to_thread(path.open, "rb")
    async with _known(services, file, address, video_id or "") as found:
        yield replace(found, name=video_id or unquote(PurePosixPath(parts.path).stem))


@asynccontextmanager
async def reopened(services: Services, source: Source) -> AsyncIterator[Source]:
    """The same video, opened again for work that may outlive the call.

    Raises:
        VrError: CONFLICT, category FILE_CHANGED, when it is not the same any more.
    """
    if source.at_youtube:
        yield source
        return
    file = await asyncio.to_thread(source.path.open, "rb")
    known = source.video_id if source.url == watch_url(source.video_id) else ""
    async with _known(services, file, source.url, known) as again:
        if again.video_id != source.video_id:
            raise VrError(
                f"{source.path.name} changed while it was being opened.",
                Code.CONFLICT,
                category="FILE_CHANGED",
                hint="Call again when nothing writes to it any more.",
                retryable=True,
            )
        yield replace(again, name=source.name, media=source.media)


async def check_source(services: Services, url: str | None, file_path: str | None) -> None:
    """Refuse sources that `open_source` would refuse by their names alone.

    Raises:
        VrError: as `open_source`.
    """
    require_one(url, file_path)
    if not url:
        (await asyncio.to_thread(_open_media, services, file_path)).close()
        return
    parts = _parsed(url)
    if youtube_id(parts) is None:
        _require_video(parts)
        services.http.check(parts.geturl())


def _parsed(url: str) -> SplitResult:
    """The parts of an address, without a fragment: a moment of a video is the same video."""
    try:
        return parse_url(url)._replace(fragment="")
    except VrError:
        if _is_address(url):
            raise
    raise _misplaced(
        "The url is no http or https address.",
        "Give a file of this machine as file_path, and an address with its https://.",
    )


def _is_address(text: str) -> bool:
    return text.strip().lower().startswith(("http://", "https://"))


def _misplaced(message: str, hint: str) -> VrError:
    return VrError(message, Code.INVALID_INPUT, category="URL_INVALID", hint=hint)


def _require_video(parts: SplitResult) -> None:
    if not is_media_name(parts.path):
        raise invalid_url("The address is neither a YouTube video nor a video file.")


def require_one(url: str | None, file_path: str | None) -> None:
    """Refuse both sources together, and none at all.

    Raises:
        VrError: INVALID_INPUT, category SOURCE_AMBIGUOUS.
    """
    if bool(url) == bool(file_path):
        raise VrError(
            "Exactly one of url and file_path is needed.",
            Code.INVALID_INPUT,
            category="SOURCE_AMBIGUOUS",
            hint="Give file_path for a file on this machine, or url for a video on the web.",
        )


@asynccontextmanager
async def _known(
    services: Services, file: BufferedReader, url: str = "", video_id: str = ""
) -> AsyncIterator[Source]:
    media: MediaInfo | None = None

    def look(file: BufferedReader) -> None:
        nonlocal media
        media = media_if_readable(file)

    with file:
        video_id = video_id or await services.digests.sha256(file, check=look)
        yield Source(video_id, url or file.name, split_name(file.name)[0], file, media)


async def _from_youtube(services: Services, video_id: str) -> Path:
    youtube, downloads = youtube_of(services), services.providers.get(Downloads)
    return await downloads.once(
        video_id,
        lambda: youtube.download(video_id, downloads.folder, lambda _share, _said: None),
    )


def _open_media(services: Services, file_path: str | None) -> BufferedReader:
    if _is_address(file_path or ""):
        raise _misplaced("The file_path is an address, and no path.", "Give an address as url.")
    file = services.policy.open_file(file_path or "")
    if is_media_name(file_path or ""):
        return file
    file.close()
    _, suffix = split_name(file_path or "")
    raise VrError(
        f"{suffix or 'A file without an extension'} is not a kind of media that is read here.",
        Code.UNSUPPORTED,
        category="FILE_UNSUPPORTED",
        hint=f"Video: {', '.join(VIDEO_EXTENSIONS)}. Audio: {', '.join(AUDIO_EXTENSIONS)}.",
    )
