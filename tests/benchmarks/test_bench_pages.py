"""Pages of long talks are small, and their rows are made about as fast as by Jinja2."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from vr_kernel.views import ViewRenderer
from vr_pages import plugin
from vr_testing import open_kernel

from benchmarks.pages import ADDED_LIMIT, made_up, peer, spoken, talk, timed, weights

MOST = 2.5
"""Times the processor time of Jinja2; the benchmark holds it against 1, on a quiet machine."""


@pytest.fixture
async def renderer() -> AsyncIterator[ViewRenderer]:
    async with open_kernel({"pages": plugin}) as kernel:
        yield kernel.services.providers.get(ViewRenderer)


async def test_the_page_of_two_hours_adds_little_to_its_words(renderer: ViewRenderer) -> None:
    for name, texts in spoken().items():
        page, words = await weights(renderer, texts)
        assert page - words <= ADDED_LIMIT, name


async def test_the_peer_makes_the_same_rows(renderer: ViewRenderer) -> None:
    view = talk(made_up(30))
    assert peer(view)() in await renderer.fragment(view)


@pytest.mark.slow
async def test_rows_are_made_about_as_fast_as_by_a_template(renderer: ViewRenderer) -> None:
    ours, theirs = await timed(renderer, talk(made_up()), 15)
    assert min(ours) <= MOST * min(theirs)
