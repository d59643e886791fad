"""The check of views notices those that cannot be read everywhere."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from pydantic import BaseModel
from vr_kernel import READ_ONLY, Call, Services, View, hookimpl, tool, view
from vr_kernel.views import Block, Facts, Prose, as_markdown
from vr_testing import TrialKernel, check_view, open_kernel, sample_view


class Pages:
    """Writes HTML as a front does."""

    name = "pages"

    async def fragment(self, view: View) -> str:
        return f"<article><p>{as_markdown(view).replace('<', '&lt;')}</p></article>"

    async def page(self, view: View, folder: object = None) -> str:
        del folder
        return await self.fragment(view)


class Silent(Pages):
    async def fragment(self, view: View) -> str:
        return f"<h1>{view.title}</h1>"


class Lively(Pages):
    async def fragment(self, view: View) -> str:
        return f"{await super().fragment(view)}<script>start()</script>"


class Tea(BaseModel):
    """A tea."""

    name: str


@tool(effects=READ_ONLY)
async def tea_brew(call: Call) -> Tea:
    """Brew a tea."""
    return Tea(name="oolong")


@view(tool="tea_brew")
async def show_tea(services: Services, tea: Tea) -> View:
    """Fail."""
    raise ValueError(tea.name)


async def test_a_view_with_every_block_passes() -> None:
    await check_view(sample_view())
    await check_view(sample_view(), Pages())


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        (View(" "), "no title"),
        (View("Tea", [Facts([("a", 1)], title="Tea")]), "'Tea' comes twice"),
        (View("Tea", [Prose("a", title="b"), Prose("c", title="b")]), "'b' comes twice"),
        (View("Tea", [Facts([("Key", "0f" * 32)])]), "digest"),
    ],
)
async def test_a_view_that_is_hard_to_read_fails(wrong: View, reason: str) -> None:
    with pytest.raises(AssertionError, match=reason):
        await check_view(wrong)


@pytest.mark.parametrize(("renderer", "reason"), [(Silent(), "HTML lacks"), (Lively(), "<script>")])
async def test_a_page_that_loses_words_or_runs_something_fails(renderer: Any, reason: str) -> None:
    with pytest.raises(AssertionError, match=reason):
        await check_view(sample_view(), renderer)


async def test_a_view_that_failed_is_noticed() -> None:
    plugin = SimpleNamespace(
        vr_tools=hookimpl(lambda: [tea_brew]), vr_views=hookimpl(lambda: [show_tea])
    )
    async with open_kernel({"tea": plugin}) as kernel:
        shown = await view_of(kernel, "tea_brew")
    with pytest.raises(AssertionError, match="the view failed"):
        await check_view(shown)


async def test_a_block_that_says_nothing_is_noticed() -> None:
    empty: list[Block] = [Facts([("Price", None)], title="Prices")]
    with pytest.raises(AssertionError, match="lacks 'Prices'"):
        await check_view(replace(sample_view(), blocks=empty))


async def view_of(kernel: TrialKernel, name: str) -> View:
    """The view of a result."""
    return await kernel.services.views.of_result(kernel.tools[name], await kernel.call(name))
