"""Gemini Deep Research through the tools: begun, looked at, asked about, cancelled."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from vr_kernel import Code, Query, VrError, estimate_tokens, hookimpl
from vr_kernel.views import as_text
from vr_plugin_research.interactions.record_kinds import DEEP_RESEARCH_REPORTS
from vr_plugin_research.tools import web
from vr_plugin_research.views.web import VIEWS, show_reports, view_of
from vr_testing import Answer, FakeGemini, Fault, check_view, open_kernel

TOPIC = "How pumps came to be used in mills"
KEY = "AIza-a-secret-key"
PAGES = (("Pumps of Ada", "https://a.org/pumps"), ("Mills", "https://b.org/mills"))
REPORT = Answer("# Pumps\n\nThey came **late** [cite: 1].", sources=PAGES)


@hookimpl
def vr_tools() -> list[Any]:
    return [
        web.research_web,
        web.research_web_status,
        web.research_web_followup,
        web.research_web_cancel,
    ]


@hookimpl
def vr_record_kinds() -> list[Any]:
    return [DEEP_RESEARCH_REPORTS]


@hookimpl
def vr_views() -> list[Any]:
    return [*VIEWS]


PLUGIN = SimpleNamespace(vr_tools=vr_tools, vr_record_kinds=vr_record_kinds, vr_views=vr_views)


@pytest.fixture
def fake() -> Iterator[FakeGemini]:
    with FakeGemini() as service:
        service.background_polls = 0
        service.answer("They were cheap.", when=lambda it: "previous_interaction_id" in it.body)
        service.answer(REPORT)
        yield service


def opened(fake: FakeGemini, folder: Path) -> Any:
    variables = {"GEMINI_API_KEY": KEY, "GOOGLE_GEMINI_BASE_URL": fake.url}
    return open_kernel({"research": PLUGIN}, variables=variables, folder=folder)


@pytest.fixture
async def kernel(fake: FakeGemini, tmp_path: Path) -> AsyncIterator[Any]:
    async with opened(fake, tmp_path) as kernel:
        yield kernel


async def begun(kernel: Any, topic: str = TOPIC, **more: Any) -> str:
    research = await kernel.call("research_web", topic=topic, **more)
    assert (research.status, research.report, research.usage) == ("in_progress", "", None)
    return str(research.interaction_id)


async def status(kernel: Any, name: str, **more: Any) -> Any:
    return await kernel.call("research_web_status", interaction_id=name, **more)


async def refused(kernel: Any, tool: str, **arguments: Any) -> VrError:
    with pytest.raises(VrError) as caught:
        await kernel.call(tool, **arguments)
    return caught.value


async def total(kernel: Any) -> Any:
    return (await kernel.call("infra_usage", by="tool")).total


def gets(fake: FakeGemini) -> int:
    return len(fake.requests_of("interactions.get"))


async def test_a_research_is_begun_polled_and_read(kernel: Any, fake: FakeGemini) -> None:
    fake.background_polls = 2
    name = await begun(kernel, f"  {TOPIC} ", output_format="A table")
    (request,) = fake.requests_of("interactions.create")
    assert request.body["input"] == f"{TOPIC}\n\nFormat of the report: A table"
    assert [(await status(kernel, name)).status for _ in range(2)] == ["in_progress"] * 2
    found = await status(kernel, name)
    assert (found.status, found.topic, found.report) == ("completed", TOPIC, REPORT.text)
    assert [(it.title, it.url) for it in found.sources] == list(PAGES)
    assert found.usage == fake.bill
    assert found.model == "deep-research-preview-04-2026"
    assert (await total(kernel)).calls == 1


async def test_a_report_is_paid_once_and_kept(fake: FakeGemini, tmp_path: Path) -> None:
    async with opened(fake, tmp_path) as kernel:
        name = await begun(kernel)
        first = await asyncio.gather(*(status(kernel, name) for _ in range(5)))
    fake.forget_interactions()
    looks = gets(fake)
    async with opened(fake, tmp_path) as kernel:
        again = await status(kernel, name)
        stopped = await kernel.call("research_web_cancel", interaction_id=name)
        counted = await total(kernel)
    assert {it.report for it in [*first, again, stopped]} == {REPORT.text}
    assert {it.usage.cost_usd for it in [*first, again, stopped]} == {fake.bill.cost_usd}
    assert (counted.calls, counted.cost_usd) == (1, fake.bill.cost_usd)
    assert gets(fake) == looks
    assert fake.requests_of("interactions.cancel") == []


async def test_an_equal_research_is_not_begun_while_one_is_under_way(
    kernel: Any, fake: FakeGemini
) -> None:
    names = await asyncio.gather(*(begun(kernel) for _ in range(3)))
    again = await kernel.record("research_web", topic=TOPIC)
    assert {again.result.interaction_id, *names} == {names[0]}
    assert again.notes == ("An equal research is under way; nothing new was started.",)
    assert await begun(kernel, output_format="A table") != names[0]
    await status(kernel, names[0])
    assert await begun(kernel) != names[0]
    assert len(fake.requests_of("interactions.create")) == 3


async def test_waiting_ends_with_the_research(kernel: Any, fake: FakeGemini) -> None:
    fake.background_polls = 1
    call = await kernel.record("research_web_status", interaction_id=await begun(kernel), wait_s=50)
    assert call.result.status == "completed"
    assert [it.message for it in call.progress] == ["Deep Research is under way"]


async def test_a_report_is_recorded_once_and_found(kernel: Any) -> None:
    name = await begun(kernel)
    first = await kernel.record("research_web_status", interaction_id=name)
    (record,) = first.records
    fields = record.fields
    assert (record.kind, fields["topic"], fields["interaction_id"]) == (
        "DeepResearchReports",
        TOPIC,
        name,
    )
    assert [it["url"] for it in json.loads(fields["sources_json"])] == [url for _, url in PAGES]
    assert (await kernel.record("research_web_status", interaction_id=name)).records == ()
    await kernel.services.store.catch_up()
    hits = await kernel.services.store.search(Query("came late", mode="keyword"))
    assert [hit.record.fields["interaction_id"] for hit in hits] == [name]
    asked = {"interaction_id": name, "question": "Why late?"}
    (answer,) = (await kernel.record("research_web_followup", **asked)).records
    assert (answer.fields["topic"], answer.fields["follows"]) == ("Why late?", name)
    assert answer.fields["interaction_id"] != name


async def test_a_followup_is_answered_by_the_model(kernel: Any, fake: FakeGemini) -> None:
    name = await begun(kernel)
    await status(kernel, name)
    before = fake.bill
    asked = {"interaction_id": name, "question": "Why late?"}
    answer = await kernel.call("research_web_followup", **asked)
    assert (answer.status, answer.report, answer.follows) == ("completed", "They were cheap.", name)
    assert answer.interaction_id != name
    assert answer.usage.output_tokens == fake.bill.output_tokens - before.output_tokens
    assert answer.model.startswith("gemini-")
    again = await kernel.call("research_web_followup", **asked)
    assert (again.interaction_id, again.report) == (answer.interaction_id, answer.report)
    third = {"interaction_id": answer.interaction_id, "question": "And then?"}
    assert (await kernel.call("research_web_followup", **third)).follows == answer.interaction_id
    assert len(fake.requests_of("interactions.create")) == 3
    assert (await status(kernel, answer.interaction_id)).report == "They were cheap."
    counted = await total(kernel)
    assert (counted.calls, counted.cost_usd) == (3, fake.bill.cost_usd)


async def test_a_followup_needs_a_report(kernel: Any, fake: FakeGemini) -> None:
    fake.background_polls = 1
    name = await begun(kernel)
    asked = {"interaction_id": name, "question": "Why?"}
    error = await refused(kernel, "research_web_followup", **asked)
    assert (error.code, error.category) == (Code.CONFLICT, "INTERACTION_UNFINISHED")
    await kernel.call("research_web_cancel", interaction_id=name)
    error = await refused(kernel, "research_web_followup", **asked)
    assert (error.category, "research_web" in error.hint) == ("INTERACTION_FAILED", True)
    assert len(fake.requests_of("interactions.create")) == 1


async def test_a_followup_without_an_answer_says_what_it_cost(
    kernel: Any, fake: FakeGemini
) -> None:
    name = await begun(kernel)
    await status(kernel, name)
    before = fake.bill.cost_usd or 0
    fake.background_ends = "failed"
    outcome = await kernel.run(
        "research_web_followup", {"interaction_id": name, "question": "Why?"}
    )
    assert outcome.error.category == "RESEARCH_FAILED"
    assert outcome.error.usage.cost_usd == pytest.approx(fake.bill.cost_usd - before)
    assert (await total(kernel)).cost_usd == fake.bill.cost_usd


async def test_a_research_is_cancelled(kernel: Any, fake: FakeGemini) -> None:
    fake.background_polls = 9
    name = await begun(kernel)
    stopped = await kernel.record("research_web_cancel", interaction_id=name)
    assert (stopped.result.status, stopped.notes) == ("cancelled", ())
    again = await kernel.call("research_web_cancel", interaction_id=name)
    assert (again.status, (await status(kernel, name)).status) == ("cancelled", "cancelled")
    assert fake.bill.calls == 0
    assert (await total(kernel)).maybe_paid == 1
    assert len(fake.requests_of("interactions.cancel")) == 1


async def test_a_completed_research_says_so_when_it_is_to_be_cancelled(kernel: Any) -> None:
    name = await begun(kernel)
    await status(kernel, name)
    call = await kernel.record("research_web_cancel", interaction_id=name)
    assert (call.result.status, call.result.report) == ("completed", REPORT.text)
    assert call.notes == ("It was not cancelled: it had ended before (completed).",)


async def test_a_failure_says_why_and_what_it_cost(kernel: Any, fake: FakeGemini) -> None:
    fake.background_ends, fake.background_problem = "failed", f"\x1b[1mNo {KEY} here"
    name = await begun(kernel)
    for _ in range(2):
        found = await status(kernel, name)
        assert (found.status, found.report, found.problem) == ("failed", "", "No [key] here")
        assert found.usage.cost_usd == fake.bill.cost_usd
    assert (await total(kernel)).cost_usd == fake.bill.cost_usd
    assert (await kernel.record("research_web_status", interaction_id=name)).records == ()


async def test_a_report_that_is_not_whole_is_kept(kernel: Any, fake: FakeGemini) -> None:
    fake.background_ends = "budget_exceeded"
    found = await status(kernel, await begun(kernel))
    assert (found.status, found.report) == ("incomplete", REPORT.text)
    assert found.problem == "budget exceeded"


async def test_only_the_last_answer_is_the_report(kernel: Any, fake: FakeGemini) -> None:
    fake.background_drafts = ("Intermediate analysis",)
    assert (await status(kernel, await begun(kernel))).report == REPORT.text


async def test_a_forgotten_research_is_not_found(kernel: Any, fake: FakeGemini) -> None:
    kept, lost = await begun(kernel), await begun(kernel, "Mills of the north")
    await status(kernel, kept)
    fake.forget_interactions()
    assert (await status(kernel, kept)).report == REPORT.text
    for tool, more in (("status", {}), ("cancel", {}), ("followup", {"question": "Why?"})):
        error = await refused(kernel, f"research_web_{tool}", interaction_id=lost, **more)
        assert (error.code, error.category) == (Code.NOT_FOUND, "RESEARCH_FORGOTTEN")
    asked = {"interaction_id": kept, "question": "Why?"}
    error = await refused(kernel, "research_web_followup", **asked)
    assert error.category == "RESEARCH_FORGOTTEN"


async def test_a_research_belongs_to_who_began_it(kernel: Any, fake: FakeGemini) -> None:
    made = {
        who: (await kernel.run("research_web", {"topic": TOPIC}, principal=who)).data
        for who in ("ann", "ben")
    }
    ids = {who: data["interaction_id"] for who, data in made.items()}
    assert len(set(ids.values())) == 2
    requests = len(fake.requests)
    told = set()
    for tool, more in (("status", {}), ("cancel", {}), ("followup", {"question": "Why?"})):
        for name in (
            ids["ann"],
            "0" * 36,
            "00000000-0000-0000-0000-000000000000",
            "a\0b",
            "x" * 9999,
        ):
            asked = {"interaction_id": name, **more}
            for who in ("ben", None):
                error = (await kernel.run(f"research_web_{tool}", asked, principal=who)).error
                told.add((error.code, error.category, error.message, error.hint))
    assert [it[:2] for it in told] == [(Code.NOT_FOUND, "INTERACTION_UNKNOWN")]
    assert len(fake.requests) == requests
    asked = {"interaction_id": ids["ann"]}
    mine = await kernel.run("research_web_status", asked, principal="ann")
    assert mine.data["report"] == REPORT.text


async def test_ids_and_messages_reveal_no_key(kernel: Any, fake: FakeGemini) -> None:
    name = await begun(kernel)
    fake.fail(Fault.status(403, f"The key {KEY} may not do this."), times=2)
    texts = [name]
    for tool, more in (("status", {}), ("cancel", {})):
        error = await refused(kernel, f"research_web_{tool}", interaction_id=name, **more)
        texts += [error.message, error.hint]
    found = await status(kernel, name)
    texts.append(found.model_dump_json())
    rows = kernel.services.rows_of("research", kernel.services.workspace, kernel.identity.mark)
    (row,) = await rows.list("interaction/")
    hint = row.value["started"].partition("/")[0]
    assert len(hint) == 12
    assert not any(KEY in text or hint in text or "fake_interaction" in text for text in texts)


async def test_a_huge_report_is_cut_and_kept_whole(kernel: Any, fake: FakeGemini) -> None:
    fake.heal()
    text = "# Pumps\x1b[31m\n\n" + "Pumps of \u202eAda\u2069 ran well in mills.\n\n" * 20_000
    pages = tuple((f"Page {n} \x1b[2J", f"https://a.org/{n}") for n in range(1_000))
    fake.answer(Answer(text, sources=pages))
    name = await begun(kernel)
    first = await kernel.record("research_web_status", interaction_id=name)
    (record,) = first.records
    assert record.fields["artifacts"] == [first.result.report_uri]
    for _ in range(2):
        found = await status(kernel, name)
        assert estimate_tokens(found.model_dump_json()) <= 4_000
        assert len(found.report) > 8_000
        assert "\x1b" not in found.model_dump_json()
        assert not {"\u202e", "\u2069"} & set(found.report)
        assert "all of it is in report_uri" in found.limits[0]
    whole = kernel.services.artifacts.find(found.report_uri.rpartition("/")[2]).path
    assert whole.read_text("utf-8").count("Pumps of Ada ran well in mills.") == 20_000
    assert "of 660,009" in found.limits[0]


async def test_bad_arguments_cost_nothing(kernel: Any, fake: FakeGemini) -> None:
    for arguments in ({"topic": "  too short "}, {"topic": " " * 20}):
        error = await refused(kernel, "research_web", **arguments)
        assert error.code is Code.INVALID_INPUT
    error = await refused(kernel, "research_web", topic="x" * 20_001)
    assert error.code is Code.TOO_LARGE
    error = await refused(kernel, "research_web_status", interaction_id="a", wait_s=51)
    assert error.code is Code.INVALID_INPUT
    assert fake.requests == []


async def test_an_estimate_starts_nothing(kernel: Any, fake: FakeGemini) -> None:
    await kernel.preview("research_web", {"topic": TOPIC})
    assert fake.requests == []
    name = await begun(kernel)
    await status(kernel, name)
    requests = len(fake.requests)
    await kernel.preview("research_web_followup", {"interaction_id": name, "question": "Why?"})
    assert len(fake.requests) == requests


async def test_a_start_whose_answer_is_lost_may_have_cost_something(
    kernel: Any, fake: FakeGemini
) -> None:
    fake.fail(Fault.lost())
    error = await refused(kernel, "research_web", topic=TOPIC)
    assert (error.category, error.retryable) == ("NETWORK_ERROR", True)
    assert (await total(kernel)).maybe_paid == 1


async def test_views_are_readable_in_80_columns(kernel: Any, fake: FakeGemini) -> None:
    name = await begun(kernel)
    started = await kernel.call("research_web", topic="Mills of the north")
    done = await status(kernel, name)
    fake.background_ends, fake.background_problem = "failed", "The agent stopped"
    failed = await status(kernel, started.interaction_id)
    for research in (started, done, failed):
        await check_view(view_of(research))
    text = as_text(view_of(done))
    assert max(map(len, text.splitlines())) <= 80, text
    assert [it in text for it in (TOPIC, "completed", "They came late", "Pumps of Ada")] == [
        True
    ] * 4
    assert "The agent stopped" in as_text(view_of(failed))
    await kernel.services.store.catch_up()
    hits = await kernel.services.store.search(Query("pumps", mode="keyword"))
    shown = await show_reports(kernel.services, [hit.record for hit in hits])
    await check_view(shown)
    assert "https://a.org/pumps" in str(shown.blocks)
