"""Downloads videos from the web: streamed, bounded in size, resumed when cut off."""

from __future__ import annotations

import asyncio
import hashlib
import os
import shutil
import time
import uuid
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import BinaryIO
from urllib.parse import urlsplit

from vr_kernel import Code, Joined, Services, VrError, private_file, private_folder

from vr_plugin_video.settings import VideoSettings

FRESH_S = 3600.0
"""Seconds for which a download is used again without a request."""
KEPT_S = 86_400.0
"""Seconds after which an unused download is removed."""
TRIES = 4
"""Most tries in a row that bring no further byte."""
PAUSE_S = 0.2
BYTES_PER_MB = 1_000_000
ACCEPTED = ("video/*", "audio/*", "application/*", "binary/*")
"""Accepted media types: a web page is refused; many servers send a video as plain bytes."""
_NOT_FROM_THERE = ("RANGE_INVALID", "NETWORK_ERROR")
"""Error categories of a server that cannot resume where an answer broke off."""


@dataclass(slots=True)
class Part:
    """The bytes of a file that have arrived so far, and the version that they belong to."""

    file: BinaryIO
    version: str = ""
    begun_anew: bool = False

    def go_on(self, offset: int, headers: Mapping[str, str]) -> None:
        """Move to where an answer resumes; bytes of another version are dropped.

        Raises:
            VrError: UNAVAILABLE, to be tried again, when the answer is of another version.
        """
        found = headers.get("etag") or headers.get("last-modified", "")
        changed = bool(self.version) and found != self.version
        self.version = found
        if changed or offset != self.file.tell():
            self._empty()
            if offset:
                raise _cut_off()

    def begin_anew(self) -> None:
        """Drop all bytes, as the server cannot resume.

        Raises:
            VrError: UNAVAILABLE, to be tried again, the second time.
        """
        if self.begun_anew:
            raise _cut_off()
        self.begun_anew = True
        self._empty()

    def _empty(self) -> None:
        self.file.seek(0)
        self.file.truncate()


class Downloads:
    """The downloads of one installation, in its cache folder, `folder`; one object per kernel.

    An answer that broke off is requested again after `pause_s` seconds, with growing pauses as long
    as no further byte comes.
    """

    def __init__(self, services: Services) -> None:
        self._http = services.http
        self._settings: VideoSettings = services.settings
        self._under_way: Joined[Path] = Joined()
        self.folder = services.paths.downloads
        self.pause_s = PAUSE_S

    async def fetch(self, url: str) -> Path:
        """The file at an address; one that was fetched within the hour is used again.

        Raises:
            VrError: as `Fetcher.open`; TOO_LARGE; UNAVAILABLE, category STATE_UNAVAILABLE, when the
                folder cannot be written or the disk is full, or NETWORK_ERROR after the deadline.
        """
        self._http.check(url)
        name = hashlib.sha256(url.encode()).hexdigest()
        suffix = PurePosixPath(urlsplit(url).path).suffix.lower()
        return await self.once(name, lambda: self._fetched(url, f"{name}{suffix}"))

    async def once(self, name: str, download: Callable[[], Awaitable[Path]]) -> Path:
        """Return the file that `download` saves, made once for all who ask at the same time.

        Old downloads are removed first, but not files whose names begin with `name`.

        Raises:
            VrError: what `download` raises; UNAVAILABLE, category STATE_UNAVAILABLE, when the
                folder cannot be written.
        """

        async def work() -> Path:
            try:
                await asyncio.to_thread(self._make_room, name)
            except OSError as error:
                raise unwritable(self.folder, error) from error
            return await download()

        return await self._under_way.run(name, work)

    async def _fetched(self, url: str, name: str) -> Path:
        path = self.folder / name
        if await asyncio.to_thread(_is_fresh, path):
            return path
        part = self.folder / f".{name}.{uuid.uuid4().hex}.part"
        try:
            with await asyncio.to_thread(private_file(part).open, "wb") as file:
                await self._fill(url, Part(file))
            await asyncio.to_thread(os.replace, part, path)
        except OSError as error:
            raise unwritable(self.folder, error) from error
        finally:
            with suppress(OSError):
                part.unlink()
        return path

    async def _fill(self, url: str, part: Part) -> None:
        """Write the whole answer; all tries together have one deadline."""
        longest = self._settings.download_deadline_s
        try:
            async with asyncio.timeout(longest):
                await self._try(url, part)
        except TimeoutError:
            raise too_slow(longest) from None

    async def _try(self, url: str, part: Part) -> None:
        """Write the whole answer; one that breaks off is requested again from where it ended."""
        left = TRIES
        while True:
            have = part.file.tell()
            try:
                return await self._receive(url, part)
            except VrError as error:
                if error.category == "FILE_TOO_LARGE":
                    raise too_large(self._settings.max_download_mb) from None
                if have and not error.retryable and error.category in _NOT_FROM_THERE:
                    part.begin_anew()
                    continue
                left = TRIES if part.file.tell() > have else left - 1
                if not error.retryable or left <= 0:
                    raise
            await asyncio.sleep(self.pause_s * 2 ** (TRIES - left))

    async def _receive(self, url: str, part: Part) -> None:
        """Append the missing bytes."""
        opened = self._http.open(
            url,
            accept=ACCEPTED,
            max_bytes=self._settings.max_download_mb * BYTES_PER_MB,
            deadline_s=self._settings.download_deadline_s,
            offset=part.file.tell(),
        )
        async with opened as answer:
            part.go_on(answer.offset, answer.headers)
            async for chunk in answer.chunks():
                await asyncio.to_thread(part.file.write, chunk)
            if answer.size is not None and part.file.tell() < answer.size:
                raise _cut_off()

    def _make_room(self, spared: str) -> None:
        private_folder(self.folder)
        oldest = time.time() - KEPT_S
        for path in self.folder.iterdir():
            with suppress(OSError):
                if not path.name.startswith(spared) and _last_change(path) < oldest:
                    _remove(path)


def _is_fresh(path: Path) -> bool:
    with suppress(OSError):
        return time.time() - path.stat().st_mtime < FRESH_S
    return False


def _last_change(path: Path) -> float:
    """Return the time of the last write to a file or into a folder, in seconds since the epoch."""
    return max(each.lstat().st_mtime for each in (path, *path.rglob("*")))


def _remove(path: Path) -> None:
    if path.is_dir() and path.name.startswith(".") and path.suffix == ".part":
        shutil.rmtree(path)  # a killed process left it
    else:
        path.unlink()


def _cut_off() -> VrError:
    return VrError(
        "The download broke off.",
        Code.UNAVAILABLE,
        category="NETWORK_ERROR",
        hint="Try again.",
        retryable=True,
    )


def too_large(most: int) -> VrError:
    """The error for a video of more than `most` MB."""
    return VrError(
        f"The video has more than {most:,} MB.",
        Code.TOO_LARGE,
        category="FILE_TOO_LARGE",
        hint="max_download_mb in [plugins.video] sets the limit.",
    )


def too_slow(longest: float) -> VrError:
    """The error for a download that took more than that many seconds."""
    return VrError(
        f"The download was not done within {longest:g} s.",
        Code.UNAVAILABLE,
        category="NETWORK_ERROR",
        hint="Try again later, or raise download_deadline_s in [plugins.video].",
        retryable=True,
    )


def unwritable(folder: Path, error: OSError) -> VrError:
    """The error for a folder that cannot be written, or a full disk."""
    from vr_kernel.storage import unwritten

    return unwritten("The video", folder, error)
