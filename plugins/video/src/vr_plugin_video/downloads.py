"""Videos from the web as files: streamed, bounded in size, taken up again when cut off."""

from __future__ import annotations

import asyncio
import hashlib
import os
import time
import uuid
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import BinaryIO
from urllib.parse import urlsplit

from vr_kernel import Code, Services, VrError

from vr_plugin_video.settings import VideoSettings

FRESH_S = 3600.0
"""How long a download stands for what is at its address."""
KEPT_S = 86_400.0
"""How long one lies there unused."""
TRIES = 4
"""How often in a row an answer may break off without a byte more."""
PAUSE_S = 0.2
BYTES_PER_MB = 1_000_000
ACCEPTED = ("video/*", "audio/*", "application/*", "binary/*")
"""A page instead of a video is refused; many servers call a video just bytes."""


@dataclass(slots=True)
class Part:
    """What has arrived of a file so far, and the version that it belongs to."""

    file: BinaryIO
    version: str = ""

    def go_on(self, offset: int, headers: Mapping[str, str]) -> None:
        """Be where an answer goes on; what arrived of another version is forgotten.

        Raises:
            VrError: UNAVAILABLE, to be tried again, when it goes on in another version.
        """
        found = headers.get("etag") or headers.get("last-modified", "")
        changed = bool(self.version) and found != self.version
        self.version = found
        if changed or offset != self.file.tell():
            self.file.seek(0)
            self.file.truncate()
            if offset:
                raise _cut_off()


class Downloads:
    """The downloads of one installation, in its cache folder, `folder`."""

    def __init__(self, services: Services) -> None:
        self._http = services.http
        self._settings: VideoSettings = services.settings
        self.folder = services.paths.downloads

    async def fetch(self, url: str) -> Path:
        """The file at an address; one that was fetched within the hour is used again.

        Raises:
            VrError: as `Fetcher.open`; TOO_LARGE; UNAVAILABLE, category STATE_UNAVAILABLE, when
                the folder cannot be written or the disk is full.
        """
        self._http.check(url)
        suffix = PurePosixPath(urlsplit(url).path).suffix.lower()
        path = self.folder / f"{hashlib.sha256(url.encode()).hexdigest()}{suffix}"
        if await asyncio.to_thread(_is_fresh, path):
            return path
        part = path.with_name(f".{path.name}.{uuid.uuid4().hex}.part")
        try:
            await asyncio.to_thread(self._make_room)
            with await asyncio.to_thread(part.open, "wb") as file:
                await self._fill(url, Part(file))
            await asyncio.to_thread(os.replace, part, path)
        except OSError as error:
            raise _unwritable(self.folder, error) from error
        finally:
            with suppress(OSError):
                part.unlink()
        return path

    async def _fill(self, url: str, part: Part) -> None:
        """Write the whole answer; one that breaks off is asked for again from where it ended."""
        left = TRIES
        while True:
            have = part.file.tell()
            try:
                return await self._receive(url, part)
            except VrError as error:
                left = TRIES if part.file.tell() > have else left - 1
                if not error.retryable or left <= 0:
                    raise
            await asyncio.sleep(PAUSE_S * 2 ** (TRIES - left))

    async def _receive(self, url: str, part: Part) -> None:
        """Append what is missing."""
        most = self._settings.max_download_mb * BYTES_PER_MB
        opened = self._http.open(
            url,
            accept=ACCEPTED,
            max_bytes=most,
            deadline_s=self._settings.download_deadline_s,
            offset=part.file.tell(),
        )
        async with opened as answer:
            if answer.size is not None and answer.size > most:
                raise _too_large(answer.size, most)
            part.go_on(answer.offset, answer.headers)
            async for chunk in answer.chunks():
                await asyncio.to_thread(part.file.write, chunk)
            if answer.size is not None and part.file.tell() < answer.size:
                raise _cut_off()

    def _make_room(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        oldest = time.time() - KEPT_S
        for path in self.folder.iterdir():
            with suppress(OSError):
                if path.stat().st_mtime < oldest:
                    path.unlink()


def _is_fresh(path: Path) -> bool:
    with suppress(OSError):
        return time.time() - path.stat().st_mtime < FRESH_S
    return False


def _cut_off() -> VrError:
    return VrError(
        "The download broke off.",
        Code.UNAVAILABLE,
        category="NETWORK_ERROR",
        hint="Try again.",
        retryable=True,
    )


def _too_large(size: int, most: int) -> VrError:
    return VrError(
        f"The video has {size / BYTES_PER_MB:,.0f} MB.",
        Code.TOO_LARGE,
        category="FILE_TOO_LARGE",
        hint=f"At most {most / BYTES_PER_MB:,.0f} MB are downloaded; max_download_mb in"
        " [plugins.video] sets the limit.",
    )


def _unwritable(folder: Path, error: OSError) -> VrError:
    return VrError(
        f"The video could not be saved: {error.strerror}.",
        Code.UNAVAILABLE,
        category="STATE_UNAVAILABLE",
        hint=f"Check that {folder} is writable and has free space.",
    )
