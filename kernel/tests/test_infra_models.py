"""The tools that choose models, show what is cached, and say what was used."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from gemini_service import video
from hypothesis import given
from hypothesis import strategies as st
from paid_work import ASKED
from vr_kernel import Code, Kernel, VrError
from vr_kernel.config.model_settings import ModelConfiguration, ModelsSettings
from vr_kernel.gemini.catalogue import PRESETS
from vr_testing import FakeGemini, Fault

SECRET = "a-key-that-nobody-may-see"
FLASH, LITE = "gemini/gemini-3.8-flash", "gemini/gemini-3.5-flash-lite"


@pytest.fixture
def open_kernel(open_kernel: Any) -> Any:
    """The same, with a key that shows where it must not."""
    return partial(open_kernel, GEMINI_API_KEY=SECRET)


async def configure(kernel: Kernel, **changes: Any) -> Any:
    return await kernel.call("infra_configure", **changes)


async def cache(kernel: Kernel, action: str, **arguments: Any) -> Any:
    return await kernel.call("infra_cache", action=action, **arguments)


async def usage(kernel: Kernel, by: str, **arguments: Any) -> Any:
    return await kernel.call("infra_usage", by=by, **arguments)


async def ask(kernel: Kernel, question: str = "Why?", tool: str = "paid_ask") -> Any:
    return await kernel.call(tool, question=question)


async def refusal(kernel: Kernel, tool: str = "infra_configure", **arguments: Any) -> VrError:
    with pytest.raises(VrError) as caught:
        await kernel.call(tool, **arguments)
    return caught.value


# infra_configure


@pytest.mark.parametrize("preset", PRESETS)
async def test_preset_holds_for_later_calls(
    kernel: Kernel, gemini: FakeGemini, preset: Any
) -> None:
    shown = await configure(kernel, preset=preset)
    choice = PRESETS[preset]
    assert shown.active_preset == preset
    assert shown.active_models == {
        "default": [f"gemini/{choice.default}"],
        "fast": [f"gemini/{choice.flash}"],
        "embedding": [f"gemini/{choice.embedding}"],
    }
    assert (await ask(kernel)).model == f"gemini/{choice.default}"
    await kernel.call("paid_manner", question="Why?", role="fast")
    assert [r.model for r in gemini.requests_of(ASKED)] == [choice.default, choice.flash]


async def test_preset_sets_aside_the_model_that_was_chosen(
    open_kernel: Any, gemini: FakeGemini
) -> None:
    kernel = await open_kernel(GEMINI_MODEL="gemini-3.6-flash", VR_MODELS__DEFAULT=FLASH)
    assert (await ask(kernel)).model == FLASH
    await configure(kernel, preset="budget")
    assert (await ask(kernel)).model == f"gemini/{PRESETS['budget'].default}"


@pytest.mark.parametrize(
    "name", ["gemini-3.5-flash-lite", " models/gemini-3.5-flash-lite ", LITE], ids=str
)
async def test_model_holds_for_later_calls(kernel: Kernel, gemini: FakeGemini, name: str) -> None:
    await ask(kernel)
    shown = await configure(kernel, model=name)
    assert shown.active_models["default"] == [LITE]
    assert (await ask(kernel)).model == LITE
    assert [r.model for r in gemini.requests] == [PRESETS["best"].default, LITE[7:]]


async def test_model_is_the_default_alone_and_small_work_keeps_its_own(
    kernel: Kernel, gemini: FakeGemini
) -> None:
    before = (await configure(kernel)).active_models
    shown = await configure(kernel, model="gemini-3.6-flash")
    assert shown.active_models == {**before, "default": ["gemini/gemini-3.6-flash"]}
    await kernel.call("paid_manner", question="Why?", role="fast")
    assert gemini.requests[-1].model == PRESETS["best"].flash
    shown = await configure(kernel, preset="budget")
    assert shown.active_models["fast"] == [f"gemini/{PRESETS['budget'].flash}"]


async def test_model_newer_than_the_release_is_taken_when_named_whole(
    kernel: Kernel, gemini: FakeGemini
) -> None:
    await configure(kernel, model="gemini/gemini-9-neon")
    await ask(kernel)
    assert gemini.requests[0].model == "gemini-9-neon"


async def test_manner_holds_for_later_calls(open_kernel: Any, gemini: FakeGemini) -> None:
    kernel = await open_kernel(VR_MODELS__DEFAULT="gemini/gemini-3.1-pro-preview")
    shown = await configure(kernel, thinking_level="low", temperature=0.25)
    assert shown.current_config["thinking_level"] == "low"
    assert shown.current_config["temperature"] == 0.25
    await ask(kernel)
    request = gemini.requests[0]
    assert (request.thinking_level, request.config["temperature"]) == ("LOW", 0.25)


async def test_other_model_or_manner_is_another_cached_result(
    kernel: Kernel, gemini: FakeGemini
) -> None:
    changes: list[dict[str, Any]] = [
        {},
        {"model": LITE},
        {"thinking_level": "low"},
        {"temperature": 0},
    ]
    for change in changes:
        await configure(kernel, **change)
        assert not (await ask(kernel, tool="paid_once")).cached
        assert (await ask(kernel, tool="paid_once")).cached
    assert len(gemini.requests) == len(changes)


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"preset": "bugdet"}, "'budget'"),
        ({"preset": "STABLE!"}, "'stable'"),
        ({"model": "gemini-3.8-flush"}, "'gemini-3.8-flash'"),
        ({"model": "models/gemini-4-argn"}, "'gemini-4-argon'"),
        ({"model": "gemni/gemini-3.8-flash"}, "'gemini'"),
        ({"model": "gemini/"}, "gemini-4-argon"),
        ({"model": "gemini//gemini-4-argon"}, "'gemini-4-argon'"),
        ({"model": "gemini-embedding-2"}, "answers"),
        ({"model": "gemini/gemini-embedding-001"}, "answers"),
        ({"thinking_level": "hihg"}, "'high'"),
        ({"temperature": 2.5}, "temperature"),
        ({"temperature": float("nan")}, "temperature"),
        ({"model": ""}, "model"),
        ({"modell": LITE}, "'model'"),
    ],
    ids=str,
)
async def test_what_there_is_not_names_the_nearest_and_changes_nothing(
    kernel: Kernel, change: dict[str, Any], named: str
) -> None:
    before = await configure(kernel)
    error = await refusal(kernel, **{"thinking_level": "low", **change})
    assert error.code is Code.INVALID_INPUT
    assert named in f"{error.message} {error.hint}"
    assert await configure(kernel) == before


async def test_no_result_shows_a_key(open_kernel: Any) -> None:
    kernel = await open_kernel(GEMINI_API_KEYS=f"{SECRET},{SECRET}-2", GEMINI_API_KEY="")
    for arguments in ({}, {"preset": "stable"}, {"model": LITE, "temperature": 1}):
        outcome = await kernel.run("infra_configure", arguments)
        assert outcome.error is None
        shown = json.dumps([outcome.data, outcome.notes])
        assert SECRET not in shown
        assert outcome.data["current_config"]["gemini_api_keys"] == ["set", "set"]
    assert SECRET not in str((await refusal(kernel, preset=SECRET)).as_dict(""))


async def test_without_a_key_nothing_is_active(open_kernel: Any, gemini: FakeGemini) -> None:
    kernel = await open_kernel(GEMINI_API_KEY="")
    shown = await configure(kernel, preset="stable")
    assert shown.active_models == {"default": [], "fast": [], "embedding": []}
    assert gemini.requests == []


async def test_two_kernels_of_one_process_are_configured_apart(open_kernel: Any) -> None:
    one, other = await open_kernel(), await open_kernel()
    await configure(one, preset="budget")
    assert (await configure(other)).active_preset == "best"


@given(
    st.dictionaries(
        st.sampled_from([*ModelsSettings.model_fields, "nothing"]),
        st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.lists(st.text()),
    )
)
def test_change_that_does_not_fit_is_refused_whole(changes: dict[str, Any]) -> None:
    before = ModelsSettings.model_validate({"gemini_api_keys": [SECRET], "default": [LITE]})
    configuration = ModelConfiguration(before)
    refused = None
    try:
        configuration.change(**changes)
    except VrError as error:
        refused = error
    if refused is not None:
        assert refused.code is Code.INVALID_INPUT
        assert configuration.current is before
    else:
        unchanged = ModelsSettings.model_fields.keys() - changes.keys()
        assert all(getattr(configuration.current, n) == getattr(before, n) for n in unchanged)


# infra_cache


async def test_cache_is_counted_listed_and_cleared(
    open_kernel: Any, environ: dict[str, str], gemini: FakeGemini
) -> None:
    kernel = await open_kernel(VR_MODELS__DEFAULT=LITE)
    for question in ("One?", "Two?", "Two?", "Three?"):
        await ask(kernel, question, "paid_once")
    stats = await cache(kernel, "stats")
    assert (stats.total_files, stats.entries, stats.cache_dir) == (3, [], environ["VR_CACHE_DIR"])
    assert 0 < stats.total_size_mb < 0.1
    listed = await cache(kernel, "list")
    assert {entry.content_id for entry in listed.entries} == {"One?", "Two?", "Three?"}
    assert {(entry.tool, entry.model) for entry in listed.entries} == {("paid_once", LITE)}
    assert {entry.file for entry in listed.entries} == {"results.db"}
    now = datetime.now(UTC)
    assert all(now - timedelta(minutes=2) < entry.cached_at <= now for entry in listed.entries)
    only = await cache(kernel, "list", content_id="Two?")
    assert [entry.content_id for entry in only.entries] == ["Two?"]

    cleared = await cache(kernel, "clear", content_id="Two?")
    assert (cleared.removed, cleared.total_files) == (1, 2)
    asked = len(gemini.requests)
    assert (await ask(kernel, "One?", "paid_once")).cached
    assert not (await ask(kernel, "Two?", "paid_once")).cached
    assert len(gemini.requests) == asked + 1, "what was cleared is paid for again"
    cleared = await cache(kernel, "clear")
    assert (cleared.removed, cleared.total_files) == (3, 0)
    assert (await cache(kernel, "clear")).removed == 0


async def test_contexts_are_none_without_any(kernel: Kernel, gemini: FakeGemini) -> None:
    shown = await cache(kernel, "context")
    assert (shown.contexts, shown.entries) == ([], [])
    assert gemini.requests == []


async def test_contexts_are_listed_by_content(kernel: Kernel, tmp_path: Path) -> None:
    async with video(tmp_path, 3_000_000) as one, video(tmp_path, 4_000_000, "b.mp4") as other:
        name = await kernel.services.gemini.cached_content("gemini-3.8-flash", one)
        await kernel.services.gemini.cached_content("gemini-3.8-flash", other)
    shown = (await cache(kernel, "context")).contexts
    assert {entry.content_id for entry in shown} == {one.digest, other.digest}
    (only,) = (await cache(kernel, "context", content_id=one.digest)).contexts
    assert (only.name, only.model) == (name, "gemini-3.8-flash")
    assert only.expires_at > datetime.now(UTC)


@pytest.mark.parametrize("action", ["stat", "clean", ""])
async def test_action_that_there_is_not_is_refused(kernel: Kernel, action: str) -> None:
    error = await refusal(kernel, "infra_cache", action=action)
    assert error.code is Code.INVALID_INPUT
    assert "action" in error.message


# infra_usage


async def test_usage_is_summed_by_what_is_asked(kernel: Kernel, gemini: FakeGemini) -> None:
    await ask(kernel)
    await ask(kernel, tool="paid_shape")
    await configure(kernel, model=LITE)
    await ask(kernel)
    today = datetime.now(UTC).date()
    by_tool = await usage(kernel, by="tool")
    assert {row.key: row.calls for row in by_tool.rows} == {"paid_ask": 2, "paid_shape": 1}
    by_model = await usage(kernel, by="model")
    assert {row.key: row.calls for row in by_model.rows} == {
        f"gemini/{PRESETS['best'].default}": 2,
        LITE: 1,
    }
    by_plugin = await usage(kernel, by="plugin", since=today - timedelta(days=1))
    assert [(row.key, row.calls) for row in by_plugin.rows] == [("paid", 3)]
    assert by_plugin.total.input_tokens == gemini.bill.input_tokens
    tomorrow = await usage(kernel, by="day", since=today + timedelta(days=2))
    assert (tomorrow.rows, tomorrow.total.calls) == ([], 0)


async def test_context_is_paid_for_once(kernel: Kernel, gemini: FakeGemini, tmp_path: Path) -> None:
    service = kernel.services.gemini.of_call(kernel.services.models.recorder, None)
    async with video(tmp_path, 3_000_000) as media:
        gemini.fail(Fault.status(503))
        for _ in range(3):
            await service.cached_content("gemini-3.8-flash", media)
    await kernel.services.models.recorder.settle()
    (row,) = (await usage(kernel, by="model")).rows
    assert (row.key, row.calls, row.attempts) == ("gemini/gemini-3.8-flash", 1, 2)
    assert row.input_tokens == gemini.bill.input_tokens > 0


async def test_only_the_batch_that_failed_is_embedded_again(
    kernel: Kernel, gemini: FakeGemini
) -> None:
    gemini.fail(Fault.status(503), when=lambda request: "text 100" in request.text)
    texts = [f"text {number}" for number in range(250)]
    found = await kernel.services.models.embed(texts, "document", dimension=8)
    assert len({tuple(vector) for vector in found.vectors}) == len(texts)
    await kernel.services.models.recorder.settle()
    total = (await usage(kernel, by="tool")).total
    assert (found.usage.calls, total.calls, total.attempts) == (3, 3, 4)
    assert found.usage == gemini.bill

    gemini.fail(Fault.lost(), when=lambda request: "text 200" in request.text, times=None)
    with pytest.raises(VrError) as caught:
        await kernel.services.models.embed(texts, "document", dimension=8)
    await kernel.services.models.recorder.settle()
    total = (await usage(kernel, by="tool")).total
    assert caught.value.usage is not None
    assert (caught.value.usage.calls, caught.value.category) == (2, "NETWORK_ERROR")
    assert (total.calls, total.maybe_paid) == (5, 3)


async def test_nothing_is_embedded_without_a_request(kernel: Kernel, gemini: FakeGemini) -> None:
    assert (await kernel.services.models.embed([], "document")).vectors == []
    assert gemini.requests == []
