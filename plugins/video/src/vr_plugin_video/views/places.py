"""Places in videos: links that open them there, and sources that are not there any more."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from io import BufferedReader
from pathlib import PurePosixPath, PureWindowsPath
from urllib.parse import unquote, urlsplit

from vr_kernel import Code, Services, VrError
from vr_kernel.views import Block, Media, shown_host

from vr_plugin_video.media.formats import AUDIO_EXTENSIONS, split_name
from vr_plugin_video.youtube.addresses import parse_url, watch_url, youtube_id

LinkTo = Callable[[float], str]
"""Makes the link that opens a video at a time in seconds; empty when nothing can."""
MOST_COMPARED = 64_000_000
"""Bytes of a file that is read to see if it is still the same."""
_DIGEST_CHARS = 64


def link_to(source: str) -> LinkTo:
    """Links into what a record names as its source: an address, or a path."""
    at_youtube = _at_youtube(source)
    home = at_youtube or (source if "://" in source else _file_address(source))

    def link(seconds: float) -> str:
        whole = max(0, int(seconds))
        return f"{home}&t={whole}s" if at_youtube else f"{home}#t={whole}" if home else ""

    return link


def media(source: str, duration: float | None, start: float = 0.0) -> list[Block]:
    """The player of a source, at a second of it; nothing without one."""
    if not source:
        return []
    sounds = split_name(_path_of(source))[1].removeprefix(".") in AUDIO_EXTENSIONS
    return [Media(source, "audio" if sounds else "video", duration, start or None)]


def name_of(source: str) -> str:
    """The name of a source that has no title: that of its file, or its address."""
    if _at_youtube(source):
        return f"YouTube video {_at_youtube(source).rpartition('=')[2]}"
    return split_name(unquote(_path_of(source)))[0] or shown_host(source)


async def source_notes(services: Services, source: str, video_id: str) -> list[str]:
    """A remark when the file of a record is gone, or another one by now."""
    if not source or "://" in source:
        return []
    name = shown_host(source)
    try:
        file = await asyncio.to_thread(services.policy.open_file, source)
    except VrError as error:
        gone = error.code is Code.NOT_FOUND
        return [f"{name} is not there any more: {source}"] if gone else []
    with file:
        if len(video_id) != _DIGEST_CHARS:
            return []
        try:
            now = await services.digests.sha256(file, check=_require_small)
        except (_TooLargeError, OSError):
            return [f"{name} may have changed since it was watched."]
    return [] if now == video_id else [f"{name} has changed since it was watched."]


class _TooLargeError(Exception):
    """Says that comparing a file would take too long."""


def _require_small(file: BufferedReader) -> None:
    if os.fstat(file.fileno()).st_size > MOST_COMPARED:
        raise _TooLargeError


def _at_youtube(source: str) -> str:
    """The canonical address of a video at YouTube; empty for everything else."""
    if "://" not in source:
        return ""
    try:
        found = youtube_id(parse_url(source))
    except VrError:
        return ""
    return watch_url(found) if found else ""


def _path_of(source: str) -> str:
    try:
        return urlsplit(source).path if "://" in source else source
    except ValueError:
        return source


def _file_address(path: str) -> str:
    for kind in (PurePosixPath, PureWindowsPath):
        if kind(path).is_absolute():
            return kind(path).as_uri()
    return ""
