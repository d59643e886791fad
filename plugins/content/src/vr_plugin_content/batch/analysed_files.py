"""Analyses of the files of a batch, each on its own: read ahead, some at a model at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial

from vr_kernel import Call, Usage

from vr_plugin_content.analyses.analysing import analysis_of
from vr_plugin_content.analyses.answering import without_unfound
from vr_plugin_content.batch.listing import Entry
from vr_plugin_content.batch.opened_files import opened_apart
from vr_plugin_content.batch.parallel import run_together
from vr_plugin_content.batch.request import BatchRequest
from vr_plugin_content.reading.documents import Reading
from vr_plugin_content.results.analysis import ContentAnalysis
from vr_plugin_content.results.batch import BatchContentItem
from vr_plugin_content.settings import ContentSettings


class AnalysedFiles:
    """The files of one call, analysed one by one.

    As many files as `batch_concurrency` are at a model at the same time. Meanwhile the next ones
    are read, as many as there are parsers, and what is done is committed.

    Args:
        call: that pays.
        request: what is wanted.
        total: number of files that progress counts.
    """

    def __init__(self, call: Call, request: BatchRequest, total: int) -> None:
        settings: ContentSettings = call.services.settings
        self._call = call
        self._request = request
        self._total = total
        self._done = 0
        self._models: dict[str, None] = {}
        self._at_models = asyncio.Semaphore(settings.batch_concurrency)
        self._open = asyncio.Semaphore(settings.batch_concurrency + 2 * settings.parsers)

    @property
    def models(self) -> str:
        """The models that answered, in words."""
        return ", ".join(self._models)

    async def run(self, entries: Sequence[Entry]) -> list[BatchContentItem]:
        """Analyse files, and return an item for each, in order.

        Raises:
            VrError: CONFLICT, category LEASE_LOST.
        """
        self._call.progress(
            0, self._total, f"Analysing {self._total} file{'s' * (self._total != 1)}"
        )
        return await run_together(self._item(entry) for entry in entries)

    async def _item(self, entry: Entry) -> BatchContentItem:
        try:
            analysis = await self.analysis(entry)
        except Exception as error:  # noqa: BLE001 - one file must not end the others
            item = entry.failed(self._call, error)
        else:
            self._models.update(dict.fromkeys(filter(None, [analysis.model])))
            shown = without_unfound(analysis) if self._request.strict else analysis
            item = BatchContentItem.of(entry.name, shown)
        self._done += 1
        said = f"{self._done} of {self._total}: {entry.name} ({item.status})"
        self._call.progress(self._done, self._total, said)
        return item

    async def analysis(self, entry: Entry) -> ContentAnalysis:
        """Return the analysis of one file, committed with its records and its price.

        Raises:
            VrError: as `opened_apart` and `analysis_of`.
        """
        report = partial(self._report, entry)
        # Another call about the same file need not wait for the end of the batch.
        async with (
            self._open,
            opened_apart(self._call, entry) as reading,
            self._call.part(entry.place, report) as part,
        ):
            async with self._at_models:
                analysis = await self._analysed(part, reading)
            await remember_price(self._call, part, f"{entry.place}/{analysis.sha256}")
        cached = analysis.cached and not part.usage.calls
        return analysis.model_copy(update={"cached": cached})

    async def _analysed(self, part: Call, reading: Reading) -> ContentAnalysis:
        request = self._request
        return await analysis_of(
            part, reading, request.analysis, engine=request.engine, use_cache=request.use_cache
        )

    def _report(self, entry: Entry, _done: float, _total: float | None, message: str) -> None:
        self._call.progress(self._done, self._total, f"{entry.name}: {message}")


async def remember_price(call: Call, part: Call, name: str) -> None:
    """Commit the cost of a part: a batch resumed after a crash finds its result cached."""

    async def price() -> dict[str, int]:
        return part.usage.model_dump()

    paid = await call.step(f"price/{name}", price)
    part.restore_usage(Usage.model_validate(paid))
