"""The video of a session, found again for each turn."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from io import BufferedReader
from pathlib import Path

from vr_kernel import Code, Media, Services, VrError

from vr_plugin_video.downloads import Downloads
from vr_plugin_video.media.info import mime_to_send
from vr_plugin_video.media.probe import probe
from vr_plugin_video.sessions.rows import Session
from vr_plugin_video.sources import Source, open_source

DOWNLOAD_GONE = (
    "The downloaded video is gone; the model watches it at YouTube, without a context cache."
    " A new session with download=true downloads it again."
)


async def media_of(services: Services, source: Source, duration: float) -> Media:
    """Return the whole of an opened video as media for a model.

    Args:
        services: whose cache knows the digests of files.
        source: the video.
        duration: in seconds; 0 when it is not known.
    """
    if source.at_youtube:
        return Media.youtube(source.video_id, duration=duration or None)
    digest = await services.digests.sha256(source.file)
    mime = mime_to_send(await asyncio.to_thread(probe, source.file))
    return Media(mime, file=source.file, digest=digest, duration=duration or None)


@asynccontextmanager
async def reopened(services: Services, session: Session) -> AsyncIterator[tuple[Source, list[str]]]:
    """Open the video of a session again, with remarks on it, for a `with` block.

    Raises:
        VrError: what the path policy or the fetcher refuses; CONFLICT, category FILE_CHANGED.
    """
    file = await _file_of(services, session) if session.path else None
    if file is not None:
        with file:
            yield Source(session.video_id, session.source, session.title, file), []
    elif session.from_youtube:
        source = Source(session.video_id, session.address, session.title)
        yield source, [DOWNLOAD_GONE] if session.path else []
    else:
        async with open_source(services, session.address, None) as source:
            if await services.digests.sha256(source.file) != session.digest:
                raise _changed(source.path)
            yield source, []


async def _file_of(services: Services, session: Session) -> BufferedReader | None:
    """The file of a session; None for a download that was deleted."""
    if session.address:
        try:
            # Only the name counts: files in that folder were downloaded, and are not secret.
            path = Downloads(services).folder / Path(session.path).name
            file: BufferedReader = await asyncio.to_thread(path.open, "rb")
        except OSError:
            return None
    else:
        file = await asyncio.to_thread(services.policy.open_file, session.path)
    if await services.digests.sha256(file) == session.digest:
        return file
    file.close()
    if session.address:
        return None
    raise _changed(Path(session.path))


def _changed(path: Path) -> VrError:
    return VrError(
        f"{path.name} is not the video any more that this session is about.",
        Code.CONFLICT,
        category="FILE_CHANGED",
        hint="Begin a new session with video_create_session.",
    )
