"""The estimated cost of a batch, before anything is paid."""

from __future__ import annotations

from collections.abc import Sequence

from vr_kernel import Call

from vr_plugin_content.analyses.analysing import analysis_key, asks_model
from vr_plugin_content.analyses.windows import cut_windows
from vr_plugin_content.batch.compared import Compared
from vr_plugin_content.batch.comparer import comparison_key
from vr_plugin_content.batch.comparing import room_for
from vr_plugin_content.batch.listing import Listing
from vr_plugin_content.batch.opened_files import OpenedFile, opened_files
from vr_plugin_content.batch.request import BatchRequest
from vr_plugin_content.batch.shares import digest_room, too_long
from vr_plugin_content.results.analysis import ContentAnalysis
from vr_plugin_content.results.batch import BatchContentItem, BatchContentResult, BatchEstimate

FREE = BatchEstimate(files=0, requests=0, tokens_in=0)


async def estimated(call: Call, request: BatchRequest, listing: Listing) -> BatchContentResult:
    """Read all files, and tell what a model would be given; nothing is paid.

    Raises:
        VrError: as `asks_model`.
    """
    paid = asks_model(call, request.engine)
    async with opened_files(call, listing.entries) as opened:
        files = [it for it in opened if isinstance(it, OpenedFile)]
        kept = await _kept(call, request, files) if paid else [False] * len(files)
        free = BatchEstimate(files=len(files), requests=0, tokens_in=0)
        estimate = _estimate(call, request, files, kept) if paid else free
        known = dict(zip((it.entry.source for it in files), kept, strict=True))
        items = [
            it if isinstance(it, BatchContentItem) else _planned(it, known[it.entry.source], paid)
            for it in opened
        ]
    whole = BatchContentResult.of(listing.source, request.mode, items, listing.limits)
    engine = "model" if paid else "local"
    return whole.model_copy(update={"estimate": estimate, "engine": engine})


async def _kept(call: Call, request: BatchRequest, files: Sequence[OpenedFile]) -> list[bool]:
    """Tell for each file if nothing is to be paid for it any more."""
    cache = call.services.cache
    if not request.use_cache or not files:
        return [False] * len(files)
    if request.mode == "compare":
        key = await comparison_key(call, files, request.analysis)
        return [await cache.model(key, Compared).get() is not None] * len(files)
    keys = [await analysis_key(call, each.reading, request.analysis) for each in files]
    return [await cache.model(key, ContentAnalysis).get() is not None for key in keys]


def _estimate(
    call: Call, request: BatchRequest, files: Sequence[OpenedFile], kept: Sequence[bool]
) -> BatchEstimate:
    wanted = [file for file, is_kept in zip(files, kept, strict=True) if not is_kept]
    if not wanted:
        return FREE
    if request.mode == "individual":
        return BatchEstimate(
            files=len(wanted),
            requests=sum(_requests(call, each) for each in wanted),
            tokens_in=sum(each.tokens for each in wanted),
        )
    room = room_for(call, wanted)
    long = [wanted[at] for at in too_long([each.tokens for each in wanted], room)]
    whole = sum(each.tokens for each in wanted)
    return BatchEstimate(
        files=len(wanted),
        requests=1 + sum(_requests(call, each) for each in long),
        tokens_in=whole + len(long) * digest_room(len(wanted), room),
    )


def _requests(call: Call, file: OpenedFile) -> int:
    """The requests about one file alone: one for each of its parts, and one to join them."""
    count = len(cut_windows(file.document.segments, room_for(call, [file])))
    return count if count == 1 else count + 1


def _planned(file: OpenedFile, kept: bool, paid: bool) -> BatchContentItem:
    return BatchContentItem(
        source=file.entry.source,
        name=file.name,
        status="planned",
        cached=kept,
        title=file.document.title,
        tokens_in=file.tokens if paid and not kept else 0,
    )
