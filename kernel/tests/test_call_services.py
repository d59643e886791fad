"""Things a tool may ask of its call: a name for itself alone, no cache, an earlier bill."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack
from typing import Any

import pytest
from paid_work import Found, paid_kernel, recorded
from vr_kernel import READ_ONLY, Call, Record, RecordField, RecordKind, Usage, cache_key, tool
from vr_testing import FakeGemini

MARKS = RecordKind("CallMarks", "Marks.", (RecordField("text"),), rerank="text")
EARLIER = Usage(input_tokens=1000, output_tokens=500, calls=7)


@pytest.fixture
async def begin(
    environ: Mapping[str, str], gemini: FakeGemini, make_plugin: Any
) -> AsyncIterator[Any]:
    """Opens kernels on the same folders, with a plugin of these tools."""
    async with AsyncExitStack() as stack:

        async def opened(*tools: Any) -> Any:
            plugin = make_plugin(tools, kinds=[MARKS])
            return await stack.enter_async_context(paid_kernel(environ, gemini, plugin=plugin))

        yield opened


async def test_who_owns_a_name_keeps_it_until_the_records_are_journalled(
    begin: Any, environ: Mapping[str, str]
) -> None:
    owned, let_go = asyncio.Event(), asyncio.Event()

    @tool(effects=READ_ONLY)
    async def odd_owner(call: Call) -> Found:
        """Own a name and record something."""
        call.record(Record("CallMarks", {"text": "by the owner"}))
        assert await call.own("the only one")
        owned.set()
        await let_go.wait()
        return Found(text="done")

    @tool(effects=READ_ONLY)
    async def odd_second(call: Call, patience_s: float) -> Found:
        """Say if the name was owned, and how much was recorded by then."""
        mine = await call.own("the only one", patience_s=patience_s)
        return Found(text=f"{mine} {len(recorded(environ['VR_STATE_DIR']))}")

    here, elsewhere = await begin(odd_owner, odd_second), await begin(odd_second)
    owner = asyncio.create_task(here.call("odd_owner"))
    await asyncio.wait_for(owned.wait(), 30)
    for kernel in (here, elsewhere):
        assert (await kernel.call("odd_second", patience_s=0)).text == "False 0"
    patient = asyncio.create_task(elsewhere.call("odd_second", patience_s=30))
    let_go.set()
    assert (await owner).text == "done"
    assert (await patient).text == "True 1"
    assert (await here.call("odd_second", patience_s=0)).text == "True 1", "let go by its end"


async def test_a_name_is_let_go_by_a_call_that_fails(begin: Any) -> None:
    @tool(effects=READ_ONLY)
    async def odd_failing(call: Call) -> Found:
        """Own a name, and fail."""
        assert await call.own("the only one")
        raise ValueError

    @tool(effects=READ_ONLY)
    async def odd_second(call: Call) -> Found:
        """Say if the name was owned."""
        return Found(text=str(await call.own("the only one", patience_s=0)))

    here, elsewhere = await begin(odd_failing), await begin(odd_second)
    assert (await here.run("odd_failing", {})).error is not None
    assert (await elsewhere.call("odd_second")).text == "True"


@pytest.mark.parametrize("skips", [True, False])
async def test_a_result_that_skips_the_cache_is_made_again(begin: Any, skips: bool) -> None:
    made: list[str] = []

    async def produce(shared: Call) -> Found:
        made.append("made")
        if skips:
            shared.skip_cache()
        return Found(text="fine")

    @tool(effects=READ_ONLY)
    async def odd_once(call: Call) -> Found:
        """Do it once, or always."""
        return await call.once(cache_key(tool="odd_once"), Found, produce)

    kernel = await begin(odd_once)
    found = [await kernel.call("odd_once") for _ in range(2)]
    assert [each.text for each in found] == ["fine", "fine"]
    assert found[1].cached is not skips
    assert len(made) == (2 if skips else 1)
    assert (await kernel.services.cache.stats()).entries == (0 if skips else 1)


async def test_usage_that_is_restored_stands_in_place_of_what_was_paid_now(
    begin: Any, gemini: FakeGemini
) -> None:
    @tool(effects=READ_ONLY)
    async def odd_restored(call: Call, restore: bool) -> Found:
        """Pay, and count what was paid before the interruption."""
        await call.services.models.generate("What?")
        if restore:
            call.restore_usage(EARLIER)
        return Found(text=str(call.usage.calls))

    kernel = await begin(odd_restored)
    now = await kernel.run("odd_restored", {"restore": False})
    assert (now.data["text"], now.usage) == ("1", gemini.bill)
    restored = await kernel.run("odd_restored", {"restore": True})
    assert (restored.data["text"], restored.usage) == ("7", EARLIER)


async def test_usage_of_a_part_that_is_restored_is_added_to_the_call(begin: Any) -> None:
    @tool(effects=READ_ONLY)
    async def odd_parts(call: Call) -> Found:
        """Count two parts that were paid before."""
        for name in "ab":
            async with call.part(name) as part:
                part.restore_usage(EARLIER)
        return Found(text=str(call.usage.calls))

    outcome = await (await begin(odd_parts)).run("odd_parts", {})
    assert (outcome.data["text"], outcome.usage.calls) == ("14", 14)
