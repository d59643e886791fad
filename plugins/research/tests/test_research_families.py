"""The figures with models of three families at the wire."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import vr_plugin_research.plugin
from researchkit import ALL, TOPIC
from scripted_model import ScriptedModel
from station_corpus import FIRST, OPENED, REOPENED, SECOND, Shelf
from vr_plugin_research.reports.stored import stored_report
from vr_testing import FakeGemini, FakeOllama, FakeOpenAI, open_kernel

models = pytest.importorskip("vr_plugin_models.plugin")
FAMILIES = {
    "gemini": (FakeGemini, "gemini-3.8-flash"),
    "openai_compatible": (FakeOpenAI, "own-model"),
    "ollama": (FakeOllama, "qwen3"),
}
GIVEN = [ALL[number] for number in (3, 5, 7, 11, 20)]


@pytest.mark.parametrize("family", FAMILIES)
async def test_the_figures_hold_with_every_family(tmp_path: Path, family: str) -> None:
    fake, name = FAMILIES[family]
    model = ScriptedModel()
    with fake() as service:
        service.answer(model.answer)
        own = f"plugins.models.{family}"
        reached: dict[str, object] = {
            f"{own}_base_url": service.url,
            f"{own}_model": name,
            f"{own}_api_key": "key-of-the-user",
        }
        if family == "gemini":
            reached = {"models.gemini_base_url": service.url, "models.gemini_api_keys": ["any"]}
        settings = {**reached, "kernel.http.allowed_hosts": [service.url.split("/")[2]]}
        plugins = {"research": vr_plugin_research.plugin, "models": models, "shelf": Shelf()}
        async with open_kernel(plugins, folder=tmp_path, settings=settings) as kernel:
            asked = {"topic": TOPIC, "documents": GIVEN, "depth": 1, "search_in": []}
            found: Any = await kernel.call("research_deep", **asked)
            report = await stored_report(kernel.services, found.report_id)
            again = service.bill.calls
            await kernel.call("research_deep", **asked)
            assert service.bill.calls == again
    quotes = [each for claim in report.findings for each in claim.supporting]
    by_status = {
        status: {each.quote.rstrip(".") for each in quotes if each.status == status}
        for status in ("verified", "moved", "not_found")
    }
    assert by_status["not_found"] == {each.rstrip(".") for each in model.invented}
    assert by_status["moved"] == {each.rstrip(".") for each in model.moved}
    assert len(quotes) == 10 * len(GIVEN)
    said = {each.id: each.claim for each in report.findings}
    pairs = {frozenset({said[it.claim_a], said[it.claim_b]}) for it in report.contradictions}
    assert pairs == {frozenset({FIRST, SECOND}), frozenset({OPENED, REOPENED})}
    assert all(each.startswith(f"{family}/") for each in report.models)
