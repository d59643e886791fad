"""Has a model extract data from one document, in as many requests as it needs."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial
from typing import Any

from vr_kernel import Call, Part, Segment, Structured, Text

from vr_plugin_content.analyses.model_analyst import ROLE
from vr_plugin_content.analyses.page_pictures import Shown, shown_to, wanted_pages
from vr_plugin_content.analyses.part_answers import PartAnswer, PartAnswers
from vr_plugin_content.analyses.prompt import enclosed
from vr_plugin_content.analyses.windows import cut_windows, room_of
from vr_plugin_content.extraction import prompt
from vr_plugin_content.extraction.checking import evidence_of
from vr_plugin_content.extraction.fitness import require_fit
from vr_plugin_content.extraction.flat_schema import FlatSchema, relaxed
from vr_plugin_content.extraction.merging import Told, merged
from vr_plugin_content.extraction.request import ExtractionRequest
from vr_plugin_content.reading.documents import Reading, require_text
from vr_plugin_content.results.extraction import ContentExtraction

NO_EVIDENCE = (
    "The schema is too deep or too large to ask for the place of each value: nothing was checked"
    " against the document."
)


class Extractor:
    """Extracts data from one document.

    Args:
        call: that pays.
        reading: the document.
        request: the form of the data.
        key: names the extraction, for the answers about its parts.
    """

    def __init__(self, call: Call, reading: Reading, request: ExtractionRequest, key: str) -> None:
        self._call = call
        self._reading = reading
        self._request = request
        self._evidence = FlatSchema(request.schema).is_flat
        self._answers = PartAnswers(call, reading.document.sha256, key)
        self._limits: list[str] = [] if self._evidence else [NO_EVIDENCE]

    async def extract(self) -> ContentExtraction:
        """Extract the data, with its evidence checked.

        Raises:
            VrError: UNSUPPORTED, category DOCUMENT_EMPTY, for a document without text that no model
                here sees; UNAVAILABLE, category PARTS_MISFIT; what the model raises.
        """
        model = self._call.services.models.info(ROLE)
        async with shown_to(self._call, self._reading, model) as shown:
            self._limits += shown.notes
            if not shown.parts:
                require_text(self._reading.document)
            segments = self._reading.document.segments
            windows = cut_windows(segments, room_of(model, shown.pictures))
            self._call.progress(0, len(windows), "A model is reading the document")
            if len(windows) == 1:
                found = await self._ask(self._form(self._request.schema), windows[0], shown, "")
                data, told = self._parted(found.value)
                return await self._extraction(data, told, [found.reply.model])
            return await self._in_parts(windows, shown)

    async def _in_parts(
        self, windows: Sequence[Sequence[Segment]], shown: Shown
    ) -> ContentExtraction:
        """Extract from a document that is longer than a model takes."""
        count = len(windows)
        self._limits.append(
            f"It was read in {count} parts, as it is longer than a model takes: lists were joined,"
            " and of other values the first one was taken."
        )
        form = self._form(relaxed(self._request.schema))
        answers: list[PartAnswer] = []
        for number, window in enumerate(windows, 1):
            said = prompt.PART.format(number=number, count=count)
            ask = partial(self._ask, form, window, shown if number == 1 else Shown(), said)
            answers.append(await self._answers.answer(number, count, ask))
            self._call.progress(number, count, f"A model read {number} of {count} parts")
        data, told = merged([self._parted(each.custom) for each in answers])
        await asyncio.to_thread(require_fit, self._request.schema, data)
        return await self._extraction(data, told, [each.model for each in answers])

    def _form(self, schema: dict[str, Any]) -> dict[str, Any]:
        return FlatSchema(schema).with_evidence() if self._evidence else schema

    def _parted(self, value: Any) -> tuple[Any, Told]:
        return (value["data"], value["evidence"]) if self._evidence else (value, [])

    async def _ask(
        self, form: dict[str, Any], window: Sequence[Segment], shown: Shown, part: str
    ) -> Structured[Any]:
        request = self._request
        task = prompt.make_task(request.instruction, evidence=self._evidence)
        parts: list[Part] = [Text(enclosed(self._reading.document, window)), *shown.parts]
        found: Structured[Any] = await self._call.services.models.generate_structured(
            [*parts, *map(Text, filter(None, [part, task]))],
            form,
            role=ROLE,
            system=prompt.SYSTEM,
            thinking=request.thinking_level,
        )
        return found

    async def _extraction(self, data: Any, told: Told, models: Sequence[str]) -> ContentExtraction:
        document = self._reading.document
        evidence = []
        if self._evidence:
            unseen = bool(wanted_pages(self._reading))
            evidence = await asyncio.to_thread(evidence_of, document, data, told, unseen=unseen)
        return ContentExtraction(
            source=document.source,
            title=document.title,
            model=", ".join(dict.fromkeys(models)),
            data=data,
            evidence=evidence,
            limits=[*document.limits, *self._limits],
        )
