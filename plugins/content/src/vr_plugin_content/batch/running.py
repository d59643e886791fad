"""A batch from request to result."""

from __future__ import annotations

from vr_kernel import Call

from vr_plugin_content.analyses.analysing import asks_model
from vr_plugin_content.batch.analysed_files import AnalysedFiles
from vr_plugin_content.batch.comparing import compare
from vr_plugin_content.batch.estimating import estimated
from vr_plugin_content.batch.listing import Listing, list_entries
from vr_plugin_content.batch.local_comparison import MADE_SO, compare_locally
from vr_plugin_content.batch.request import BatchRequest
from vr_plugin_content.results.batch import BatchContentItem, BatchContentResult

LEAST_COMPARED = 2


async def run_batch(
    call: Call, request: BatchRequest, *, estimate_only: bool = False
) -> BatchContentResult:
    """Run a batch, and return its uncut result.

    Raises:
        VrError: what concerns the whole batch: INVALID_INPUT, NOT_FOUND, NOT_ALLOWED, AUTH; with
            `compare` also what the model raises.
    """
    by_model = asks_model(call, request.engine)
    listing = await list_entries(call.services, request)
    if estimate_only:
        return await estimated(call, request, listing)
    if by_model and request.mode == "compare":
        return await compare(call, request, listing)
    return await _individual(call, request, listing, by_model=by_model)


async def _individual(
    call: Call, request: BatchRequest, listing: Listing, *, by_model: bool
) -> BatchContentResult:
    """The analyses of each file; without a model their names are compared."""
    analysed = AnalysedFiles(call, request, len(listing.entries))
    items, told = _lifted(await analysed.run(listing.entries))
    limits = [*listing.limits, *told]
    result = BatchContentResult.of(listing.source, request.mode, items, limits)
    if by_model:
        return result.model_copy(update={"engine": "model", "model": analysed.models})
    found = [item for item in items if item.status == "ok"]
    if request.mode == "individual" or len(found) < LEAST_COMPARED:
        return result
    compared = compare_locally(found)
    limits = [MADE_SO, *result.limits]
    return result.model_copy(update={"comparison": compared, "limits": limits})


def _lifted(items: list[BatchContentItem]) -> tuple[list[BatchContentItem], list[str]]:
    """The items without the remarks that all analyses share, and these remarks."""
    told = [set(item.limits) for item in items if item.status == "ok"]
    if len(told) < 2:  # noqa: PLR2004 - nothing is repeated
        return items, []
    shared = set.intersection(*told)
    ordered = [limit for item in items for limit in item.limits if limit in shared]
    kept = [
        item.model_copy(update={"limits": [it for it in item.limits if it not in shared]})
        for item in items
    ]
    return kept, list(dict.fromkeys(ordered))
