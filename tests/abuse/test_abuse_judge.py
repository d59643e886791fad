"""The judge sees every kind of misbehaviour, and the survey sees tools of plugins to come."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import careless_plugin
import pytest
import pytest_asyncio
from abuse_bench import CANARY, RAW, Bench, Watch, answer_problems
from tool_arguments import Kind, environment, survey
from vr_kernel import Code, Kernel, VrError, load_config

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def careless(bench: Bench, watch: Watch) -> AsyncIterator[Bench]:
    own = bench.inside.with_name("careless")
    config = load_config(environ=environment(own), working_folder=bench.inside)
    plugins = {"careless": careless_plugin}
    async with Kernel.open(config, plugins, roots=[bench.inside]) as kernel:
        yield Bench(kernel, bench.inside, bench.outside, watch)


CASES: list[Any] = [
    ("careless_read", {"path": f"link/{CANARY}.txt"}, "gives away"),
    ("careless_read", {"path": f"link/{CANARY}.txt"}, "opened "),
    ("careless_read", {"path": f"link/{CANARY}.txt"}, "was not refused"),
    ("careless_read", {"path": "/etc/passwd"}, "opened /etc/passwd"),
    ("careless_read", {"path": "nothing.txt"}, "crashed"),
    ("careless_fetch", {"urls": ["127.0.0.1"]}, "socket.getaddrinfo"),
    ("careless_echo", {"title": "a"}, "has no message or no hint"),
    pytest.param(
        "careless_echo",
        {"title": "a", "limit": 200_000_000},
        "grew by",
        marks=pytest.mark.slow,
    ),
    ("careless_record", {"note_id": "1"}, "recorded all the same"),
]


@pytest.mark.parametrize(("tool", "arguments", "problem"), CASES, ids=str)
async def test_misbehaviour_is_seen(
    careless: Bench, tool: str, arguments: dict[str, Any], problem: str
) -> None:
    await careless.call(tool, arguments, tool, (Code.NOT_ALLOWED,))
    with pytest.raises(AssertionError, match=problem):
        careless.verdict()


async def test_a_long_error_is_cut_and_would_be_seen(careless: Bench) -> None:
    outcome = await careless.call("careless_echo", {"title": "a", "limit": 100_000}, "echo")
    assert not [p for p in answer_problems(outcome, None) if p.endswith("characters")]
    raw = replace(outcome, error=VrError("a" * 100_000, Code.NOT_FOUND, hint="Look."))
    assert [p for p in answer_problems(raw, None) if p.endswith("characters")]
    careless.problems.clear()


async def test_signs_that_nobody_sees_are_taken_out_and_would_be_seen(careless: Bench) -> None:
    for title in ("\x1b[31m", "\u202e", "\U000e0041"):
        outcome = await careless.call("careless_echo", {"title": title}, "echo")
        assert outcome.error is not None
        assert not RAW.search(outcome.error.message)
        raw = replace(outcome, error=VrError(title, Code.NOT_FOUND, hint="Look."))
        assert [p for p in answer_problems(raw, None) if "nobody sees" in p]
    careless.problems.clear()


async def test_a_plugin_to_come_is_surveyed(careless: Bench) -> None:
    found = survey(careless.kernel)
    kinds = {
        str(argument): (argument.kind, argument.is_list)
        for name in found
        if name.startswith("careless")
        for argument in found[name]
    }
    assert kinds == {
        "careless_read-path": (Kind.PATH, False),
        "careless_fetch-urls": (Kind.URL, True),
        "careless_echo-title": (Kind.TEXT, False),
        "careless_echo-limit": (Kind.INTEGER, False),
        "careless_record-note_id": (Kind.IDENTIFIER, False),
    }
    assert found["careless_fetch"][0].given("x") == ["x"]
