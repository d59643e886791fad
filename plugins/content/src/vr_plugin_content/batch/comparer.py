"""Has a model compare several files in one request; its quotes are checked against each file."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from typing import Any

from vr_kernel import Call, Locator, Part, Segment, Text, cache_key, visible_line

from vr_plugin_content.analyses.evidence import checked
from vr_plugin_content.analyses.model_analyst import ROLE
from vr_plugin_content.analyses.page_pictures import shown_to, wanted_pages
from vr_plugin_content.analyses.prompt import enclosed
from vr_plugin_content.analyses.request import AnalysisRequest
from vr_plugin_content.batch import comparison_prompt as prompt
from vr_plugin_content.batch.compared import Compared, ComparedFile
from vr_plugin_content.batch.opened_files import OpenedFile
from vr_plugin_content.results.batch import Comparison, SharedPoint

TITLE_CHARS = 200
SUMMARY_CHARS = 4_000
UNTOLD = "The model said nothing about this file alone."


class Comparer:
    """Compares the files of one call.

    Args:
        call: that pays.
        files: at least one.
        request: what is wanted.
        digests: by the name of a file that is too long, the text that stands for it.
    """

    def __init__(
        self,
        call: Call,
        files: Sequence[OpenedFile],
        request: AnalysisRequest,
        digests: Mapping[str, str],
    ) -> None:
        self._call = call
        self._files = files
        self._request = request
        self._digests = digests

    async def compare(self) -> Compared:
        """Ask the model once, and check its quotes.

        Raises:
            VrError: what the parser says of a page, and the model.
        """
        request, names = self._request, [each.name for each in self._files]
        custom, limits = request.output_schema is not None, self._told()
        async with AsyncExitStack() as shown:
            parts: list[Part] = []
            for file in self._files:
                parts += await self._parts(file, shown, limits)
            self._call.progress(0, None, f"A model is comparing {len(names)} files")
            found: Any = await self._call.services.models.generate_structured(
                [*parts, Text(prompt.make_task(request.instruction, names, custom=custom))],
                request.output_schema or prompt.ComparisonReport,
                role=ROLE,
                system=prompt.SYSTEM,
                thinking=request.thinking_level,
            )
        if custom:
            return self._custom(found.value, found.reply.model, limits)
        return await self._compared(found.value, found.reply.model, limits)

    async def _parts(
        self, file: OpenedFile, shown: AsyncExitStack, limits: list[str]
    ) -> Sequence[Part]:
        """The parts of the request that hold a file: its label, its text, its pages."""
        label = Text(prompt.LABEL.format(name=file.name))
        digest = self._digests.get(file.name)
        if digest is not None:
            stands = [Segment(digest, Locator())]
            return [label, Text(prompt.DIGEST), Text(enclosed(file.document, stands))]
        model = self._call.services.models.info(ROLE)
        pages = await shown.enter_async_context(shown_to(self._call, file.reading, model))
        limits += [f"{file.name}: {note}" for note in pages.notes]
        return [label, Text(enclosed(file.document, file.document.segments)), *pages.parts]

    def _told(self) -> list[str]:
        if not self._digests:
            return []
        names = ", ".join(self._digests)
        return [f"Too long to be compared word by word: an analysis stood for each of {names}."]

    def _custom(self, value: Any, model: str, limits: list[str]) -> Compared:
        custom = value if isinstance(value, dict) else {"value": value}
        files = [ComparedFile(title=each.document.title) for each in self._files]
        comparison = Comparison(custom=custom)
        return Compared(model=model, comparison=comparison, files=files, limits=limits)

    async def _compared(
        self, report: prompt.ComparisonReport, model: str, limits: list[str]
    ) -> Compared:
        names = {each.name for each in self._files}
        said = self._said(report.files)
        files = [await asyncio.to_thread(_file, each, said.get(each.name)) for each in self._files]
        comparison = Comparison(
            summary=report.summary[:SUMMARY_CHARS],
            commonalities=[_about(point, names) for point in report.commonalities],
            differences=[_about(point, names) for point in report.differences],
        )
        return Compared(model=model, comparison=comparison, files=files, limits=limits)

    def _said(self, reports: Sequence[prompt.FileReport]) -> dict[str, prompt.FileReport]:
        """The reports by the names of the files; without any right name by their order."""
        names = {each.name.casefold(): each.name for each in self._files}
        said = {
            names[plain]: each
            for each in reports
            if (plain := _plain(each.file).casefold()) in names
        }
        if not said and len(reports) == len(self._files):
            return {it.name: each for it, each in zip(self._files, reports, strict=True)}
        return said


async def comparison_key(call: Call, files: Sequence[OpenedFile], request: AnalysisRequest) -> str:
    """Return the key of a comparison in the cache."""
    services = call.services
    return cache_key(
        result="content comparison",
        home=[services.workspace, await services.journal.home()],
        files=[await asyncio.to_thread(_identity, each) for each in files],
        prompt=prompt.VERSION,
        instruction=request.instruction,
        output_schema=request.output_schema,
        answers=services.models.identity(ROLE, thinking=request.thinking_level),
    )


def _identity(file: OpenedFile) -> list[Any]:
    """All of a file that changes a comparison, as JSON; blocks."""
    document = file.document
    text = cache_key(texts=[[it.locator.label, it.text] for it in document.segments])
    unread = list(file.reading.unread)
    return [document.source, file.name, document.title, document.sha256, text, unread]


def _file(file: OpenedFile, report: prompt.FileReport | None) -> ComparedFile:
    """Return what was said of a file, with its quotes looked up in it; blocks."""
    title = file.document.title
    if report is None:
        return ComparedFile(title=title, limits=[UNTOLD])
    points = checked(file.document, report.key_points)
    if wanted_pages(file.reading):
        points = [
            each.model_copy(update={"status": "unchecked"}) if each.status == "not_found" else each
            for each in points
        ]
    return ComparedFile(
        title=visible_line(report.title, TITLE_CHARS) or title,
        summary=report.summary[:SUMMARY_CHARS],
        key_points=points,
    )


def _about(point: SharedPoint, names: set[str]) -> SharedPoint:
    """A point with those names alone that there are."""
    plain = dict.fromkeys(_plain(name) for name in point.files)
    return SharedPoint(text=point.text, files=[name for name in plain if name in names])


def _plain(name: str) -> str:
    return name.strip("- ").removeprefix("File:").strip()
