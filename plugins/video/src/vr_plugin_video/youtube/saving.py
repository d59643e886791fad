"""Videos of YouTube as files, saved by yt-dlp."""

from __future__ import annotations

import asyncio
import errno
import os
import re
import shutil
import threading
import time
import uuid
from collections.abc import Mapping
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from vr_kernel import private_file, private_folder

from vr_plugin_video.downloads import BYTES_PER_MB, too_large, too_slow, unwritable
from vr_plugin_video.media.formats import is_media_name
from vr_plugin_video.settings import VideoSettings
from vr_plugin_video.work import Report, StoppedError
from vr_plugin_video.youtube.errors import NETWORK_FAILED, error_by, not_installed
from vr_plugin_video.youtube.ytdlp import common_options
from vr_plugin_video.youtube.ytdlp_errors import error_of

_UNWRITTEN = re.compile(r"unable to (write|open)|no space left|file too large", re.IGNORECASE)
HEIGHT = 720
"""Height of the picture in pixels that is enough to read slides."""


@dataclass(slots=True)
class DownloadWatch:
    """Watches a download, and ends it when it is stopped, too large or too slow."""

    settings: VideoSettings
    report: Report
    end: float
    stop: threading.Event = field(default_factory=threading.Event)
    _sizes: dict[str, float] = field(default_factory=dict)

    def see(self, status: Mapping[str, Any]) -> None:
        """Look at a download; called by yt-dlp.

        Raises:
            StoppedError: the call was cancelled.
            VrError: TOO_LARGE; UNAVAILABLE after the deadline.
        """
        if self.stop.is_set():
            raise StoppedError
        if time.monotonic() > self.end:
            raise too_slow(self.settings.download_deadline_s)
        done = float(status.get("downloaded_bytes") or 0)
        whole = float(status.get("total_bytes") or status.get("total_bytes_estimate") or 0)
        # Picture and sound may come as two files.
        self._sizes[str(status.get("filename"))] = max(done, float(status.get("total_bytes") or 0))
        if sum(self._sizes.values()) > self.settings.max_download_mb * BYTES_PER_MB:
            raise too_large(self.settings.max_download_mb)
        said = f"Downloading: {done / BYTES_PER_MB:.0f} MB"
        self.report(done / whole if whole else 0.0, said)


async def save_video(
    address: str, video_id: str, folder: Path, settings: VideoSettings, report: Report
) -> Path:
    """The video as a file in `folder`, named by its id; an existing file is used again.

    Cancelling waits until the download has stopped, and leaves nothing behind.

    Raises:
        VrError: UNAVAILABLE, category EXTRA_MISSING, without yt-dlp, or STATE_UNAVAILABLE when it
            cannot be written; TOO_LARGE; else as `error_of`.
    """
    if find_spec("yt_dlp") is None:
        raise not_installed("Downloading from YouTube")
    end = time.monotonic() + settings.download_deadline_s
    watcher = DownloadWatch(settings, report, end)
    thread = asyncio.ensure_future(asyncio.to_thread(_save, address, video_id, folder, watcher))
    try:
        return await asyncio.shield(thread)
    except asyncio.CancelledError:
        watcher.stop.set()
        await asyncio.wait({thread})
        if not thread.cancelled():
            thread.exception()
        raise


def _save(address: str, video_id: str, folder: Path, watcher: DownloadWatch) -> Path:
    there = _saved(folder, video_id)
    if there is not None:
        with suppress(OSError):
            there.touch()
        return there
    part = folder / f".{video_id}.{uuid.uuid4().hex}.part"
    try:
        private_folder(part)
        _download(address, video_id, part, watcher)
        made = _saved(part, video_id)
        if made is None:
            failed = replace(NETWORK_FAILED, message="YouTube gave no file of this video.")
            raise error_by(failed)
        return private_file(made).replace(folder / made.name)
    except OSError as error:
        raise unwritable(folder, error) from error
    finally:
        shutil.rmtree(part, ignore_errors=True)


def _download(address: str, video_id: str, folder: Path, watcher: DownloadWatch) -> None:
    from yt_dlp import YoutubeDL
    from yt_dlp.utils import YoutubeDLError

    options = {
        **common_options(),
        "paths": {"home": str(folder)},
        "outtmpl": f"{video_id}.%(ext)s",
        "format_sort": [f"res:{HEIGHT}", "ext"],
        "updatetime": False,
        "progress_hooks": [watcher.see],
    }
    with ExitStack() as answers:

        class Saver(YoutubeDL):  # type: ignore[misc] # its makers type nothing
            """Closes its connections, also when a download is stopped in the middle."""

            def urlopen(self, request: Any) -> Any:
                """Open an address."""
                return answers.enter_context(closing(super().urlopen(request)))

        saver = answers.enter_context(Saver(options))
        try:
            saver.extract_info(address)
        except YoutubeDLError as error:
            if _UNWRITTEN.search(str(error)):
                raise OSError(errno.ENOSPC, "it cannot be written whole") from None
            raise error_of(error) from None


def _saved(folder: Path, video_id: str) -> Path | None:
    found = (folder / name for name in _names(folder) if name.partition(".")[0] == video_id)
    return next((path for path in found if is_media_name(path.name)), None)


def _names(folder: Path) -> list[str]:
    return sorted(os.listdir(folder)) if folder.is_dir() else []  # noqa: PTH208 - names alone
