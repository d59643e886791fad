"""Answers of `research_document`: from given documents to a report that is recorded and fits."""

from __future__ import annotations

from collections.abc import Sequence

from vr_kernel import Call, Code, ThinkingLevel, VrError, entity_key, spelled_out

from vr_plugin_research.analysts.analyst import Analyst
from vr_plugin_research.analysts.asking import Asking
from vr_plugin_research.analysts.local_analyst import MADE_SO
from vr_plugin_research.analysts.model_analyst import ModelAnalyst
from vr_plugin_research.arguments import EngineChoice
from vr_plugin_research.documents.given import put_documents
from vr_plugin_research.documents.phases import DocumentReader, Phases
from vr_plugin_research.dossier.entries import ReadSource
from vr_plugin_research.dossier.job_dossier import JobDossier
from vr_plugin_research.engine.answering import asks_model, local_analyst
from vr_plugin_research.engine.fitting import fitted
from vr_plugin_research.engine.research import Research, begun_at
from vr_plugin_research.engine.spending import Spending
from vr_plugin_research.record_kinds import REPORTS
from vr_plugin_research.reports.recording import record_report
from vr_plugin_research.request import ResearchRequest
from vr_plugin_research.results.documents import CrossReference, DocumentMap, DocumentReport
from vr_plugin_research.results.report import Round, Scope
from vr_plugin_research.settings import ResearchSettings
from vr_plugin_research.stages.checks import check
from vr_plugin_research.stages.reading import Reading, failure_of
from vr_plugin_research.stages.together import each_of

UNMAPPED = "Maps of documents and references between them need a model."


class DocumentResearch:
    """Research about given documents.

    Args:
        call: that reads and pays.
        instruction: the question.
        scope: `quick` maps the documents and stops there.
        thinking: how hard models think.
        engine: if models are asked.
    """

    def __init__(
        self,
        call: Call,
        instruction: str,
        scope: Scope,
        thinking: ThinkingLevel,
        engine: EngineChoice,
    ) -> None:
        self._call = call
        self._scope = scope
        self._settings: ResearchSettings = call.settings
        self._request = ResearchRequest(instruction, scope, thinking=thinking)
        self._asking = Asking(call, thinking) if asks_model(call, engine) else None
        self._dossier = JobDossier(call, instruction)
        self._failed: list[str] = []

    async def run(self, file_paths: Sequence[str], urls: Sequence[str]) -> DocumentReport:
        """Go through the phases, record the report, and return what fits into an answer.

        Raises:
            VrError: the reason, when no document could be read; what the model raises when it
                cannot even find the questions.
        """
        begun = await begun_at(self._dossier)
        await put_documents(self._call, self._dossier, file_paths, urls)
        analyst = await self._analyst()
        spending = Spending(self._call, None)
        research = Research(self._call, self._dossier, self._request, analyst, spending)
        await research.plan()
        read = await self._read(analyst)
        maps = await self._maps(read)
        findings = await check(self._dossier, read)
        crossed, notes = await self._crossed(maps)
        base = DocumentReport(
            report_id=entity_key(REPORTS, self._call.id),
            topic=self._request.topic,
            scope=self._scope,
            executive_summary="",
            documents=maps,
            cross_references=crossed,
            engine=analyst.engine,
            created_at=begun.isoformat(),
            limits=[*([] if self._asking else [MADE_SO, UNMAPPED]), *self._failed, *notes],
        )
        if self._scope == "quick" and self._asking:
            report = await research.mapped(base, begun.date(), _summary(maps))
        else:
            report = await research.write(base, begun.date())
        models = list(self._asking.models) if self._asking else []
        count = len(file_paths) + len(urls)
        only = Round(number=1, found=count, kept=count, read=len(read))
        told = {"models": models, "rounds": [only.model_copy(update={"findings": len(findings)})]}
        whole = report.model_copy(update=told)
        record_report(self._call, whole)
        return await fitted(self._call, whole)

    async def _analyst(self) -> Analyst:
        if self._asking is None:
            return await local_analyst(self._call, self._dossier, {})
        return ModelAnalyst(self._call, self._asking)

    async def _read(self, analyst: Analyst) -> list[ReadSource]:
        finds = self._scope != "quick"
        reader = DocumentReader(self._call, self._asking, finds=finds) if self._asking else analyst
        reading = Reading(self._call, self._dossier, reader, {}, _never)
        at_once = self._settings.concurrency
        read = await reading.read(self._dossier.found, 1, at_once, self._report)
        if not read and not self._are_blank():
            raise self._nothing()
        return read

    async def _maps(self, read: Sequence[ReadSource]) -> list[DocumentMap]:
        """The maps of the documents; one that fails costs that map."""
        if self._asking is None:
            return [DocumentMap(source=it.id, title=it.source.title) for it in read]
        phases = Phases(self._call, self._asking, self._request.topic)

        async def one(each: ReadSource) -> DocumentMap:
            try:
                return await phases.map(self._dossier, each)
            except VrError as error:
                if error.category == "LEASE_LOST":
                    raise
                failed = failure_of(each.source.source, error)
                self._failed.append(f"No map of {each.source.title}: {failed.message}")
                return DocumentMap(source=each.id, title=each.source.title)

        return await each_of(read, self._settings.concurrency, one)

    async def _crossed(self, maps: Sequence[DocumentMap]) -> tuple[list[CrossReference], list[str]]:
        """Cross-references, which one document has none of, at any scope."""
        if self._asking is None or self._scope == "quick" or len(maps) < 2:  # noqa: PLR2004
            return [], []
        phases = Phases(self._call, self._asking, self._request.topic)
        return await phases.cross_reference(self._dossier, maps)

    def _report(self, done: int, total: int, title: str) -> None:
        self._call.progress(done, total + 2, f"Read {done} of {total} documents, {title[:60]}")

    def _are_blank(self) -> bool:
        """True when every document was read, and none has any text: the report says so."""
        failures = [each.failure for each in self._dossier.failures]
        return all(each.category == "DOCUMENT_EMPTY" for each in failures)

    def _nothing(self) -> VrError:
        """The error of a call of which no document could be read, with the reason of each."""
        failures = [each.failure for each in self._dossier.failures]
        told = "; ".join(f"{spelled_out(it.source[:200])}: {it.message}" for it in failures[:10])
        first = failures[0]
        return VrError(
            f"No document could be read. {told}",
            Code(first.code),
            category=first.category,
            hint=first.hint,
        )


async def _never() -> bool:
    return False


def _summary(maps: Sequence[DocumentMap]) -> str:
    return "\n\n".join(f"{each.title}: {each.summary}" for each in maps if each.summary)
