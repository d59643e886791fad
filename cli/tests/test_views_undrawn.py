"""Views that cannot be drawn: the values are shown instead, and a line says so."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_fork import FreshVr
from plugin_zoo import Animal, Zoo

pytest.importorskip("rich")
SPOILT = '''
from dataclasses import replace

from pydantic import BaseModel
from vr_kernel import READ_ONLY, Call, Provider, hookimpl, tool
from vr_kernel.views import Action, Compare, Facts, Prose, Table, View, ViewRenderer, view

class Said(BaseModel):
    text: str
    how: str

@tool(effects=READ_ONLY)
async def spoilt_say(call: Call, how: str) -> Said:
    """Say something, of which the view is changed after its check."""
    return Said(text="It was said.", how=how)

@tool(effects=READ_ONLY)
async def spoilt_draw(call: Call, how: str) -> Said:
    """Break what draws the view."""
    if how == "table":
        import rich.table
        rich.table.Table.add_row = None
    return Said(text="It was said.", how=how)

@view(tool="spoilt_say")
async def changed(services, said):
    made = View("Said", [Facts([("a", "b")]), Action("spoilt_say", {"how": "x"})])
    if said.how == "fields":
        object.__setattr__(made.blocks[0], "rows", [("a", object()), None])
    elif said.how == "blocks":
        object.__setattr__(made, "blocks", [None])
    elif said.how == "inside":
        made.blocks[1].arguments["how"] = {object()}
    elif said.how == "itself":
        both = Compare(made, made)
        object.__setattr__(made, "blocks", [both])
    elif said.how == "within":
        inner = View("Inner")
        made = View("Said", [Compare(inner, View("Other"))])
        object.__setattr__(inner, "title", None)
    return made

@view(tool="spoilt_draw")
async def drawn(services, said):
    return View("Drawn", [Table(["How"], [[said.how]])])

class Renderer:
    name = "spoilt"

    async def fragment(self, view):
        return ""

    async def page(self, view, folder=None):
        if any(isinstance(it, Table) for it in view.blocks) or "always" in str(view.blocks):
            raise RuntimeError("no pen")
        return f"<!doctype html>{view.blocks[0].text}"

@hookimpl
def vr_tools():
    return [spoilt_say, spoilt_draw]

@hookimpl
def vr_views():
    return [changed, drawn]

@hookimpl
def vr_providers():
    return [Provider(ViewRenderer, "spoilt", lambda services: Renderer(), preference=200)]
'''


@pytest.fixture(scope="module")
def vr(tmp_path_factory: pytest.TempPathFactory) -> FreshVr:
    """A plugin that spoils what was checked."""
    zoo = Zoo(tmp_path_factory.mktemp("zoo")).add(Animal("spoilt", SPOILT))
    return FreshVr(zoo.environment(VR_LOG_LEVEL="error"), zoo.work)


@pytest.mark.parametrize("how", ["fields", "blocks", "inside", "itself", "within"])
def test_a_view_that_is_changed_after_its_check_is_shown_plainly(how: str, vr: FreshVr) -> None:
    for more in ([], ["-o", "said.md"], ["-o", "said.txt"], ["-o", "said.html"]):
        ended = vr.run("spoilt", "say", how, *more, *(["--force"] if more else []))
        assert ended.code == 0, ended
        shown = (vr.folder / more[1]).read_text("utf-8") if more else ended.stdout
        assert "It was said." in shown
        if more != ["-o", "said.html"]:  # which has the plain values of a plain form
            said = "in plugin spoilt failed. This is its plain form."
            assert said in ended.stderr + shown


def test_what_breaks_at_a_terminal_costs_no_result(vr: FreshVr) -> None:
    ended = vr.run("spoilt", "draw", "table")
    assert ended.code == 0, ended
    assert "text: It was said." in ended.stdout
    assert ended.stderr == "Note: The view could not be drawn; these are the plain values.\n"


def test_a_page_that_breaks_has_the_plain_values(vr: FreshVr, tmp_path: Path) -> None:
    page = tmp_path / "a.html"
    ended = vr.run("spoilt", "draw", "page", "-o", str(page))
    assert (ended.code, ended.stdout) == (0, f"{page}\n"), ended
    assert ended.stderr == "Note: The view could not be drawn; these are the plain values.\n"
    assert "text: It was said." in page.read_text("utf-8")
    failed = vr.run("spoilt", "draw", "always", "-o", str(page), "--force")
    assert failed.code == 1
    assert "Traceback" not in failed.stderr
    assert "Error: No page could be made." in failed.stderr
    assert "It was said." in page.read_text("utf-8")
