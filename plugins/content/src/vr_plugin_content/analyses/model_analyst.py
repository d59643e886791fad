"""Analyses by a language model that reads the document; its quotes are checked here."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial
from typing import Any

from vr_kernel import Call, Code, Part, Role, Segment, Structured, Text, VrError, visible_line

from vr_plugin_content.analyses import prompt
from vr_plugin_content.analyses.evidence import checked
from vr_plugin_content.analyses.merging import merge
from vr_plugin_content.analyses.page_pictures import Shown, shown_to, wanted_pages
from vr_plugin_content.analyses.part_answers import PartAnswer, PartAnswers
from vr_plugin_content.analyses.request import AnalysisRequest
from vr_plugin_content.analyses.windows import cut_windows, room_of
from vr_plugin_content.reading.answering import outline_of
from vr_plugin_content.reading.documents import Reading, require_text
from vr_plugin_content.results.analysis import ContentAnalysis

ROLE: Role = "default"
TITLE_CHARS = 200
SUMMARY_CHARS = 4_000
MOST_NAMES = 40
LEAST_ANSWERED = 1


class ModelAnalyst:
    """Has a model read one document, in as many requests as it needs.

    Args:
        call: that pays.
        reading: the document.
        request: what is wanted.
        key: names the analysis, for the answers about its parts.
    """

    def __init__(self, call: Call, reading: Reading, request: AnalysisRequest, key: str) -> None:
        self._call = call
        self._reading = reading
        self._request = request
        self._answers = PartAnswers(call, reading.document.sha256, key)
        self._limits: list[str] = []

    async def analyse(self) -> ContentAnalysis:
        """Make the analysis, with its quotes checked.

        Raises:
            VrError: UNSUPPORTED, category DOCUMENT_EMPTY, for a document without text that no model
                here sees; what the model raises.
        """
        model = self._call.services.models.info(ROLE)
        async with shown_to(self._call, self._reading, model) as shown:
            self._limits += shown.notes
            if not shown.parts:
                require_text(self._reading.document)
            room = room_of(model, shown.pictures)
            windows = cut_windows(self._reading.document.segments, room)
            self._call.progress(0, len(windows), "A model is reading the document")
            if len(windows) == 1:
                found = await self._ask(windows[0], shown)
                return await self._analysis(found.value, [found.reply.model], partial=False)
            return await self._in_parts(windows, shown)

    async def _in_parts(
        self, windows: Sequence[Sequence[Segment]], shown: Shown
    ) -> ContentAnalysis:
        """The analysis of a document that is longer than a model takes."""
        count = len(windows)
        self._limits.append(f"It was read in {count} parts, as it is longer than a model takes.")
        answers: list[PartAnswer] = []
        for number, window in enumerate(windows, 1):
            said = prompt.PART.format(number=number, count=count)
            seen = shown if number == 1 else Shown()
            ask = partial(self._ask, window, seen, said)
            try:
                answers.append(await self._answers.answer(number, count, ask))
            except VrError as error:
                if error.category == "LEASE_LOST" or error.code is Code.INVALID_INPUT:
                    raise
                self._missed(number, window, error)
                if number == count and not answers:
                    raise
            self._call.progress(number, count + 1, f"A model read {number} of {count} parts")
        merged = await merge(self._call, self._request, answers, self._limits)
        models = list(dict.fromkeys([*(each.model for each in answers), merged.model]))
        return await self._analysis(merged.value, models, partial=len(answers) < count)

    def _missed(self, number: int, window: Sequence[Segment], error: VrError) -> None:
        self._call.skip_cache()
        places = f"{window[0].locator.label} to {window[-1].locator.label}"
        why = f"{error.message} {error.hint}".strip()
        self._limits.append(f"Part {number} was not read ({places}). {why}")

    async def _ask(
        self, window: Sequence[Segment], shown: Shown, part: str = ""
    ) -> Structured[Any]:
        request, document = self._request, self._reading.document
        custom = request.output_schema is not None
        asked: list[Part] = [Text(prompt.enclosed(document, window)), *shown.parts]
        told = [part] if part else []
        found: Structured[Any] = await self._call.services.models.generate_structured(
            [
                *asked,
                *map(Text, told),
                Text(prompt.make_prompt(request.instruction, custom=custom)),
            ],
            request.output_schema or prompt.ReadReport,
            role=ROLE,
            system=prompt.SYSTEM,
            thinking=request.thinking_level,
        )
        return found

    async def _analysis(
        self, value: Any, models: Sequence[str], *, partial: bool
    ) -> ContentAnalysis:
        document = self._reading.document
        base = ContentAnalysis(
            source=document.source,
            title=document.title,
            mime=document.mime,
            sha256=document.sha256,
            limits=[*document.limits, *self._limits],
            engine="model",
            model=", ".join(filter(None, models)),
            partial=partial,
            summary="",
            key_points=[],
            entities=[],
            outline=outline_of(document.outline),
        )
        if self._request.output_schema is not None:
            return base.model_copy(update=_custom(value))
        points = await asyncio.to_thread(checked, document, value.key_points)
        if wanted_pages(self._reading):
            points = [
                each.model_copy(update={"status": "unchecked"})
                if each.status == "not_found"
                else each
                for each in points
            ]
        return base.model_copy(
            update={
                "title": visible_line(value.title, TITLE_CHARS) or base.title,
                "summary": value.summary[:SUMMARY_CHARS],
                "key_points": points,
                "entities": [visible_line(name, TITLE_CHARS) for name in value.entities][
                    :MOST_NAMES
                ],
            }
        )


def _custom(value: Any) -> dict[str, Any]:
    """The fields of an analysis in the caller's own form."""
    custom = value if isinstance(value, dict) else {"value": value}
    return {"custom": custom, "summary": visible_line(" ".join(_texts(custom)), 600)}


def _texts(value: Any) -> Sequence[str]:
    """The texts of a JSON value, in its order."""
    if isinstance(value, str):
        return [value]
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for item in inner for text in _texts(item)]
