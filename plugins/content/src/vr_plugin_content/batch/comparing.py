"""Comparisons of the files of a batch: by a model in one request, or by their names alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from vr_kernel import Call, cache_key

from vr_plugin_content.analyses.model_analyst import ROLE
from vr_plugin_content.analyses.page_pictures import wanted_pages
from vr_plugin_content.analyses.windows import room_of
from vr_plugin_content.batch.analysed_files import AnalysedFiles, remember_price
from vr_plugin_content.batch.compared import Compared, record_compared
from vr_plugin_content.batch.comparer import Comparer, comparison_key
from vr_plugin_content.batch.listing import Listing
from vr_plugin_content.batch.opened_files import OpenedFile, opened_files
from vr_plugin_content.batch.parallel import run_together
from vr_plugin_content.batch.request import BatchRequest
from vr_plugin_content.batch.shares import digest_of, digest_room, too_long
from vr_plugin_content.results.batch import BatchContentItem, BatchContentResult

NOTHING = "None of the files could be read, so that nothing was compared."
ALONE = "Only one of the files could be read, so that it is compared with nothing."


async def compare(call: Call, request: BatchRequest, listing: Listing) -> BatchContentResult:
    """Have a model compare files, and return the uncut result.

    Raises:
        VrError: what the model raises.
    """
    async with opened_files(call, listing.entries) as opened:
        failed = {it.source: it for it in opened if isinstance(it, BatchContentItem)}
        files = [it for it in opened if isinstance(it, OpenedFile)]
        digests: dict[str, str] = {}
        key = await comparison_key(call, files, request.analysis)
        if files and not (request.use_cache and await _was_kept(call, key)):
            digests = await _digests(call, request, files, failed)
            files = [it for it in files if it.entry.source not in failed]
        if not files:
            items = [failed[entry.source] for entry in listing.entries]
            return BatchContentResult.of(
                listing.source, "compare", items, [*listing.limits, NOTHING]
            )
        compared, paid = await _compared(call, request, files, digests)
    return _result(request, listing, files, failed, compared, paid=paid)


def room_for(call: Call, files: Sequence[OpenedFile]) -> int:
    """Return how many tokens of text one request takes beside the pages that are shown."""
    pictures = sum(len(wanted_pages(each.reading)) for each in files)
    return room_of(call.services.models.info(ROLE), pictures)


async def _was_kept(call: Call, key: str) -> bool:
    """True when the comparison was in the cache before this call began.

    A call resumed after a crash then counts once more what it paid for long files before.
    """

    async def look() -> bool:
        return await call.services.cache.model(key, Compared).get() is not None

    return bool(await call.step("comparison was kept", look))


async def _digests(
    call: Call,
    request: BatchRequest,
    files: Sequence[OpenedFile],
    failed: dict[str, BatchContentItem],
) -> dict[str, str]:
    """The analyses that stand for files which do not all fit; one that fails is noted."""
    room = room_for(call, files)
    long = [files[at] for at in too_long([each.tokens for each in files], room)]
    most = digest_room(len(files), room)
    alone = replace(request, analysis=replace(request.analysis, output_schema=None))
    analysed = AnalysedFiles(call, alone, len(files))

    async def digest(file: OpenedFile) -> tuple[str, str] | None:
        try:
            return file.name, digest_of(await analysed.analysis(file.entry), most)
        except Exception as error:  # noqa: BLE001 - one file must not end the others
            failed[file.entry.source] = file.entry.failed(call, error)
            return None

    return dict(found for found in await run_together(map(digest, long)) if found)


async def _compared(
    call: Call, request: BatchRequest, files: Sequence[OpenedFile], digests: dict[str, str]
) -> tuple[Compared, bool]:
    """The comparison, committed with its records and its price, and if this call paid for it."""
    key = await comparison_key(call, files, request.analysis)
    instruction = request.analysis.instruction

    async def produce(shared: Call) -> Compared:
        made = await Comparer(shared, files, request.analysis, digests).compare()
        await record_compared(shared, made, files, instruction, always=True)
        return made

    async with call.part("comparison") as part:
        if request.use_cache:
            found = await part.once(key, Compared, produce)
            if found.cached:
                await record_compared(part, found, files, instruction, always=False)
        else:
            key = cache_key(only=call.id, of=key)
            found = await produce(part)
        await remember_price(call, part, f"comparison/{key}")
    return found, part.usage.calls > 0


def _result(
    request: BatchRequest,
    listing: Listing,
    files: Sequence[OpenedFile],
    failed: dict[str, BatchContentItem],
    compared: Compared,
    *,
    paid: bool,
) -> BatchContentResult:
    cached = compared.cached and not paid
    items = {
        file.entry.source: said.item(file, cached=cached, strict=request.strict)
        for file, said in zip(files, compared.files, strict=True)
    }
    alone = [ALONE] if len(files) == 1 else []
    ordered = [items.get(entry.source) or failed[entry.source] for entry in listing.entries]
    limits = [*listing.limits, *alone, *compared.limits]
    whole = BatchContentResult.of(listing.source, "compare", ordered, limits)
    told = {"engine": "model", "model": compared.model, "comparison": compared.comparison}
    return whole.model_copy(update=told)
