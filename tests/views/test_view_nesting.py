"""Views within views: up to a limit every form shows them, beyond it none is made."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from command_fork import FreshVr
from hostile_checks import check_everywhere
from mirror import MIRROR, keep_view
from plugin_zoo import Zoo
from vr_kernel import VrError
from vr_kernel.views import Compare, Prose, View, ViewRenderer, as_markdown, as_text, from_data
from vr_pages import plugin
from vr_testing import open_kernel

MOST = 8


def nested(count: int) -> View:
    """A view with so many blocks within each other, on either side."""
    view = View("The innermost", [Prose("The end is reached.")])
    for number in range(count):
        other = View(f"Beside {number}")
        sides = (view, other) if number % 2 else (other, view)
        view = View(f"Level {number}", [Compare(*sides)])
    return view


async def test_every_form_shows_the_deepest_view() -> None:
    view = nested(MOST)
    async with open_kernel({"pages": plugin}) as kernel:
        renderer = kernel.services.providers.get(ViewRenderer)
        await check_everywhere(view, renderer, "nested")
        assert "The end is reached." in await renderer.page(view)
    assert "The end is reached." in as_text(view)
    assert "The end is reached." in as_markdown(view)


@pytest.mark.parametrize("columns", [20, 80, 400])
def test_a_terminal_shows_the_deepest_view(columns: int, tmp_path: Path) -> None:
    pytest.importorskip("rich")
    zoo = Zoo(tmp_path).add(MIRROR)
    vr = FreshVr(zoo.environment(COLUMNS=str(columns)), zoo.work)
    shown = vr.run("mirror", "look", "--file", keep_view(nested(MOST), zoo.work), "--full")
    assert shown.code == 0
    assert "The end is reached." in " ".join(shown.stdout.split())


def test_a_view_that_is_deeper_is_refused_with_the_limit() -> None:
    with pytest.raises(TypeError, match="at most 8 Compare blocks stand within each other"):
        nested(MOST + 1)


@pytest.mark.parametrize("count", [MOST + 1, 80, 300])
def test_data_that_is_deeper_is_no_view(count: int, tmp_path: Path) -> None:
    data: dict[str, Any] = {"title": "The innermost"}
    for _ in range(count):
        block = {"block": "Compare", "left": data, "right": {"title": "Beside"}}
        data = {"title": "Around", "blocks": [block]}
    with pytest.raises(
        VrError, match=r"This is no view: .*(nested too deeply|at most 8)"
    ) as caught:
        from_data(data)
    assert caught.value.category == "VIEW_INVALID"
    zoo = Zoo(tmp_path).add(MIRROR)
    (zoo.work / "deep.json").write_text(json.dumps(data), "utf-8")
    shown = FreshVr(zoo.environment(), zoo.work).run("show", "deep.json")
    assert (shown.code, "This is no view" in shown.stderr) == (2, True)
