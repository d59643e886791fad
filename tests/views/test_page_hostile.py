"""Texts of strangers in every field of every block change nothing on a page but its words."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator

import pytest
from hostile_checks import Skeleton
from hostile_texts import shares
from hostile_views import hostile, lively, tame
from vr_kernel.views import View, ViewRenderer
from vr_pages import plugin
from vr_testing import open_kernel


@pytest.fixture
async def renderer() -> AsyncIterator[ViewRenderer]:
    async with open_kernel({"pages": plugin}) as kernel:
        yield kernel.services.providers.get(ViewRenderer)


@shares()
async def test_a_page_has_the_structure_that_it_has_with_harmless_words(
    renderer: ViewRenderer, texts: list[str]
) -> None:
    usual = {it: await skeleton(renderer, hostile(it)) for it in {*map(tame, texts)}}
    for text in texts:
        assert await skeleton(renderer, hostile(text)) == usual[tame(text)], repr(text)


@shares()
async def test_texts_with_lines_of_their_own_stay_in_their_section(
    renderer: ViewRenderer, texts: list[str]
) -> None:
    usual = {it: await skeleton(renderer, lively(it)) for it in {*map(tame, texts)}}
    for text in texts:
        shown = await skeleton(renderer, lively(text))
        assert outline(shown) == outline(usual[tame(text)]), repr(text)


async def skeleton(renderer: ViewRenderer, view: View) -> list[str]:
    return Skeleton(await renderer.fragment(view)).elements


def outline(elements: list[str]) -> list[str]:
    """The sections and headings of a page."""
    return [each for each in elements if re.match(r"/?(?:section|h[12]|main|header)", each)]
