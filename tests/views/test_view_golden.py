"""Each block, with every field, as each form shows it; the files are what to look at."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import pytest
from command_fork import FreshVr
from mirror import MIRROR, keep_view
from plugin_zoo import Zoo
from vr_kernel.views import Block, View, ViewRenderer, as_data, as_markdown, as_text
from vr_pages import plugin
from vr_testing import check_view, open_kernel, sample_view

GOLDEN = Path(__file__).parent / "golden"


def as_json(view: View) -> str:
    return json.dumps(as_data(view), indent=1, ensure_ascii=False) + "\n"


FORMS: dict[str, Callable[[View], str]] = {
    "blocks.md": as_markdown,
    "blocks.txt": as_text,
    "blocks.json": as_json,
}


@pytest.mark.parametrize("name", FORMS)
def test_a_form_shows_each_block_as_before(name: str) -> None:
    compare(name, FORMS[name](sample_view()))


async def test_a_page_shows_each_block_as_before() -> None:
    async with open_kernel({"pages": plugin}) as kernel:
        renderer = kernel.services.providers.get(ViewRenderer)
        page = await renderer.fragment(sample_view())
        await check_view(sample_view(), renderer)
    compare("blocks.html", page.replace("><", ">\n<") + "\n")


@pytest.mark.parametrize("columns", [40, 80, 200])
def test_a_terminal_shows_each_block_as_before(columns: int, tmp_path: Path) -> None:
    pytest.importorskip("rich")
    zoo = Zoo(tmp_path).add(MIRROR)
    vr = FreshVr(zoo.environment(COLUMNS=str(columns)), zoo.work)
    file = keep_view(sample_view(), zoo.work)
    ended = vr.run("mirror", "look", "--file", file, "--full")
    compare(f"terminal_{columns}.txt", ended.stdout)


def compare(name: str, shown: str) -> None:
    """`UPDATE_GOLDEN=1` writes the files anew, for a change that is meant."""
    file = GOLDEN / name
    if os.environ.get("UPDATE_GOLDEN"):
        file.write_text(shown, "utf-8")
    assert file.read_text("utf-8") == shown


def test_the_sample_has_every_block_with_every_field() -> None:
    told = _told(sample_view())
    assert {each.__name__ for each in Block.__subclasses__()} <= {each.__name__ for each in told}
    for of, names in told.items():
        assert [name for name in of.__dataclass_fields__ if name not in names | ONCE] == []


ONCE = {"detail", "kind"}
"""Fields that need not be set in every block."""


def _told(view: View) -> dict[type[Any], set[str]]:
    """The fields that are set, by the class they are of."""
    found: dict[type[Any], set[str]] = {}

    def look(value: object) -> None:
        if is_dataclass(value):
            for field in fields(value):
                inner = getattr(value, field.name)
                if inner != field.default:
                    found.setdefault(type(value), set()).add(field.name)
                    look(inner)
        elif isinstance(value, tuple):
            for each in value:
                look(each)

    look(view)
    return found
