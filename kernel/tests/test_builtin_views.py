"""Views of the kernel's own tools, and of passages of a document."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import pytest
from paid_work import paid_kernel
from pydantic import BaseModel
from vr_kernel import READ_ONLY, Call, Config, Kernel, StoredRecord, View, hookimpl, tool, view
from vr_kernel.views import Action, Facts, Prose, Steps, as_text
from vr_testing import FakeGemini


class Sum(BaseModel):
    """A sum."""

    value: int


@tool(effects=READ_ONLY)
async def sum_make(call: Call, a: int, b: int) -> Sum:
    """Add."""
    return Sum(value=a + b)


@view(tool="sum_make")
async def show_sum(_: Any, made: Sum) -> View:
    """The sum alone."""
    return View(f"It is {made.value}", [Facts([("Sum", made.value)])])


SUMS = SimpleNamespace(vr_tools=hookimpl(lambda: [sum_make]), vr_views=hookimpl(lambda: [show_sum]))


async def shown(kernel: Kernel, name: str, **given: Any) -> View:
    """The view of a call's result."""
    result = await kernel.call(name, **given)
    return await kernel.services.views.of_result(kernel.tools[name], result)


async def test_every_tool_of_the_kernel_has_a_view(config: Config) -> None:
    async with Kernel.open(config, {"sums": SUMS}) as kernel:
        for name in (it.name for it in kernel.tools.values() if it.plugin == "infra"):
            assert kernel.services.views.has("tool", name), name
        texts = {
            name: as_text(await shown(kernel, name))
            for name in (
                "infra_cache",
                "infra_configure",
                "infra_plugins",
                "infra_usage",
                "job_list",
            )
        }
    assert "sums" in texts["infra_plugins"]
    assert "No language model was used." in texts["infra_usage"]
    assert "There are no jobs." in texts["job_list"]
    assert not [text for text in texts.values() if "plain form" in text]


async def test_the_result_of_a_job_is_shown_as_its_tool_shows_it(config: Config) -> None:
    async with Kernel.open(config, {"sums": SUMS}) as kernel:
        begun = kernel.start("sum_make", {"a": 1, "b": 2})
        await kernel.detach(begun)
        made = await shown(kernel, "job_result", job_id=begun.id)
        assert made == View("It is 3", [Facts([("Sum", 3)])])
        views = kernel.services.views
        gone = await views.of_result_data("sum_lost", {"value": 4})
        changed = await views.of_result_data("sum_make", {"total": 5})
    assert gone == View("Sum lost", [Facts([("Value", 4)])])
    assert changed == View("Sum make", [Facts([("Total", 5)])])


async def test_a_job_says_how_far_it_is_and_how_to_get_its_result(
    environ: Mapping[str, str], gemini: FakeGemini
) -> None:
    async with paid_kernel(environ, gemini) as kernel:
        arguments = {"name": "job", "items": 3, "at_once": 3}
        begun = kernel.start("paid_batch", arguments)
        await kernel.detach(begun)
        going = await shown(kernel, "job_status", job_id=begun.id)
        listed = await shown(kernel, "job_list")
        ended = await shown(kernel, "job_cancel", job_id=begun.id)
    steps, action = going.blocks
    assert isinstance(steps, Steps)
    assert isinstance(action, Action)
    assert (action.tool, action.arguments) == ("job_result", {"job_id": begun.id})
    assert listed.blocks[0].items[0].id == begun.id  # type: ignore[attr-defined]
    assert ended.title == "paid_batch: cancelled"
    assert not [block for block in ended.blocks if isinstance(block, Action)]


@pytest.mark.parametrize("count", [1, 3])
async def test_passages_of_a_document_are_read_in_order_below_their_places(
    config: Config, count: int
) -> None:
    records = [
        StoredRecord(
            "DocumentPassages",
            f"p{number}",
            {
                "source": "/a/tides.md",
                "title": "Tides",
                "locator": f"Part {number}",
                "text": "Sea.",
            },
        )
        for number in range(count)
    ]
    async with Kernel.open(config, {}) as kernel:
        made = await kernel.services.views.of_records(records)
        strange = StoredRecord("DocumentPassages", "x", {"text": 7, "title": None})
        odd = await kernel.services.views.of_records([strange])
    assert (made.title, made.source) == ("Tides", "/a/tides.md")
    assert list(made.blocks) == [Prose("Sea.", title=f"Part {number}") for number in range(count)]
    assert odd.title == "Passages"


async def test_passages_at_one_place_stand_below_it_together(config: Config) -> None:
    """Such as the parts of a long section, or a section that is named as the document is."""
    places = ["Tides", "Ebb", "Ebb", "Flood", "Ebb"]
    shared = {"source": "/a/tides.md", "title": "Tides", "text": "Sea."}
    records = [
        StoredRecord("DocumentPassages", f"p{number}", {**shared, "locator": place})
        for number, place in enumerate(places)
    ]
    async with Kernel.open(config, {}) as kernel:
        made = await kernel.services.views.of_records(records)
    assert [block.title for block in made.blocks] == ["", "Ebb", "", "Flood", "Ebb"]
