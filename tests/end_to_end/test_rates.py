"""Prices of their own: of sound, searches of the web, and what a service keeps."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from gemini_service import video
from vr_kernel import CALLS_OUT, PAID, Call, Reply, Tool, VrError, hookimpl, tool
from vr_plugin_models import plugin as models
from vr_testing import Answer, FakeAnthropic, FakeGemini, TrialKernel, open_kernel
from vr_testing.gemini.bill import AUDIO_TOKENS_PER_SECOND, BYTES_PER_SECOND

PER = 1_000_000
CHEAP = "gemini/gemini-3.1-flash-lite"
SECONDS = 60


@asynccontextmanager
async def asking(
    service: Any, plugins: Mapping[str, object] | None = None, /, **settings: Any
) -> AsyncIterator[TrialKernel]:
    """A kernel that asks one service."""
    given = {
        "kernel.http.allowed_hosts": [service.url.split("/")[2]],
        "models.gemini_api_keys": ["a-key"],
        "models.gemini_base_url": service.url,
        **{name.replace("__", "."): value for name, value in settings.items()},
    }
    async with open_kernel({"models": models, **(plugins or {})}, settings=given) as kernel:
        yield kernel


async def test_what_claude_writes_to_its_cache_and_reads_again() -> None:
    pytest.importorskip("anthropic")
    name = "anthropic/claude-own"
    price = {"input": 2, "output": 10, "cached": 0.2, "written": 2.5}
    own = {"plugins__models__anthropic_api_key": "a-key", "models__prices": {name: price}}
    with FakeAnthropic() as service:
        service.caches = True
        service.answer("Because.", times=None)
        own |= {"plugins__models__anthropic_base_url": service.url}
        async with asking(service, models__default=[name], **own) as kernel:
            first, again = [
                (await kernel.services.models.generate("Why? " * 100)).usage for _ in range(2)
            ]
    assert (first.cached_tokens, again.cached_tokens) == (0, again.input_tokens)
    assert first.cost_usd == pytest.approx(_dollars(first, 2.5, 10))
    assert again.cost_usd == pytest.approx(_dollars(again, 0.2, 10))


@pytest.mark.parametrize(
    ("model", "searches"), [("gemini-3.8-flash", 3 * 0.014), ("gemini-2.5-flash", 0.035)]
)
@pytest.mark.parametrize("streamed", [False, True])
async def test_searches_of_the_web(model: str, searches: float, streamed: bool) -> None:
    """Newer models charge for each search, older ones for each answer that searched."""
    with FakeGemini() as service:
        service.answer(Answer("Yes.", queries=("one", "two", "three")), times=None)
        async with asking(service, models__default=[f"gemini/{model}"]) as kernel:
            door = kernel.services.models
            plain = (await door.generate("Is it?")).usage.cost_usd
            if streamed:
                pieces = [piece async for piece in door.stream("Is it?", search=True)]
                assert pieces[-1].reply is not None
                usage = pieces[-1].reply.usage
            else:
                usage = (await door.generate("Is it?", search=True)).usage
        assert usage.cost_usd == pytest.approx(plain + searches, rel=1e-6)
        assert plain + usage.cost_usd == pytest.approx(service.bill.cost_usd, abs=1e-9)


async def test_a_budget_counts_searches_before_they_are_made() -> None:
    """Ten of them may cost $0.14, of which nothing is sent where $0.14 is all."""
    small = {"models__call_budget_usd": 0.14, "models__default": ["gemini/gemini-3.8-flash"]}
    with FakeGemini() as service:
        service.answer("Yes.", times=None)
        async with asking(service, **small) as kernel:
            ask = kernel.services.models.generate
            assert (await ask("Is it?")).text == "Yes."
            with pytest.raises(VrError) as caught:
                await ask("Is it?", search=True)
            assert caught.value.category == "BUDGET_EXCEEDED"
            assert len(service.requests) == 1


class Film:
    """A plugin that asks about a film whose context it keeps at the service."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @hookimpl
    def vr_tools(self) -> list[Tool]:
        """The tool."""

        @tool(effects=PAID | CALLS_OUT)
        async def film_ask(call: Call, question: str) -> Reply:
            """Ask about the film."""
            async with video(self.folder, SECONDS * BYTES_PER_SECOND) as media:
                kept = await call.services.gemini.cached_content(CHEAP, media)
                assert kept
                asked = [media, question]
                return await call.services.models.generate(asked, cached_content=kept)

        return [film_ask]


async def test_sound_that_is_kept(tmp_path: Path) -> None:
    """Sound costs more than words, also where a cache holds it."""
    with FakeGemini() as service:
        service.answer("A cat.", times=None)
        own = {"film": Film(tmp_path)}
        async with asking(service, own, models__default=[CHEAP]) as kernel:
            await kernel.call("film_ask", question="What is it?")
            (row,) = (await kernel.call("infra_usage", by="tool")).rows
    sound = SECONDS * AUDIO_TOKENS_PER_SECOND
    kept = (row.cached_tokens - sound) * 0.025 + sound * 0.05
    asked = (row.input_tokens - row.cached_tokens) * 0.25
    answered = (row.output_tokens + row.thinking_tokens) * 1.5
    assert row.cost_usd == pytest.approx((asked + kept + answered) / PER, abs=1e-9)


def _dollars(usage: Any, sent: float, said: float) -> float:
    answered = usage.output_tokens + usage.thinking_tokens
    return float((usage.input_tokens * sent + answered * said) / PER)
