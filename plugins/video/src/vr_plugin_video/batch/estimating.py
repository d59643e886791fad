"""The estimated cost of a batch, before anything is paid."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial

from vr_kernel import Call, Services, VrError

from vr_plugin_video.analyses.analysing import choose_analyst
from vr_plugin_video.analyses.local_analyst import LocalAnalyst
from vr_plugin_video.analyses.local_engine import LocalEngine
from vr_plugin_video.analyses.windows import tokens_a_second
from vr_plugin_video.batch.listing import Entry
from vr_plugin_video.batch.request import BatchRequest
from vr_plugin_video.batch.results import BatchEstimate, BatchVideoItem
from vr_plugin_video.media.info import MediaInfo
from vr_plugin_video.models import VideoAnalysis
from vr_plugin_video.parallel import run_bounded
from vr_plugin_video.sources import Source
from vr_plugin_video.text.times import Window


@dataclass(frozen=True, slots=True)
class Prepared:
    """A video that was probed: its length in seconds, 0 when not known, and its price in tokens.

    `media` describes its file; `ended` is the item of a video that is not analysed.
    """

    entry: Entry
    video_id: str = ""
    seconds: float = 0.0
    tokens: float = 0.0
    cached: bool = False
    media: MediaInfo | None = None
    ended: BatchVideoItem | None = None

    @asynccontextmanager
    async def opened(self, services: Services) -> AsyncIterator[Source]:
        """Open the video for a `with` block; what was probed holds for the same file."""
        async with self.entry.opened(services) as source:
            same = source.video_id == self.video_id and not source.at_youtube
            yield replace(source, media=self.media) if same and self.media else source

    def planned(self) -> BatchVideoItem:
        """Return the item that an estimate shows for the video."""
        return self.ended or BatchVideoItem(
            source=self.entry.source,
            video_id=self.video_id,
            status="planned",
            cached=self.cached,
            title=self.entry.name,
        )


async def prepare(call: Call, entries: Sequence[Entry], request: BatchRequest) -> list[Prepared]:
    """Probe every video, so that files that are not media are known before anything is paid.

    Raises:
        VrError: AUTH or UNAVAILABLE, category ENGINE_UNAVAILABLE.
    """
    local = call.services.providers.get(LocalEngine)
    choose_analyst(call, request.engine, local, request.analysis)
    call.progress(0, len(entries), f"Looking at {len(entries)} video{'s' * (len(entries) != 1)}")
    works = [partial(_prepared, call, entry, request) for entry in entries]
    return await run_bounded(local.settings.batch_concurrency, works)


def estimate_of(prepared: Sequence[Prepared]) -> BatchEstimate:
    """The sums over what is still to be analysed."""
    wanted = [each for each in prepared if each.ended is None and not each.cached]
    return BatchEstimate(
        files=len(wanted),
        seconds=sum(each.seconds for each in wanted),
        tokens_in=round(sum(each.tokens for each in wanted)),
        unknown=sum(not each.seconds for each in wanted),
    )


async def _prepared(call: Call, entry: Entry, request: BatchRequest) -> Prepared:
    if entry.skipped:
        item = BatchVideoItem(
            source=entry.source, status="skipped", title=entry.name, error=entry.skipped
        )
        return Prepared(entry, ended=item)
    try:
        return await _looked_at(call, entry, request)
    except VrError as error:
        return Prepared(entry, ended=entry.without(error))
    except Exception:  # one video that crashes the plugin must not end the others
        call.log.exception("video of a batch crashed", source=entry.source)
        return Prepared(entry, ended=entry.without(entry.crashed()))


async def _looked_at(call: Call, entry: Entry, request: BatchRequest) -> Prepared:
    local = call.services.providers.get(LocalEngine)
    analyst = choose_analyst(call, request.engine, local, request.analysis)
    async with entry.opened(call.services) as source:
        task = local.task(call, source, Window(), use_cache=request.use_cache)
        if request.use_cache:
            key = await analyst.key(task)
            kept = await call.services.cache.model(key, VideoAnalysis).get()
            if kept is not None:
                return Prepared(entry, source.video_id, cached=True)
        media, analysis = await task.media(), request.analysis
        seconds = media.duration
        rate = tokens_a_second(analysis.fps, analysis.media_resolution, pictures=media.has_video)
        paid = not isinstance(analyst, LocalAnalyst)
        return Prepared(entry, source.video_id, seconds, seconds * rate * paid, media=media)
