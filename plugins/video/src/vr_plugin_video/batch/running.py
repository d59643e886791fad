"""A batch from request to result: probed, estimated, confirmed, analysed."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from pydantic import BaseModel, Field
from vr_kernel import Call, Code, Usage, VrError

from vr_plugin_video.analyses.analysing import analysis_of
from vr_plugin_video.batch.estimating import Prepared, estimate_of, prepare
from vr_plugin_video.batch.listing import Entry, list_entries
from vr_plugin_video.batch.request import BatchRequest
from vr_plugin_video.batch.results import BatchEstimate, BatchVideoItem, BatchVideoResult
from vr_plugin_video.parallel import run_bounded
from vr_plugin_video.settings import VideoSettings
from vr_plugin_video.sources import Source
from vr_plugin_video.text.times import Window, format_time

LEASE_LOST = "LEASE_LOST"


class Consent(BaseModel):
    """The answer of a person who was told the cost of a batch."""

    go_on: bool = Field(description="Analyse these videos")


async def run_batch(
    call: Call, request: BatchRequest, *, estimate_only: bool = False
) -> BatchVideoResult:
    """Run a batch, and return its uncut result.

    Raises:
        VrError: what concerns the whole batch: INVALID_INPUT, NOT_FOUND, NOT_ALLOWED, AUTH;
            CANCELLED, category DECLINED, when the person declines the cost.
    """
    listing = await list_entries(call.services, request)
    prepared = await prepare(call, listing.entries, request)
    estimate = estimate_of(prepared)
    if estimate_only:
        planned = [each.planned() for each in prepared]
        return BatchVideoResult.of(listing.source, planned, estimate, listing.limits)
    await _consent(call, estimate)
    items = await Batch(call, request, len(prepared)).run(prepared, estimate)
    return BatchVideoResult.of(listing.source, items, estimate, listing.limits)


class Batch:
    """The videos of one call, analysed some at a time."""

    def __init__(self, call: Call, request: BatchRequest, total: int) -> None:
        self._call = call
        self._request = request
        self._total = total
        self._done = 0

    async def run(
        self, prepared: Sequence[Prepared], estimate: BatchEstimate
    ) -> list[BatchVideoItem]:
        """Analyse the videos, and return an item for each, in order."""
        settings: VideoSettings = self._call.services.settings
        self._call.progress(0, self._total, _in_words(estimate))
        works = [partial(self._item, each) for each in prepared]
        return await run_bounded(settings.batch_concurrency, works)

    async def _item(self, prepared: Prepared) -> BatchVideoItem:
        entry = prepared.entry
        item = prepared.ended or await self._analysed(prepared)
        self._done += 1
        said = f"{self._done} of {self._total}: {entry.name} ({item.status})"
        self._call.progress(self._done, self._total, said)
        return item

    async def _analysed(self, prepared: Prepared) -> BatchVideoItem:
        entry = prepared.entry
        try:
            return await self._work(prepared)
        except VrError as error:
            if error.category == LEASE_LOST:
                raise
            return entry.without(error, prepared.video_id)
        except Exception:  # one video that crashes the plugin must not end the others
            self._call.log.exception("video of a batch crashed", source=entry.source)
            return entry.without(entry.crashed(), prepared.video_id)

    async def _work(self, prepared: Prepared) -> BatchVideoItem:
        call, request, entry = self._call, self._request, prepared.entry
        report = partial(self._report, entry)
        # Another call about the same video need not wait for the end of the batch.
        async with (
            prepared.opened(call.services) as source,
            call.part(source.video_id, report) as item,
        ):
            analysis = await analysis_of(
                item,
                source,
                Window(),
                request.analysis,
                engine=request.engine,
                use_cache=request.use_cache,
            )
            await self._remember_price(item, source)
        cached = analysis.cached and not item.usage.calls
        return BatchVideoItem.of(analysis.model_copy(update={"cached": cached}))

    async def _remember_price(self, item: Call, source: Source) -> None:
        """Commit the cost of a video: a batch resumed after a crash finds its result cached."""

        async def price() -> dict[str, int]:
            return item.usage.model_dump()

        paid = await self._call.step(f"price/{source.video_id}/{source.url}", price)
        item.restore_usage(Usage.model_validate(paid))

    def _report(self, entry: Entry, _done: float, _total: float | None, message: str) -> None:
        self._call.progress(self._done, self._total, f"{entry.name}: {message}")


async def _consent(call: Call, estimate: BatchEstimate) -> None:
    settings: VideoSettings = call.services.settings
    if estimate.tokens_in <= settings.batch_ask_above_tokens:
        return
    question = f"{_in_words(estimate)}. Go on?"
    if not (await call.ask(question, Consent, default=Consent(go_on=True))).go_on:
        raise VrError(
            "The batch was not started: its cost was declined.",
            Code.CANCELLED,
            category="DECLINED",
            hint="Lower max_files, give a narrower glob_pattern, or engine='local'.",
        )


def _in_words(estimate: BatchEstimate) -> str:
    if not estimate.files:
        return "Nothing has to be paid: every analysis is in the cache"
    lasting = f"{estimate.files} videos of {format_time(estimate.seconds)} in all"
    unknown = f", {estimate.unknown} of unknown length" if estimate.unknown else ""
    return f"To analyse: {lasting}{unknown}, about {estimate.tokens_in:,} tokens"
