"""The front door: a question is a turn, and paid for once."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib import import_module

import pytest
from vr_kernel import VrError
from vr_testing import Answer, FakeGemini, Fault, FunctionCall

QUESTION = "When do swallows leave?"


@pytest.fixture
def gemini() -> Iterator[FakeGemini]:
    with FakeGemini() as service:
        yield service


@pytest.fixture
def paying(gemini) -> dict[str, str]:
    return {
        "GEMINI_API_KEY": "a-key",
        "GOOGLE_GEMINI_BASE_URL": gemini.url,
        "GEMINI_RETRY_BASE_DELAY": "0.01",
    }


async def test_a_question_is_answered(open_kernel, gemini, paying):
    from vr_plugin_almanac.front import answer

    kernel = await open_kernel(variables=paying)
    assert await answer(kernel, QUESTION)
    assert [request.text for request in gemini.requests] == [QUESTION]


async def test_the_model_looks_into_the_almanac(open_kernel, gemini, paying):
    from vr_plugin_almanac.front import answer

    look = FunctionCall("almanac_find", {"words": "swallows leave"})
    bad = [FunctionCall("infra_plugins", {}), FunctionCall("almanac_find", {"wrong": 1})]
    gemini.answer(Answer("I look.", calls=(look, *bad)), times=1)
    gemini.answer("In September.")
    kernel = await open_kernel(variables=paying)
    assert await answer(kernel, QUESTION) == "In September."
    found, unknown, refused = (json.dumps(it) for it in gemini.requests[-1].results)
    assert "leave in September" in found
    assert "There is no tool infra_plugins" in unknown
    assert "words" in refused


async def test_a_question_that_was_interrupted_is_paid_once(open_kernel, gemini, paying):
    from vr_plugin_almanac.front import answer

    look = FunctionCall("almanac_find", {"words": "swallows"})
    gemini.answer(Answer("I look.", calls=(look,)), times=1)
    gemini.fail(Fault.status(400), when=lambda request: bool(request.results), times=1)
    kernel = await open_kernel(variables=paying)
    with pytest.raises(VrError):
        await answer(kernel, QUESTION)
    assert await answer(kernel, QUESTION)
    assert [len(request.results) for request in gemini.requests] == [0, 1, 1]


async def test_a_model_that_comes_to_no_end_is_stopped(open_kernel, gemini, paying):
    from vr_plugin_almanac.front import MOST, answer

    gemini.answer(Answer("Again.", calls=(FunctionCall("almanac_find", {"words": "frost"}),)))
    kernel = await open_kernel(variables=paying)
    with pytest.raises(VrError, match="no end"):
        await answer(kernel, QUESTION)
    assert len(gemini.requests) == MOST


async def test_each_attempt_is_a_span_below_its_question(open_kernel, gemini, paying, vr_folder):
    from vr_plugin_almanac.front import answer

    gemini.fail(Fault.status(503), times=1)
    kernel = await open_kernel(variables=paying)
    await answer(kernel, QUESTION)
    await kernel.aclose()
    text = (vr_folder / "state" / "almanac" / "spans.jsonl").read_text("utf-8")
    first, second, turn = sorted(map(json.loads, text.splitlines()), key=lambda it: it["end"])
    assert (first["attempt"], first["status"]) == (1, "UNAVAILABLE")
    assert (second["attempt"], second["status"]) == (2, "ok")
    assert second["tokens"] > 0
    assert turn["name"] == "almanac_ask"
    assert first["parent_id"] == second["parent_id"] == turn["span_id"]
    assert turn["start"] <= first["start"] <= first["end"] <= second["start"] <= turn["end"]


async def test_without_a_key_it_says_what_is_missing(kernel):
    from vr_plugin_almanac.front import answer

    with pytest.raises(VrError, match="key"):
        await answer(kernel, QUESTION)


async def test_it_is_a_command(kernel):
    (command,) = kernel.commands
    module, _, name = command.target.partition(":")
    asked = getattr(import_module(module), name)
    assert (command.path, asked.name) == (("almanac", "ask"), "ask")
    assert [parameter.name for parameter in asked.params] == ["question"]
