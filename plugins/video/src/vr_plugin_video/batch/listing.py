"""Lists the videos of a batch: of a folder, or of a YouTube playlist."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from vr_kernel import Code, Services, VrError, spelled_out

from vr_plugin_video.batch.request import BatchRequest
from vr_plugin_video.batch.results import BatchVideoItem, ItemError
from vr_plugin_video.media.formats import is_media_name
from vr_plugin_video.sources import Source, open_source
from vr_plugin_video.youtube.addresses import parse_url, playlist_id, watch_url
from vr_plugin_video.youtube.client import youtube_of

LOOKED_AT = 10_000
"""Most files of a folder that are looked at."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One video of a batch: a file or a video at YouTube, and why it is skipped, if it is."""

    name: str
    path: str = ""
    url: str = ""
    skipped: ItemError | None = None

    @property
    def source(self) -> str:
        """Its path or its address, with `?` for what of a name is not UTF-8."""
        return (self.path or self.url).encode("utf-8", "replace").decode()

    @asynccontextmanager
    async def opened(self, services: Services) -> AsyncIterator[Source]:
        """Open the video for a `with` block.

        Raises:
            VrError: INVALID_INPUT for a name that is not UTF-8, which no record can hold; else as
                `open_source`.
        """
        if self.path and self.path != self.source:
            raise VrError(
                f"The name {spelled_out(self.path)} is not UTF-8.",
                Code.INVALID_INPUT,
                hint="Rename the file.",
            )
        async with open_source(services, self.url or None, self.path or None) as source:
            yield source

    def crashed(self) -> VrError:
        """The error of a video at which the plugin crashed."""
        return VrError(
            f"{self.name} could not be analysed.",
            Code.INTERNAL,
            hint="The server's log has the details. Report it to the plugin.",
        )

    def without(self, error: VrError, video_id: str = "") -> BatchVideoItem:
        """Return the item of a video that failed."""
        return BatchVideoItem(
            source=self.source, video_id=video_id, status="failed", error=ItemError.of(error)
        )


@dataclass(frozen=True, slots=True)
class Listing:
    """The videos of a folder or playlist in order, and remarks on those that are left out."""

    source: str
    entries: list[Entry]
    limits: list[str]


async def list_entries(services: Services, request: BatchRequest) -> Listing:
    """List the videos of a request.

    Raises:
        VrError: NOT_FOUND, category BATCH_EMPTY, when there is nothing; what the path policy says
            of the folder and the pattern, and YouTube of the playlist.
    """
    if request.directory:
        return await asyncio.to_thread(_of_folder, services, request)
    return await _of_playlist(services, request)


def _of_folder(services: Services, request: BatchRequest) -> Listing:
    matches = services.policy.match_files(request.directory, request.pattern, limit=LOOKED_AT)
    paths = [path for path in matches.paths if is_media_name(path.name)]
    if not paths:
        raise _empty(
            f"No video or sound in {Path(request.directory)} matches {request.pattern!r}.",
            "glob_pattern='**/*' looks into folders below, too.",
        )
    limits = _left_out(len(paths), request.most)
    if not matches.complete:
        limits.append("The folder is too large to be looked at whole; give a narrower pattern.")
    folder = str(Path(request.directory).expanduser().resolve())
    entries = [Entry(path.name, path=str(path)) for path in paths[: request.most]]
    return Listing(folder.encode("utf-8", "replace").decode(), entries, limits)


async def _of_playlist(services: Services, request: BatchRequest) -> Listing:
    wanted = playlist_id(parse_url(request.url))
    found = await youtube_of(services).playlist(wanted, request.most)
    if not found.items:
        raise _empty("The playlist has no videos.", "Check the link.")
    entries = [
        Entry(
            item.title or item.video_id,
            url=watch_url(item.video_id),
            skipped=None if item.availability == "available" else _hidden(item.availability),
        )
        for item in found.items[: request.most]
    ]
    return Listing(request.url, entries, [*found.limits, *_left_out(found.total, request.most)])


def _left_out(found: int, most: int) -> list[str]:
    return [f"{most} of {found} videos were taken; see max_files."] if found > most else []


def _hidden(availability: str) -> ItemError:
    return ItemError(
        code=Code.NOT_ALLOWED.value,
        category="VIDEO_UNAVAILABLE",
        message=f"The video is {availability}.",
        hint="Nobody but its owner can watch it.",
    )


def _empty(message: str, hint: str) -> VrError:
    return VrError(message, Code.NOT_FOUND, category="BATCH_EMPTY", hint=hint)
