"""Kernels with the plugin, the corpus, and a scripted model at the wire."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import vr_plugin_research.plugin
from scripted_model import ScriptedModel
from station_corpus import COUNT, Shelf, address_of
from vr_plugin_research.reports.stored import stored_report
from vr_plugin_research.results.report import ResearchReport
from vr_testing import FakeGemini, RecordedCall, TrialKernel, open_kernel

TOPIC = "What is known about the Severn Point station?"
ALL = [address_of(number) for number in range(COUNT)]


@dataclass
class Desk:
    """A kernel with everything that research needs."""

    kernel: TrialKernel
    shelf: Shelf
    model: ScriptedModel
    gemini: FakeGemini

    async def record(self, tool: str = "research_deep", **arguments: Any) -> RecordedCall:
        """A recorded call, of a topic of the corpus when none is given."""
        if tool in ("research_deep", "research_plan"):
            arguments.setdefault("topic", TOPIC)
        return await self.kernel.record(tool, **arguments)

    async def research(self, **arguments: Any) -> ResearchReport:
        """The whole report of `research_deep`, as it was recorded."""
        found = await self.record(**arguments)
        assert found.error is None, found.error
        return await self.report(found.result.report_id)

    async def report(self, report_id: str) -> ResearchReport:
        """The whole report of that id."""
        return await stored_report(self.kernel.services, report_id)

    @property
    def asked(self) -> list[str]:
        """The forms that the model was asked for, in order, each as one of its fields."""
        return [_form(each.schema) for each in self.gemini.requests if each.generates]

    def texts(self, form: str) -> list[str]:
        """All that the model was told, each time that it was asked for a form."""
        asked = [each for each in self.gemini.requests if each.generates]
        return [each.text for each in asked if _form(each.schema) == form]


def _form(schema: Mapping[str, Any] | None) -> str:
    fields = (schema or {}).get("properties", {})
    names = ("executive_summary", "findings", "results", "queries", "phases", "questions")
    return next((name for name in (*names, "key_claims", "topics", "tier") if name in fields), "")


def wants(form: str) -> Any:
    """A rule for `FakeGemini`: the requests that want this form."""
    return lambda request: request.generates and _form(request.schema) == form


def variables(gemini: FakeGemini) -> dict[str, str]:
    """The environment in which the fake is the model."""
    return {
        "GEMINI_API_KEY": "a-key",
        "GOOGLE_GEMINI_BASE_URL": gemini.url,
        "GEMINI_RETRY_BASE_DELAY": "0.01",
    }


@asynccontextmanager
async def open_desk(
    folder: Path,
    *,
    shelf: Shelf | None = None,
    model: ScriptedModel | None = None,
    with_model: bool = True,
    plugins: Mapping[str, object] | None = None,
    **settings: object,
) -> AsyncIterator[Desk]:
    """Open a kernel with the corpus and the model; settings are those of `[plugins.research]`."""
    shelf, model = shelf or Shelf(), model or ScriptedModel()
    with FakeGemini() as gemini:
        gemini.answer(model.answer)
        async with open_kernel(
            {"research": vr_plugin_research.plugin, "shelf": shelf, **(plugins or {})},
            folder=folder,
            settings={f"plugins.research.{name}": value for name, value in settings.items()},
            variables=variables(gemini) if with_model else {},
        ) as kernel:
            yield Desk(kernel, shelf, model, gemini)
